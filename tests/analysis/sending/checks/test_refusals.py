"""Messages that a client, or a broker, refuses: literal sends, and whole runs judged to the exit code."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.sending.checks.results.refusals import Refusals, without_requests
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.builders import ENTRY, MS, SUBJECTS, S, context_of, facts_of, made, pair, tried
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.sending.checks.builders import BASELINE, CANDIDATE, PAUSE, REFUSED, SLOW, examples
from tests.analysis.stories import CALM, PAUSED, PLAIN
from tests.analysis.synthetic import ORIGIN_NS, ArmRecords, Change, Pause
from tests.analysis.trace_builders import trace

NewRun = Callable[..., RunDirectory]
EndingOf = Callable[..., Ended]

NAME_TAKEN = "The Property<BORN_TIMESTAMP> is used by system, input another please"
LATER = replace(PLAIN, pauses=(Pause(PAUSED, 3_000, 1_500),), checks=(*PLAIN.checks, "outcomes"))
UNSENT = {"status": None, "broker": None, "queue_id": None, "queue_offset": None}


def refuse(
    error: str = "RuntimeException", code: int | None = None, cause: str | None = None, *, every: int = 1
) -> Change:
    """A client that refuses every n-th message before a request, as long as no fault has begun."""

    def change(records: ArmRecords) -> None:
        first_ns = ORIGIN_NS + 2_900_000_000
        hit = {send.send for send in records.sends if send.send % every == 0 and send.start_ns < first_ns}
        records.attempts = [attempt for attempt in records.attempts if attempt.send not in hit]
        records.stored = [message for message in records.stored if message.send not in hit]
        refused = {"error": error, "code": code, "cause": cause, "message": NAME_TAKEN, **UNSENT}
        records.sends = [replace(send, **refused) if send.send in hit else send for send in records.sends]  # type: ignore[arg-type]

    return change


def answered(code: int) -> Change:
    """A broker that answers every request with a code that is not retried."""

    def change(records: ArmRecords) -> None:
        ended = {"error": "MQBrokerException", "code": code}
        records.stored = []
        records.attempts = [replace(attempt, **ended, status=None) for attempt in records.attempts]  # type: ignore[arg-type]
        records.sends = [replace(send, **ended, **UNSENT) for send in records.sends]  # type: ignore[arg-type]

    return change


SHORT = replace(CALM, sends=70)
TOO_LARGE = refuse("MQClientException", cause="IllegalArgumentException")
ALONE, SENT, OTHERWISE = (
    f"outcomes.{name}" for name in ("refused-before-a-request", "sent-though-refused", "refused-otherwise")
)


@pytest.mark.parametrize(
    ("baseline", "candidate", "exit_code", "found"),
    [
        (None, refuse(), ExitCode.DIVERGES, [f"{ALONE}/RuntimeException"]),
        (refuse(), refuse(), ExitCode.CONFORMS, []),
        (refuse(), None, ExitCode.DIVERGES, [f"{SENT}/RuntimeException"]),
        (None, refuse(every=9), ExitCode.DIVERGES, [f"{ALONE}/RuntimeException"]),
        (TOO_LARGE, TOO_LARGE, ExitCode.CONFORMS, []),
        (TOO_LARGE, refuse("MQClientException", 13), ExitCode.DIVERGES, [f"{OTHERWISE}/MQClientException/code=13"]),
        (
            TOO_LARGE,
            refuse("MQClientException", cause="RuntimeException"),
            ExitCode.DIVERGES,
            [f"{OTHERWISE}/MQClientException/cause=RuntimeException"],
        ),
        (refuse(), refuse("client-refused"), ExitCode.CONFORMS, []),
        (answered(13), answered(13), ExitCode.INCONCLUSIVE, []),
    ],
    ids=["alone", "both", "sent", "some", "both-batches", "code", "cause", "word", "by-brokers"],
)
def test_refused_messages_are_compared(
    baseline: Change | None,
    candidate: Change | None,
    exit_code: ExitCode,
    found: list[str],
    new_run: NewRun,
    ending_of: EndingOf,
) -> None:
    """Refusals by the client are compared by class, cause and code; refusals of every message by brokers show nothing."""
    ended = ending_of(new_run([SHORT], change=candidate, change_baseline=baseline))
    assert (ended.judgement.exit_code, [cluster.signature for cluster in ended.document.clusters]) == (exit_code, found)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (refuse(), "nothing got through: python:5.3.3 refused all 70 messages (RuntimeException)"),
        (answered(13), "nothing got through: the brokers refused all 70 messages (code 13)"),
    ],
)
def test_a_report_names_a_case_in_which_nothing_got_through(
    change: Change, sentence: str, new_run: NewRun, ending_of: EndingOf
) -> None:
    """A case without a stored message says so, whoever refused, and asks for no relay."""
    text = ending_of(new_run([SHORT], change=change, change_baseline=change)).text
    assert sentence in " ".join(text.split())
    assert "--wire" not in text


def test_equal_refusals_before_a_fault_are_no_difference(new_run: NewRun, ending_of: EndingOf) -> None:
    """Sends without attempts after a fault are compared by the rules, and equal refusals before it are no difference."""
    some = refuse(every=7)
    assert ending_of(new_run([LATER], change=some, change_baseline=some)).judgement.exit_code is ExitCode.CONFORMS


RUNTIME: dict[str, Any] = {"error": "RuntimeException"}
CODED: dict[str, Any] = {
    "error": "MQClientException",
    "code": 13,
    "cause": "IllegalArgumentException",
    "message": "too\n  large",
}
CODED_END = "MQClientException/code=13/cause=IllegalArgumentException"
BEFORE = "refused before any request"


@pytest.mark.parametrize(
    ("baseline", "candidate", "found"),
    [
        (RUNTIME, RUNTIME, {}),
        (CODED, CODED | {"message": "other"}, {}),
        (RUNTIME, {"error": "client-refused"}, {}),
        ({"error": "client-refused"}, RUNTIME, {}),
        (
            {},
            CODED,
            {
                f"refused-before-a-request/{CODED_END}": (
                    "a request: the baseline sends it",
                    f"{BEFORE}, {CODED_END}: too large",
                )
            },
        ),
        (
            {},
            RUNTIME,
            {
                "refused-before-a-request/RuntimeException": (
                    "a request: the baseline sends it",
                    f"{BEFORE}, RuntimeException",
                )
            },
        ),
        (RUNTIME, {}, {"sent-though-refused/RuntimeException": (f"{BEFORE}, RuntimeException", "1 attempts, SEND_OK")}),
        (
            RUNTIME,
            SLOW,
            {"sent-though-refused/RuntimeException": (f"{BEFORE}, RuntimeException", f"1 attempts, {SLOW}")},
        ),
        (
            CODED,
            CODED | {"code": 14},
            {
                "refused-otherwise/MQClientException/code=14/cause=IllegalArgumentException": (
                    f"{BEFORE}, {CODED_END}: too large",
                    f"{BEFORE}, MQClientException/code=14/cause=IllegalArgumentException: too large",
                )
            },
        ),
        (
            RUNTIME,
            RUNTIME | {"cause": "X"},
            {
                "refused-otherwise/RuntimeException/cause=X": (
                    f"{BEFORE}, RuntimeException",
                    f"{BEFORE}, RuntimeException/cause=X",
                )
            },
        ),
        (None, RUNTIME, {}),
        (RUNTIME, None, {}),
    ],
)
def test_which_refusals_differ(
    baseline: dict[str, Any] | str | None, candidate: dict[str, Any] | str | None, found: dict[str, tuple[str, str]]
) -> None:
    """Both refuse a message alike, or it is a difference; a send of one arm alone is not compared. A text: the error after an attempt."""
    sides: list[SendView | None] = []
    for arm, row in ((BASELINE, baseline), (CANDIDATE, candidate)):
        if isinstance(row, dict):
            sides.append(made(arm, 0, *([] if row else [tried(0, MS)]), **row))
        else:
            sides.append(None if row is None else made(arm, 0, tried(0, MS, row)))
    facts = facts_of([pair(*sides)], Refusals)
    assert examples(facts) == found
    assert {one.subject for each in facts.divergences.values() for one in each} <= {SUBJECTS[CANDIDATE]}
    for arm, row in ((BASELINE, baseline), (CANDIDATE, candidate)):
        ends = {"code": "/code={code}", "cause": "/cause={cause}"}
        words = (
            []
            if not isinstance(row, dict) or not row
            else [row["error"] + "".join(text.format(**row) for name, text in ends.items() if name in row)]
        )
        assert list(facts.keys("outcomes.refused", str(arm))) == words
        assert facts.n("outcomes.refused", arm=str(arm), phase="calm") == len(words)


@pytest.mark.parametrize(
    ("attempts", "start_ns", "error"),
    [((), 11 * S, "RuntimeException"), ((tried(S, S + MS, REFUSED),), S, "RuntimeException"), ((), S, None)],
    ids=["under a fault", "after an attempt", "no error"],
)
def test_only_errors_in_calm_without_attempts_are_refusals(attempts: Any, start_ns: int, error: str | None) -> None:
    """A fault, or a request, may have caused the other failures."""
    side = made(CANDIDATE, 0, *attempts, faults=[PAUSE], start_ns=start_ns, error=error)
    assert facts_of([pair(None, side)], Refusals).tallies == {}


def test_causes_are_compared_of_clients_that_report_them() -> None:
    """A client in a language without causes does not differ by that."""
    context = context_of()
    vars(context.trace)["subjects"] = SUBJECTS | {CANDIDATE: "go:2.1.2"}
    one, other = (made(arm, 0, **RUNTIME, cause=cause) for arm, cause in ((BASELINE, "X"), (CANDIDATE, None)))
    Refusals(context).observe(pair(one, other))
    assert list(context.collector.differences()) == []


ALL_REFUSED = [{"error": "ValueError", "status": None}, {"error": "RuntimeException", "status": None}]


@pytest.mark.parametrize(
    ("tables", "is_without"),
    [
        ({"sends": ALL_REFUSED, "attempts": []}, True),
        ({"sends": [*ALL_REFUSED, {"error": SLOW}], "attempts": []}, False),
        ({"sends": [*ALL_REFUSED, {}], "attempts": []}, False),
        ({"sends": ALL_REFUSED, "attempts": [{"send": 0}]}, False),
        ({"sends": ALL_REFUSED}, False),
        ({"sends": [], "attempts": []}, False),
        ({"attempts": []}, False),
    ],
)
def test_checks_of_a_case_without_a_request(tables: dict[str, Any], is_without: bool) -> None:
    """Only if a client refused every send is there no answer to what requests or stored messages show."""
    numbered: dict[str, Any] = {
        name: [{"send": n} | row for n, row in enumerate(rows)] for name, rows in tables.items()
    }
    case = trace(ENTRY, **numbered)
    found = dict(without_requests(case, CANDIDATE))
    why = "nothing got through: python:5.3.3 refused all 2 messages (RuntimeException, ValueError)"
    assert found.get("loss") == (why if is_without else None)
    assert not found.keys() & {"outcomes", "callbacks", "resources", "protocol", "validity"}
