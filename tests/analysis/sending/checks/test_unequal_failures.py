"""How unequally often asynchronous sends may fail during the same long pauses."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.conclusions import case_facts
from rocketdiff.analysis.sending.case_pass import judge_case
from rocketdiff.analysis.sending.checks.context import CaseContext
from rocketdiff.analysis.sending.checks.results import outcomes_evaluation
from rocketdiff.analysis.sending.checks.results.unequal_failures import UnequalFailures, are_unequal
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.steps.rulebook import Rulebook
from rocketdiff.analysis.summaries import summarise
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.manifest import CaseEntry
from tests.analysis.builders import ENTRY, MS, SUBJECTS, ended
from tests.analysis.sending.checks.test_pace import pause
from tests.analysis.synthetic import MANIFEST
from tests.analysis.trace_builders import SLOW, trace

FEWER, MORE = "outcomes.unequal-failures/fewer", "outcomes.unequal-failures/more"

Fails = Callable[[int], bool]
"""Whether the send with this number fails; one is due every 20 ms."""


def sends(fails: Fails, **others: Any) -> list[dict[str, Any]]:
    rows = []
    for number in range(400):
        due = number * 20 * MS
        failed = fails(number)
        end = due + (500 if failed else 2) * MS
        rows.append(
            {"send": number, "due_ns": due, "start_ns": due, "end_ns": end, "mode": "async"}
            | ({"error": SLOW, "outcome": "unknown", "status": None} if failed else {})
            | others
        )
    return rows


def found(baseline: Fails, candidate: Fails, *pauses: dict[str, Any], **others: Any) -> list[str]:
    return found_in(sends(baseline, **others), sends(candidate, **others), *pauses)


def found_in(baseline: Any, candidate: Any, *pauses: dict[str, Any], entry: CaseEntry = ENTRY) -> list[str]:
    case = trace(entry, sends_baseline=baseline, sends_candidate=candidate, faults=list(pauses))
    collector = SendFacts(case.run, 1, 0)
    UnequalFailures(CaseContext(case, Rulebook({}), collector)).finish()
    return [fact.signature for fact in collector.differences()]


def half(number: int) -> bool:
    """Every second send of a pause from 1 to 6 s goes to the paused broker, but for those that it answers in time."""
    return number % 2 == 0 and 50 <= number < 275


def until_the_last_look(number: int) -> bool:
    """As ``half``, but requests that timed out in the last seconds of the pause got their answers."""
    return half(number) and number < 175


def few(number: int) -> bool:
    return number == 60


def in_both(number: int) -> bool:
    return number % 2 == 0 and (50 <= number < 175 or 225 <= number < 350)


LONG = pause(1.0, 6.0)
TWO = (pause(1.0, 4.0), pause(4.5, 7.5, episode=2))
UNHEALED = pause(1.0, 6.0, heal_ns=None, healed_ns=None, heal_proven_ns=None)


@pytest.mark.parametrize(
    ("baseline", "candidate", "pauses", "signatures"),
    [
        (half, few, (LONG,), [FEWER]),
        (few, half, (LONG,), [MORE]),
        (in_both, few, TWO, [FEWER]),
        (half, lambda n: half(n) and n < 60, (LONG,), [FEWER]),
        (half, lambda n: half(n) and n % 12 == 0, (LONG,), [FEWER]),
        (half, half, (LONG,), []),
        (half, until_the_last_look, (LONG,), []),
        (lambda n: half(n) and n < 60, half, (pause(1.0, 3.6),), []),
        (half, lambda n: half(n) and n > 75, (LONG,), []),
        (half, lambda n: half(n + 1), (LONG,), []),
        (in_both, lambda n: 175 <= n < 350, TWO, []),
        (half, lambda n: half(n) and n % 4 == 0, (LONG,), []),
        (half, few, (), []),
        (half, few, (pause(1.0, 1.4),), []),
        (lambda n: n % 20 == 0 and half(n), lambda _: False, (LONG,), []),
        (lambda _: False, lambda n: 100 <= n < 118, (LONG,), [MORE]),
        (half, lambda _: False, (LONG,), [FEWER]),
        (half, few, (UNHEALED,), []),
    ],
    ids=[
        "sixty-to-one", "one-to-sixty", "two-pauses", "after-ten-the-rest-elsewhere", "one-in-six", "equal",
        "a-look-just-before-the-end", "a-look-just-before-the-end-of-a-short-pause", "a-connection-closed-for-a-timeout", "the-other-queues", "pauses-of-opposite-sign", "half-as-many", "no-pause",
        "a-pause-within-the-timeout", "few-failures", "eighteen", "none", "a-pause-without-end",
    ],
)  # fmt: skip
def test_failures_of_the_same_pauses(
    baseline: Fails, candidate: Fails, pauses: tuple[dict[str, Any], ...], signatures: list[str]
) -> None:
    """Four times as many failures in every pause, beyond what chance does, are a difference, whichever client has them."""
    assert found(baseline, candidate, *pauses) == signatures


def test_the_first_send_that_failed_is_the_example() -> None:
    """With the failures of both clients, of all that were due in the pause but for its last 2.5 s."""
    case = trace(
        ENTRY,
        sends_baseline=sends(few),
        sends_candidate=sends(lambda n: n == 10 or (half(n) and n > 50)),
        faults=[LONG],
    )
    collector = SendFacts(case.run, 1, 0)
    UnequalFailures(CaseContext(case, Rulebook({}), collector)).finish()
    (one,) = collector.differences()
    assert (one.arm, one.send, one.phase, one.at_ns) == ("candidate", 52, "paused", 1_040 * MS)
    assert one.expected == "about as many failures as the baseline's 1 of 125 sends that were due during long pauses"
    assert one.observed == "62 of 125 sends that were due during long pauses (p = 6.7e-22)"


def test_one_way_calls_are_not_compared() -> None:
    """They are not acknowledged."""
    assert found(half, few, LONG, mode="oneway") == []


def at_once(number: int) -> bool:
    """All sends of a pause from 1 to 4 s fail, because the first did."""
    return 60 <= number < 200


def one_by_one(number: int) -> bool:
    """A thread loses six calls of 500 ms, one after another, to the same pause."""
    return 50 <= number < 200 and number % 25 == 0


EIGHT = tuple(pause(0.5 + n * 0.7, 1.1 + n * 0.7, episode=n + 1) for n in range(8))


@pytest.mark.parametrize(
    ("baseline", "candidate", "pauses", "signatures"),
    [
        (one_by_one, at_once, (LONG,), [MORE]),
        (at_once, one_by_one, (LONG,), [FEWER]),
        (one_by_one, lambda n: half(n) and n > 60, (LONG,), [MORE]),
        (few, lambda n: 20 <= n < 300, EIGHT, [MORE]),
        (one_by_one, one_by_one, (LONG,), []),
        (at_once, lambda n: at_once(n - 10), (LONG,), []),
        (few, one_by_one, (LONG,), []),
        (lambda n: n in (30, 60, 95, 130, 205), lambda n: n % 35 in (25, 26) and n > 25, EIGHT, []),
        (few, lambda n: 60 <= n < 90, (LONG,), []),
        (lambda _: False, at_once, (), []),
        (lambda _: False, at_once, (UNHEALED,), []),
        (lambda _: False, lambda n: 60 <= n < 108, (LONG,), [MORE]),
        (lambda _: False, lambda n: 60 <= n < 107, (LONG,), []),
    ],
    ids=[
        "a-circuit-breaker", "without-the-baselines", "fails-beside-the-broker", "eight-pauses", "equal", "both-at-once",
        "the-luck-of-a-thread", "eleven-against-five", "thirty-are-luck", "no-pause", "a-pause-without-end",
        "four-times-twelve", "one-less",
    ],
)  # fmt: skip
def test_failures_of_calls_that_wait(
    baseline: Fails, candidate: Fails, pauses: tuple[dict[str, Any], ...], signatures: list[str]
) -> None:
    """Only failures beyond the timeouts that fit in the pauses are a difference, whichever client has them."""
    assert found(baseline, candidate, *pauses, mode="sync") == signatures


@pytest.mark.parametrize(("cap_ms", "signatures"), [(-1, [MORE]), (0, [MORE]), (1, []), (100, []), (9_000, [MORE])])
def test_a_cap_of_requests_makes_more_timeouts_fit_in(cap_ms: int, signatures: list[str]) -> None:
    """Of 100 ms, fifty fit in a pause of 5 s; a cap above the timeout, or none, changes nothing."""
    settings = replace(ENTRY.settings, send_msg_max_timeout_per_request_ms=cap_ms)
    arms = sends(lambda _: False, mode="sync"), sends(at_once, mode="sync")
    assert found_in(*arms, LONG, entry=replace(ENTRY, settings=settings)) == signatures


def test_callbacks_that_never_come_are_no_failures() -> None:
    """They are a question of the check callbacks."""
    lost = [row | {"error": "NeverCalledBack"} if row.get("error") else row for row in sends(half)]
    assert found_in(lost, sends(few), LONG) == []


def test_clients_behind_proxies_are_not_compared() -> None:
    """Their channels back off at random."""
    entry = replace(ENTRY, topology="two-masters-two-proxies")
    assert found_in(sends(half), sends(few), LONG, entry=entry) == []


@pytest.mark.parametrize(
    ("mode", "usual", "defect", "signature"), [("async", half, few, FEWER), ("sync", one_by_one, at_once, MORE)]
)
def test_unequal_failures_end_the_run(mode: str, usual: Fails, defect: Fails, signature: str) -> None:
    """The check outcomes diverges with exit code 1; of an equal client it does not."""
    codes = []
    for candidate in (defect, usual):
        rows = sends(usual, mode=mode), sends(candidate, mode=mode)
        case = trace(ENTRY, sends_baseline=rows[0], sends_candidate=rows[1], faults=[LONG])
        manifest = replace(MANIFEST, run="r1", subjects=SUBJECTS, cases=(ENTRY,))
        (facts,) = case_facts([manifest], summarise(judge_case(case, wanted=["outcomes"])))
        named = [one.signature for each in facts.divergences.values() for one in each]
        codes.append((signature in named, ended(outcomes_evaluation.evaluate(facts))[1] is ExitCode.DIVERGES))
    assert codes[0] == (True, True)
    assert codes[1][0] is False


@pytest.mark.parametrize(
    ("baseline", "candidate", "is_unequal"),
    [
        ([(175, 64)], [(175, 58)], False),  # real runs of java:5.5.0 beside itself, in a pause of 4 s
        ([(100, 0)], [(100, 16)], False),  # p = 1.6e-5
        ([(100, 0)], [(100, 17)], True),  # p = 7.3e-6
        ([(100, 17)], [(100, 0)], True),
        ([(0, 0)], [(100, 17)], False),
        ([(100, 0), (100, 3)], [(100, 60), (100, 3)], True),
        ([(100, 0), (100, 3)], [(100, 60), (100, 2)], False),
        ([(1_000, 50)], [(1_000, 200)], True),
        ([(1_000, 100)], [(1_000, 300)], False),  # only three times as many
    ],
)
def test_chance_of_a_case(baseline: list[tuple[int, int]], candidate: list[tuple[int, int]], is_unequal: bool) -> None:
    """Unequal are failures with a probability of 1e-5 in all pauses that differ; nothing is compared with no sends."""
    assert are_unequal(baseline, candidate) is is_unequal
