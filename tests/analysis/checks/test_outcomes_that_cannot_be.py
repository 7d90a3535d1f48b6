"""Impossible acknowledgements and failures without a cause, to the nanosecond."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import NEVER_CALLED_BACK, UNSEEN_ROUTE, Attempt
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.oracle.producer.asynchronous.habits import AsyncHabits
from tests.analysis.by_hand import ENTRY, MS, S, fault, made, pair, signatures, tried
from tests.analysis.checks.test_outcomes_by_hand import (
    BASELINE,
    CANDIDATE,
    LOST,
    PAUSE,
    REFUSED,
    SLOW,
    code_of,
    copies,
    facts,
)

SYNC = replace(ENTRY, topology="master-with-slave-sync")
CONFUSED = AsyncHabits(loses_callbacks=False, confuses_answers=True)
SETTLED = 50 * MS
STOPPED = ["outcomes.acknowledged-by-a-stopped-broker 1"]


@pytest.mark.parametrize("kind", [FaultKind.PAUSE, FaultKind.KILL])
@pytest.mark.parametrize(
    ("start_ns", "end_ns", "found"),
    [
        (10 * S + SETTLED, 12 * S, STOPPED),
        (10 * S + SETTLED - 1, 12 * S, []),
        (10 * S + SETTLED, 12 * S + 1, []),
        (9 * S, 11 * S, []),
    ],
)
def test_a_stopped_broker_acknowledges_nothing(start_ns: int, end_ns: int, found: list[str], kind: FaultKind) -> None:
    """A broker cannot acknowledge from 50 ms after its stop until it resumes."""
    stopped = fault(10 * S, 12 * S, kind)
    ours = facts(pair(None, made(CANDIDATE, 0, tried(start_ns, end_ns))), faults=[stopped])
    assert signatures(ours) == found
    if found:
        assert code_of(ours) is ExitCode.DIVERGES
        theirs = facts(pair(made(BASELINE, 0, tried(start_ns, end_ns)), None), faults=[stopped])
        assert signatures(theirs) == [f"rules/{one}" for one in found]


@pytest.mark.parametrize(
    ("stopped", "attempt", "row", "found"),
    [
        (fault(10 * S, None, FaultKind.KILL), tried(90 * S, 91 * S), {}, STOPPED),
        (fault(10 * S, None, FaultKind.KILL), tried(90 * S, 91 * S), {"copies": copies(1)}, []),
        (fault(10 * S, None), tried(90 * S, 91 * S), {"copies": copies(1)}, STOPPED),
        (replace(PAUSE, proven_ns=None), tried(11 * S, 11 * S + MS), {}, []),
        (fault(10 * S, 12 * S, node="broker-a"), tried(11 * S, 11 * S + MS), {}, []),
        (fault(10 * S, 12 * S, FaultKind.WIRE_SWALLOW), tried(11 * S, 11 * S + MS), {}, []),
        (PAUSE, tried(11 * S, 11 * S + MS, SLOW), {}, []),
        (PAUSE, tried(11 * S, 11 * S + MS, status=None), {}, []),
        (PAUSE, tried(11 * S, 11 * S + MS), {"mode": SendMode.ONEWAY}, []),
        (PAUSE, tried(11 * S, 11 * S + MS), {"mode": SendMode.ASYNC}, STOPPED),
        (PAUSE, tried(11 * S, 11 * S + MS, status="SLAVE_NOT_AVAILABLE"), {}, None),
    ],
)
def test_what_is_no_acknowledgement_by_a_stopped_broker(
    stopped: FaultRecord, attempt: Attempt, row: dict[str, Any], found: list[str] | None
) -> None:
    """Only answers under a proven stop count; a killed broker that holds the message was restarted by someone."""
    seen = signatures(facts(pair(None, made(CANDIDATE, 0, attempt, **row)), faults=[stopped]))
    assert seen == (STOPPED if found is None else found)


def test_every_attempt_is_looked_at_and_a_send_told_once() -> None:
    """All attempts are examined; a send is noted once, here for the second of three."""
    attempts = [
        tried(11 * S, 11 * S + MS, broker="broker-a"),
        tried(11 * S + MS, 11 * S + 2 * MS, attempt=1),
        tried(11 * S + 2 * MS, 11 * S + 203 * MS, attempt=2),
    ]
    found = facts(pair(None, made(CANDIDATE, 0, *attempts)), faults=[PAUSE])
    ((one,),) = found.divergences.values()
    assert (one.count, one.example.attempt) == (1, 1)
    assert one.example.observed == "attempt 1 ended with SEND_OK after 1 ms"
    assert "broker-b, which was paused from before" in one.example.expected
    killed = facts(pair(None, made(CANDIDATE, 0, *attempts)), faults=[replace(PAUSE, kind=FaultKind.KILL)])
    ((one,),) = killed.divergences.values()
    assert "broker-b, which was killed from before" in one.example.expected


@pytest.mark.parametrize(("habits", "found"), [(AsyncHabits(False), STOPPED), (CONFUSED, [])])
def test_where_answers_are_confused_it_may_be_anothers(habits: AsyncHabits, found: list[str]) -> None:
    """Near a fault an asynchronous acknowledgement may be another message's in some releases."""
    send = pair(None, made(CANDIDATE, 0, tried(11 * S, 11 * S + MS), mode=SendMode.ASYNC))
    assert signatures(facts(send, faults=[PAUSE], habits=habits)) == found
    slave = fault(10 * S, 12 * S, FaultKind.PAUSE_SLAVE, "broker-b-slave-1")
    ours = facts(send, faults=[slave], entry=SYNC, habits=habits)
    assert signatures(ours) == [one.replace("by-a-stopped-broker", "without-its-slave") for one in found]


