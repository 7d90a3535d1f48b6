"""Evidence of each check from manually built counts."""

from types import ModuleType

import pytest

from rocketdiff.analysis.sending.checks.by_rules import attempts, callbacks, error_kind
from rocketdiff.analysis.sending.checks.storage import content, delay, duplication, loss, order
from rocketdiff.core.answers.evidence import Evidence
from tests.analysis.sending.checks.builders import DECISIVE, INDECISIVE, case_of, standing_of, tallied

LACKING: list[tuple[ModuleType, str, str, str]] = [
    (content, "content", "copy", "no stored message of {} has its properties in the trace"),
    (order, "order", "pair", "no two messages of one key of {} share a queue"),
    (delay, "delay", "message", "no delayed message of {} was acknowledged"),
    (duplication, "duplication", "accounted", "no stored message of {} has a witnessed attempt to account for it"),
    (loss, "loss", "stored", "no send of {} was acknowledged"),
    (callbacks, "callbacks", "once", "{} reported no asynchronous send"),
]


@pytest.mark.parametrize(("check", "name", "key", "reason"), LACKING, ids=lambda one: getattr(one, "NAME", ""))
def test_a_witness_must_have_seen_both_arms(check: ModuleType, name: str, key: str, reason: str) -> None:
    """A check is indecisive without observations of both arms, or if queues were not read back."""
    assert standing_of(check.evaluate(case_of(tallied(2, 3, name, key)))) == (DECISIVE, "", 5)
    assert standing_of(check.evaluate(case_of(tallied(2, 0, name, key)))) == (
        INDECISIVE,
        reason.format("python:5.3.3"),
        2,
    )
    assert standing_of(check.evaluate(case_of(tallied(0, 3, name, key)))) == (
        INDECISIVE,
        reason.format("java:5.3.3"),
        3,
    )
    for each in ((1, 0), (0, 1)) if check is not callbacks else ():
        unread = check.evaluate(case_of(tallied(2, 3, name, key), tallied(*each, "unread", "queues")))
        whose = "java:5.3.3" if each[0] else "python:5.3.3"
        assert standing_of(unread) == (INDECISIVE, f"what the brokers hold of {whose} was not read back", 5)
        nothing = check.evaluate(case_of(tallied(*each, "unread", "queues")))
        assert standing_of(nothing) == (INDECISIVE, f"what the brokers hold of {whose} was not read back", 0)


def figures(evidence: Evidence) -> list[tuple[str, float, str, int]]:
    return [(measure.name, measure.value, measure.unit, measure.n) for measure in evidence.measures]


@pytest.mark.parametrize(
    ("check", "tallies", "names"),
    [
        (content, [("content", "copy")], ["messages-compared"]),
        (order, [("order", "pair")], ["neighbours-compared"]),
        (delay, [("delay.lateness", "delivered")], ["delivered"]),
        (duplication, [("duplication", "stored-twice")], ["stored-more-than-once"]),
        (
            duplication,
            [("duplication", "stored-twice"), ("duplication.refused", "stored")],
            ["stored-more-than-once", "stored-though-refused"],
        ),
        (
            loss,
            [("loss", "ghost"), ("loss", "stored-late"), ("foreign", "message")],
            ["ghosts", "stored-late", "foreign-messages"],
        ),
        (
            loss,
            [("loss", "ghost"), ("loss", "stored-late"), ("foreign", "message"), ("loss", "one-way stored")],
            ["ghosts", "stored-late", "foreign-messages", "one-way-stored"],
        ),
        (
            attempts,
            [("attempts.seen", key) for key in ("failed", "not-store-ok", "retry")],
            ["failed-attempts", "not-store-ok", "retries"],
        ),
    ],
)
def test_measures_are_reported_for_both_arms(
    check: ModuleType, tallies: list[tuple[str, str]], names: list[str]
) -> None:
    """Each measure is reported for both arms, out of 100 and 90 sends."""
    reported = [tallied(3 + n, 5 + n, *one) for n, one in enumerate(tallies)]
    evidence = check.evaluate(case_of(*reported, tallied(100, 90, "sends", "ok")))
    wanted = [
        (f"{name} {arm}", value, "count", of)
        for n, name in enumerate(names)
        for arm, value, of in (("baseline", 3 + n, 100), ("candidate", 5 + n, 90))
    ]
    assert figures(evidence)[: len(wanted)] == wanted


def test_lateness_exceptions_and_callbacks_are_measured() -> None:
    """Mean lateness, exceptions, callbacks and excused callbacks are measures."""
    late = delay.evaluate(case_of(tallied(2, 4, "delay.lateness", "delivered", 7.5)))
    assert figures(late)[2:] == [
        ("delivered-late-by baseline", 7.5, "ms", 2),
        ("delivered-late-by candidate", 7.5, "ms", 4),
    ]
    assert figures(delay.evaluate(case_of(tallied(2, 0, "delay.lateness", "delivered", 7.5))))[2:] == [
        ("delivered-late-by baseline", 7.5, "ms", 2)
    ]
    seen = case_of(
        tallied(1, 2, "error-kind.seen", "A"), tallied(0, 3, "error-kind.seen", "B"), tallied(9, 8, "sends", "ok")
    )
    assert figures(error_kind.evaluate(seen)) == [
        ("A baseline", 1, "count", 9),
        ("A candidate", 2, "count", 8),
        ("B candidate", 3, "count", 8),
    ]
    called = [
        tallied(5, 6, "callbacks", "once"),
        tallied(1, 2, "callbacks", "more"),
        tallied(3, 4, "callbacks", "never"),
    ]
    assert figures(callbacks.evaluate(case_of(*called, tallied(9, 9, "sends", "ok")))) == [
        ("called-back baseline", 6, "count", 9),
        ("called-back candidate", 8, "count", 9),
        ("never-called-back baseline", 3, "count", 9),
        ("never-called-back candidate", 4, "count", 9),
    ]
    excused = callbacks.evaluate(case_of(*called, tallied(0, 1, "callbacks.excused", "never")))
    assert figures(excused)[4:] == [
        ("never-called-back-by-rule baseline", 0, "count", 9),
        ("never-called-back-by-rule candidate", 1, "count", 12),
    ]