WITHOUT_SLAVE = ["outcomes.acknowledged-without-its-slave 1"]


@pytest.mark.parametrize("kind", [FaultKind.PAUSE_SLAVE, FaultKind.KILL_SLAVE])
@pytest.mark.parametrize(
    ("attempt", "topology", "found"),
    [
        (tried(10 * S, 12 * S), "master-with-slave-sync", WITHOUT_SLAVE),
        (tried(10 * S - 1, 11 * S), "master-with-slave-sync", []),
        (tried(11 * S, 12 * S + 1), "master-with-slave-sync", []),
        (tried(10 * S, 12 * S), "master-with-slave-async", []),
        (tried(10 * S, 12 * S), "two-masters-sync-flush", []),
        (tried(10 * S, 12 * S, broker="broker-a"), "master-with-slave-sync", []),
        (tried(10 * S, 12 * S, status="FLUSH_SLAVE_TIMEOUT"), "master-with-slave-sync", []),
        (tried(10 * S, 12 * S, LOST), "master-with-slave-sync", None),
    ],
)
def test_a_broker_that_waits_for_its_slave_says_so(
    attempt: Attempt, topology: str, found: list[str] | None, kind: FaultKind
) -> None:
    """A broker that waits for its slave cannot answer SEND_OK while the slave's fault is proven."""
    slave = fault(10 * S, 12 * S, kind, "broker-b-slave-1")
    seen = facts(pair(None, made(CANDIDATE, 0, attempt)), faults=[slave], entry=replace(ENTRY, topology=topology))
    slaveless = [one for one in signatures(seen) if "slave" in one]
    assert slaveless == (found or [])
    if found:
        assert code_of(seen) is ExitCode.DIVERGES


@pytest.mark.parametrize(
    ("row", "attempts", "signature"),
    [
        ({}, [tried(0, MS, LOST)], f"{LOST} 1"),
        ({}, [tried(0, MS, REFUSED, code=17)], f"{REFUSED}/code=17 1"),
        ({}, [tried(0, MS, status="FLUSH_SLAVE_TIMEOUT")], "FLUSH_SLAVE_TIMEOUT 1"),
        ({}, [tried(0, MS, SLOW), tried(MS, 2 * MS, LOST, attempt=1)], f"{LOST} 1"),
        ({}, [tried(0, MS, LOST), tried(MS, 2 * MS, REFUSED, attempt=1, code=17)], f"{LOST} 1"),
        ({"route": UNSEEN_ROUTE}, [tried(0, MS, LOST)], None),
        ({"error": NEVER_CALLED_BACK}, [tried(0, MS, LOST)], None),
        ({"error": "MQClientException"}, [], "MQClientException 1"),
        ({"error": SLOW}, [], None),
        ({}, [], None),
        ({}, [tried(0, MS, SLOW)], None),
        ({}, [tried(0, MS)], None),
        ({"mode": SendMode.ASYNC}, [tried(0, MS, "MQClientException")], None),
        ({}, [tried(0, MS, "MQClientException")], "MQClientException 1"),
        (
            {"mode": SendMode.ASYNC, "error": REFUSED, "code": 14},
            [tried(0, MS, "MQClientException")],
            f"{REFUSED}/code=14 1",
        ),
        ({"error": REFUSED, "code": 14}, [tried(0, MS, SLOW)], None),
        (
            {"mode": SendMode.ASYNC, "error": REFUSED, "code": 14},
            [tried(0, MS, SLOW), tried(MS, 2 * MS, SLOW, attempt=1)],
            f"{REFUSED}/code=14 1",
        ),
    ],
)
def test_what_needs_a_cause_and_has_none(row: dict[str, Any], attempts: list[Attempt], signature: str | None) -> None:
    """
    In calm every failure needs a cause, except a timeout or an asynchronous attempt's hidden end; it is noted once per send.
    """
    found = facts(pair(None, made(CANDIDATE, 0, *attempts, **row)))
    wanted = [] if signature is None else [f"outcomes.failed-without-cause/{signature}"]
    assert signatures(found) == wanted
    theirs = facts(pair(made(BASELINE, 0, *attempts, **row), None))
    assert signatures(theirs) == [f"rules/{one}" for one in wanted]


@pytest.mark.parametrize(
    ("other", "is_told"),
    [
        ([tried(0, MS, LOST)], False),
        ([tried(0, MS, SLOW), tried(MS, 2 * MS, LOST, attempt=1)], False),
        ([tried(0, MS, SLOW)], True),
        ([tried(0, MS)], True),
    ],
)
def test_what_ends_so_in_both_arms_is_the_message(other: list[Attempt], is_told: bool) -> None:
    """A failure that the other arm has too, in any attempt, is the message's."""
    found = facts(pair(made(BASELINE, 0, *other), made(CANDIDATE, 0, tried(0, MS, LOST))))
    assert [one for one in signatures(found) if not one.startswith("rules/")] == (
        [f"outcomes.failed-without-cause/{LOST} 1"] if is_told else []
    )


@pytest.mark.parametrize(
    ("attempts", "error", "is_told"),
    [
        ((), "MQClientException", False),
        ((), "IllegalStateException", True),
        ((tried(0, MS, SLOW),), "MQClientException", True),
    ],
)
def test_a_send_that_neither_tried_is_the_message(attempts: tuple[Attempt, ...], error: str, is_told: bool) -> None:
    """A send that both clients refused alike, without an attempt, is not noted."""
    found = facts(pair(made(BASELINE, 0, *attempts, error=error), made(CANDIDATE, 0, error="MQClientException")))
    told = [one for one in signatures(found) if not one.startswith("rules/")]
    assert told == (["outcomes.failed-without-cause/MQClientException 1"] if is_told else [])


def test_the_example_says_where_and_how() -> None:
    """The example names the attempt, its broker and its end, or that there was none."""
    attempts = tried(0, MS, SLOW), tried(MS, 2 * MS, LOST, attempt=1, broker="broker-a")
    ((one,),) = facts(pair(None, made(CANDIDATE, 0, *attempts))).divergences.values()
    assert (one.example.attempt, one.example.observed) == (1, f"attempt 1 at broker-a, and {LOST}")
    ((one,),) = facts(pair(None, made(CANDIDATE, 0, error="MQClientException"))).divergences.values()
    assert (one.example.attempt, one.example.observed) == (None, "no attempt, and MQClientException")
