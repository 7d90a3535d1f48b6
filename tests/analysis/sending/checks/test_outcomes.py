"""The observer of ``outcomes`` on manually built sends, to the nanosecond."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.sending.checks.results import outcomes_evaluation
from rocketdiff.analysis.sending.send_view import Copy
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import NEVER_CALLED_BACK, UNSEEN_ROUTE, Attempt
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.oracle.producer.asynchronous.habits import AsyncHabits
from rocketdiff.traces.manifest import ArmSummary
from tests.analysis.builders import ENTRY, MS, S, ended, fault, made, pair, signatures, tried
from tests.analysis.sending.checks.builders import (
    BASELINE,
    CANDIDATE,
    CONFUSED,
    LOST,
    PAUSE,
    REFUSED,
    SLOW,
    facts_of_outcomes,
)

CONNECT = "RemotingConnectException"
SYNC = replace(ENTRY, topology="master-with-slave-sync")


def code_of(facts: CaseFacts) -> ExitCode:
    return ended(outcomes_evaluation.evaluate(facts))[1]


def slow(send: int, at_ns: int, arm: Arm = CANDIDATE, **named: Any) -> Any:
    """One arm's send timed out, the other's did not."""
    sides = {one: made(one, send, tried(at_ns, at_ns + MS, SLOW if one is arm else None), **named) for one in Arm}
    return pair(sides[BASELINE], sides[CANDIDATE])


@pytest.mark.parametrize(
    ("due_ns", "moments"),
    [
        ([0], 1),
        ([0, 50 * MS - 1], 1),
        ([0, 50 * MS], 2),
        ([50 * MS, 0], 2),
        ([n * 40 * MS for n in range(13)] + [500 * MS - 1], 1),
        ([n * 40 * MS for n in range(13)] + [500 * MS], 2),
        ([n * 40 * MS for n in range(26)], 2),
        ([0, 60 * MS, 100 * MS, 149 * MS], 2),
    ],
)
@pytest.mark.parametrize("arm", Arm)
def test_how_many_moments_of_calm_failures_make_up(due_ns: list[int], moments: int, arm: Arm) -> None:
    """
    Failures under 50 ms apart are one moment of at most 500 ms.

    26 of them, 40 ms apart, last 1.0 s: two moments, from 0 and from 520 ms.
    """
    found = facts_of_outcomes(*(slow(n, at, arm) for n, at in enumerate(due_ns)))
    assert found.n("outcomes.more", "failed", arm=arm, phase="calm") == moments
    assert found.n("outcomes.more") == moments
    assert found.n("outcomes", "failed", arm=arm, phase="calm") == len(due_ns)
    assert found.n("outcomes", "sends", phase="calm") == 2 * len(due_ns)


def test_failures_of_both_arms_at_once_are_no_moment() -> None:
    """A send that failed in both arms is counted, but neither arm has more."""
    at_ns = 0
    sides = [made(arm, 0, tried(at_ns, at_ns + MS, SLOW)) for arm in Arm]
    found = facts_of_outcomes(pair(*sides))
    assert (found.n("outcomes", "failed"), found.n("outcomes.more")) == (2, 0)


def both_ok(send: int, at_ns: int) -> Any:
    return pair(*(made(arm, send, tried(at_ns, at_ns + MS)) for arm in Arm))


def copies(number: int) -> list[Copy]:
    return [Copy("broker-b", 0, n, 0, True) for n in range(number)]


@pytest.mark.parametrize(
    ("attempts", "row", "what"),
    [
        ([tried(0, MS, SLOW)], {}, ["failed"]),
        ([tried(0, MS, SLOW)], {"error": NEVER_CALLED_BACK}, []),
        ([tried(0, MS)], {"copies": copies(2)}, ["stored-twice"]),
        ([tried(0, MS)], {"copies": copies(1)}, []),
        ([tried(0, MS)], {"copies": None}, []),
        ([tried(0, MS)], {"mode": SendMode.ONEWAY, "copies": ()}, ["sent-one-way-and-not-stored"]),
        ([tried(0, MS)], {"mode": SendMode.ONEWAY, "copies": copies(1)}, []),
        ([tried(0, MS)], {"mode": SendMode.ONEWAY, "copies": None}, []),
        ([tried(0, MS)], {"copies": ()}, []),
        ([tried(0, MS, SLOW)], {"mode": SendMode.ONEWAY, "copies": ()}, ["failed"]),
        ([tried(0, MS, status="FLUSH_DISK_TIMEOUT")], {}, ["stored-with-a-reserve"]),
        ([tried(0, MS, SLOW), tried(MS, 2 * MS, attempt=1)], {}, ["failed-at-first"]),
        ([tried(0, MS, SLOW), tried(MS, 2 * MS, SLOW, attempt=1)], {"copies": copies(2)}, ["failed", "stored-twice"]),
        ([tried(0, MS, status="FLUSH_DISK_TIMEOUT")], {"error": "MQClientException"}, ["failed"]),
        ([], {"error": "RuntimeException"}, []),  # compared as a refusal
    ],
)
def test_ends_of_a_send_are_counted(attempts: list[Attempt], row: dict[str, Any], what: list[str]) -> None:
    """A send may fail, fail at first, be stored twice, or with a status other than SEND_OK; also two of these."""
    found = facts_of_outcomes(pair(made(BASELINE, 0, tried(0, MS)), made(CANDIDATE, 0, *attempts, **row)))
    assert [key for key in found.keys("outcomes", "candidate") if key != "sends"] == what
    assert found.keys("outcomes.more", "candidate") == tuple(what)
    assert found.keys("outcomes", "baseline") == ("sends",)


def test_a_send_of_one_arm_alone_is_not_compared() -> None:
    """A send of one arm alone is not compared."""
    gone = replace(made(BASELINE, 0, tried(0, MS)))
    assert facts_of_outcomes(pair(None, made(CANDIDATE, 0, tried(0, MS, SLOW)))).n("outcomes") == 0
    assert facts_of_outcomes(pair(gone, None)).n("outcomes") == 0


AGAIN = fault(100 * S, 102 * S, episode=2)


def test_in_a_spell_the_whole_spell_is_compared() -> None:
    """A fault period counts for the arm that failed more often in it, and for neither if both failed equally often."""
    third = fault(200 * S, 202 * S, episode=3)
    sends = [
        slow(0, 11 * S),
        slow(1, 11 * S + S),
        slow(2, 11 * S, BASELINE),
        slow(3, 101 * S, BASELINE),
        slow(4, 201 * S),
        slow(5, 201 * S, BASELINE),
        slow(6, 301 * S),
    ]
    found = facts_of_outcomes(*sends, faults=[PAUSE, AGAIN, third, fault(300 * S, 302 * S, episode=4)])
    more = {arm: found.n("outcomes.more", "failed", arm=arm, phase="faults") for arm in Arm}
    assert more == {BASELINE: 1, CANDIDATE: 2}
    assert found.n("outcomes.more", phase="calm") == 0
    assert found.n("outcomes", "sends", phase="faults") == 14


def test_the_spell_of_either_arm_is_the_spell_of_both() -> None:
    """A send that meets the fault period in one arm belongs to it in both."""
    early, late = tried(9 * S, 9 * S + MS, SLOW), tried(9 * S, 10 * S + MS)
    found = facts_of_outcomes(pair(made(BASELINE, 0, late), made(CANDIDATE, 0, early)), faults=[PAUSE])
    assert (found.n("outcomes.more", phase="faults"), found.n("outcomes.more", phase="calm")) == (1, 0)


MET = "failed/after-a-failed-attempt/pause"


@pytest.mark.parametrize(
    ("attempts", "faults", "row", "counted"),
    [
        ([tried(11 * S, 11 * S + MS, SLOW)], [PAUSE], {}, {MET: (1, 1)}),
        ([tried(11 * S, 12 * S, SLOW), tried(13 * S, 14 * S, attempt=1)], [PAUSE], {}, {MET: (1, 0)}),
        ([tried(11 * S, 11 * S + MS)], [PAUSE], {}, {}),
        ([tried(9 * S, 9 * S + MS, SLOW)], [PAUSE], {}, {}),
        ([tried(11 * S, 12 * S, SLOW)], [PAUSE, fault(10 * S, 12 * S, node="broker-a")], {}, {}),
        (
            [tried(11 * S, 12 * S, SLOW)],
            [PAUSE, fault(10 * S, 12 * S, FaultKind.PAUSE_NAME_SERVER, "namesrv-1")],
            {},
            {MET: (1, 1)},
        ),
        (
            [tried(11 * S, 11 * S + MS, status="FLUSH_DISK_TIMEOUT")],
            [fault(10 * S, 12 * S, FaultKind.FLUSH_TIMEOUT)],
            {},
            {"reserved/while-a-broker-waits/flush-timeout": (1, 1)},
        ),
        (
            [tried(11 * S, 11 * S + MS)],
            [fault(10 * S, 12 * S, FaultKind.KILL_SLAVE, "broker-b-slave-1")],
            {},
            {"reserved/while-a-broker-waits/kill-slave": (1, 0)},
        ),
        ([tried(11 * S, 11 * S + MS, LOST)], [fault(10 * S, 12 * S, FaultKind.FLUSH_TIMEOUT)], {}, None),
        (
            [tried(11 * S, 11 * S + MS)],
            [replace(fault(10 * S, 12 * S, FaultKind.FLUSH_TIMEOUT), proven_ns=None)],
            {},
            {},
        ),
    ],
)
def test_situations_and_how_they_ended(
    attempts: list[Attempt],
    faults: list[FaultRecord],
    row: dict[str, Any],
    counted: dict[str, tuple[int, int]] | None,
) -> None:
    """
    A situation is a first attempt that failed at the only faulty broker, or met one that waited for its slave or disk.

    With two faulty brokers a client may have had no other broker.
    """
    found = facts_of_outcomes(pair(None, made(CANDIDATE, 0, *attempts, faults=faults, **row)), faults=faults)
    seen = {
        name: (found.n("outcomes.met", name, phase="faults"), found.n("outcomes.ended", name, phase="faults"))
        for name in found.keys("outcomes.met", "candidate")
        if name.startswith("reserved") or counted is not None
    }
    assert seen == (counted or {})


def test_how_many_sends_in_calm_the_machine_failed() -> None:
    """Of the baseline's three sends in calm one timed out; a fourth send is in a fault period and not counted."""
    sends = [slow(0, 0, BASELINE), both_ok(1, MS), both_ok(2, 2 * MS), slow(3, 11 * S, BASELINE)]
    found = facts_of_outcomes(*sends, faults=[PAUSE])
    reported = {key: found.n("outcomes.crowded", key, arm="baseline", phase="calm") for key in (SLOW, "not failed")}
    assert reported == {SLOW: 1, "not failed": 2}
    assert found.n("outcomes.crowded") == 6


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
    ours = facts_of_outcomes(pair(None, made(CANDIDATE, 0, tried(start_ns, end_ns))), faults=[stopped])
    assert signatures(ours) == found
    if found:
        assert code_of(ours) is ExitCode.DIVERGES
        theirs = facts_of_outcomes(pair(made(BASELINE, 0, tried(start_ns, end_ns)), None), faults=[stopped])
        assert signatures(theirs) == [f"rules/{one}" for one in found]


@pytest.mark.parametrize(
    ("stopped", "attempt", "row", "found"),
    [
        (fault(10 * S, None, FaultKind.KILL), tried(90 * S, 91 * S), {}, STOPPED),
        (fault(10 * S, None, FaultKind.KILL), tried(90 * S, 91 * S), {"copies": copies(1)}, []),
        (fault(10 * S, None, FaultKind.KILL), tried(90 * S, 91 * S), {"copies": None}, STOPPED),
        (fault(10 * S, None), tried(90 * S, 91 * S), {"copies": copies(1)}, STOPPED),
        (replace(PAUSE, proven_ns=None), tried(11 * S, 11 * S + MS), {}, []),
        (fault(10 * S, 12 * S, node="broker-a"), tried(11 * S, 11 * S + MS), {}, []),
        (fault(10 * S, 12 * S, FaultKind.WIRE_SWALLOW), tried(11 * S, 11 * S + MS), {}, []),
        (PAUSE, tried(11 * S, 11 * S + MS, SLOW), {}, []),
        (PAUSE, tried(11 * S, 11 * S + MS, SLOW, status="SEND_OK"), {}, []),
        (PAUSE, tried(11 * S, 11 * S + MS, status=None), {}, []),
        (PAUSE, tried(11 * S, 11 * S + MS), {"mode": SendMode.ONEWAY}, []),
        (PAUSE, tried(11 * S, 11 * S + MS), {"mode": SendMode.ASYNC}, STOPPED),
        (PAUSE, tried(11 * S, 11 * S + MS, status="SLAVE_NOT_AVAILABLE"), {}, None),
    ],
)
def test_answers_that_a_stopped_broker_may_have_given(
    stopped: FaultRecord, attempt: Attempt, row: dict[str, Any], found: list[str] | None
) -> None:
    """Only answers under a proven stop count; a killed broker that holds the message was restarted by someone."""
    seen = signatures(facts_of_outcomes(pair(None, made(CANDIDATE, 0, attempt, **row)), faults=[stopped]))
    assert seen == (STOPPED if found is None else found)


def test_every_attempt_is_examined_and_a_send_reported_once() -> None:
    """All attempts are examined; a send is noted once, here for the second of three."""
    attempts = [
        tried(11 * S, 11 * S + MS, broker="broker-a"),
        tried(11 * S + MS, 11 * S + 3 * MS - 1, attempt=1),
        tried(11 * S + 3 * MS, 11 * S + 203 * MS, attempt=2),
    ]
    found = facts_of_outcomes(pair(None, made(CANDIDATE, 0, *attempts)), faults=[PAUSE])
    ((one,),) = found.divergences.values()
    assert (one.count, one.example.where.attempt) == (1, 1)
    assert one.example.observed == "attempt 1 ended with SEND_OK after 1 ms"
    assert "broker-b, which was paused from before" in one.example.expected
    longer = attempts[0], replace(attempts[1], end_ns=attempts[1].end_ns + 1), attempts[2]
    killed = facts_of_outcomes(pair(None, made(CANDIDATE, 0, *longer)), faults=[replace(PAUSE, kind=FaultKind.KILL)])
    ((one,),) = killed.divergences.values()
    assert one.example.observed == "attempt 1 ended with SEND_OK after 2 ms"
    assert "broker-b, which was killed from before" in one.example.expected


@pytest.mark.parametrize(("habits", "found"), [(AsyncHabits(False), STOPPED), (CONFUSED, [])])
def test_a_confused_answer_may_be_anothers(habits: AsyncHabits, found: list[str]) -> None:
    """Near a fault an asynchronous acknowledgement may be another message's in some releases."""
    send = pair(None, made(CANDIDATE, 0, tried(11 * S, 11 * S + MS), mode=SendMode.ASYNC))
    assert signatures(facts_of_outcomes(send, faults=[PAUSE], habits=habits)) == found
    slave = fault(10 * S, 12 * S, FaultKind.PAUSE_SLAVE, "broker-b-slave-1")
    ours = facts_of_outcomes(send, faults=[slave], entry=SYNC, habits=habits)
    assert signatures(ours) == [one.replace("by-a-stopped-broker", "without-its-slave") for one in found]
    refused = made(CANDIDATE, 0, tried(11 * S, 11 * S + MS, REFUSED, code=17, broker="broker-a"), mode=SendMode.ASYNC)
    failed = signatures(facts_of_outcomes(pair(None, refused), faults=[PAUSE], habits=habits))
    assert failed == ([f"outcomes.failed-without-cause/{REFUSED}/code=17 1"] if found else [])


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
        (tried(10 * S, 12 * S, LOST, status="SEND_OK"), "master-with-slave-sync", None),
    ],
)
def test_a_broker_waiting_for_its_slave_cannot_answer_send_ok(
    attempt: Attempt, topology: str, found: list[str] | None, kind: FaultKind
) -> None:
    """A broker that waits for its slave cannot answer SEND_OK while the slave's fault is proven."""
    slave, disk = fault(10 * S, 12 * S, kind, "broker-b-slave-1"), fault(10 * S, 12 * S, FaultKind.FLUSH_TIMEOUT)
    send, entry = pair(None, made(CANDIDATE, 0, attempt)), replace(ENTRY, topology=topology)
    seen = facts_of_outcomes(send, faults=[slave], entry=entry)
    slaveless = [one for one in signatures(seen) if "slave" in one]
    assert slaveless == (found or [])
    assert "without-its-slave" not in str(signatures(facts_of_outcomes(send, faults=[disk], entry=entry)))
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
        ({"error": "IllegalStateException"}, [], "IllegalStateException 1"),
        ({"error": "MQClientException"}, [], None),  # compared as a refusal
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
        (
            {"mode": SendMode.ASYNC, "error": REFUSED, "code": 14},
            [tried(0, MS, LOST), tried(MS, 2 * MS, SLOW, attempt=1)],
            f"{LOST} 1",
        ),
    ],
)
def test_a_failure_without_a_cause_is_noted_once_a_send(
    row: dict[str, Any], attempts: list[Attempt], signature: str | None
) -> None:
    """
    In calm every failure needs a cause, except a timeout or an asynchronous attempt's hidden end; it is noted once per send.
    """
    found = facts_of_outcomes(pair(None, made(CANDIDATE, 0, *attempts, **row)))
    wanted = [] if signature is None else [f"outcomes.failed-without-cause/{signature}"]
    assert signatures(found) == wanted
    theirs = facts_of_outcomes(pair(made(BASELINE, 0, *attempts, **row), None))
    assert signatures(theirs) == [f"rules/{one}" for one in wanted]


@pytest.mark.parametrize(
    ("start_ns", "number", "error", "mode", "is_found"),
    [
        (11 * S, 1, CONNECT, SendMode.ASYNC, False),
        (11 * S, 2, CONNECT, SendMode.ASYNC, True),
        (11 * S, 1, LOST, SendMode.ASYNC, True),
        (11 * S, 1, CONNECT, SendMode.SYNC, True),
        (20 * S, 1, CONNECT, SendMode.ASYNC, True),
    ],
)
def test_a_refused_connection_may_be_of_an_unseen_retry_to_a_broker_that_is_down(
    start_ns: int, number: int, error: str, mode: SendMode, *, is_found: bool
) -> None:
    """5.1.0 retries at once what a spent budget kept off the wire, at the killed broker: no hook sees that (two retries)."""
    attempts = [tried(start_ns - MS, start_ns, SLOW, attempt=n) for n in range(number)]
    attempts.append(tried(start_ns, start_ns + MS, error, broker="broker-a", attempt=number))
    send = pair(None, made(CANDIDATE, 0, *attempts, mode=mode, error=error))
    found = signatures(facts_of_outcomes(send, faults=[PAUSE]))
    assert found == ([f"outcomes.failed-without-cause/{error} 1"] if is_found else [])


EARLY = ["outcomes.acknowledged-before-its-answer 1"]


@pytest.mark.parametrize(
    ("row", "witness", "found"),
    [
        ({"end_ns": 2 * MS - 1}, "client", EARLY),
        ({"end_ns": 2 * MS}, "client", []),
        ({"end_ns": 2 * MS - 1, "mode": SendMode.ASYNC}, "client", EARLY),
        ({"end_ns": 2 * MS - 1, "mode": SendMode.ONEWAY}, "client", []),
        ({"end_ns": 2 * MS - 1, "error": SLOW}, "client", []),
        ({"end_ns": 2 * MS - 1}, "wire", []),
    ],
)
def test_an_acknowledgement_comes_after_its_answer(row: dict[str, Any], witness: str, found: list[str]) -> None:
    """Both are times of one client's clock, unless a relay saw the answer."""
    entry = replace(ENTRY, arms={arm: ArmSummary(1, 1, 0, True, witness=witness) for arm in Arm})
    send = pair(None, made(CANDIDATE, 0, tried(MS, 2 * MS), **row))
    assert [one for one in signatures(facts_of_outcomes(send, entry=entry)) if "before-its" in one] == found


@pytest.mark.parametrize(
    ("other", "is_found"),
    [
        ([tried(0, MS, LOST)], False),
        ([tried(0, MS, SLOW), tried(MS, 2 * MS, LOST, attempt=1)], False),
        ([tried(0, MS, SLOW)], True),
        ([tried(0, MS)], True),
    ],
)
def test_a_failure_of_both_arms_is_the_messages(other: list[Attempt], is_found: bool) -> None:
    """A failure that the other arm has too, in any attempt, is the message's."""
    found = facts_of_outcomes(pair(made(BASELINE, 0, *other), made(CANDIDATE, 0, tried(0, MS, LOST))))
    assert [one for one in signatures(found) if not one.startswith("rules/")] == (
        [f"outcomes.failed-without-cause/{LOST} 1"] if is_found else []
    )


@pytest.mark.parametrize(
    ("attempts", "error", "is_found"),
    [
        ((), "IllegalStateException", False),
        ((), "MQClientException", True),
        ((tried(0, MS, SLOW),), "IllegalStateException", True),
    ],
)
def test_a_send_that_neither_tried_is_the_message(attempts: tuple[Attempt, ...], error: str, is_found: bool) -> None:
    """A send that ended alike in both clients, without an attempt, is not noted."""
    found = facts_of_outcomes(
        pair(made(BASELINE, 0, *attempts, error=error), made(CANDIDATE, 0, error="IllegalStateException"))
    )
    reported = [one for one in signatures(found) if not one.startswith("rules/")]
    assert reported == (["outcomes.failed-without-cause/IllegalStateException 1"] if is_found else [])


def test_example_names_attempt_broker_and_end() -> None:
    """The example names the attempt, its broker and its end, or that there was none."""
    attempts = tried(0, MS, SLOW), tried(MS, 2 * MS, LOST, attempt=1, broker="broker-a")
    ((one,),) = facts_of_outcomes(pair(None, made(CANDIDATE, 0, *attempts))).divergences.values()
    assert (one.example.where.attempt, one.example.observed) == (1, f"attempt 1 at broker-a, and {LOST}")
    ((one,),) = facts_of_outcomes(pair(None, made(CANDIDATE, 0, error="IllegalStateException"))).divergences.values()
    assert (one.example.where.attempt, one.example.observed) == (None, "no attempt, and IllegalStateException")


KILL = fault(10 * S, 12 * S, FaultKind.KILL)


@pytest.mark.parametrize(
    ("start_ns", "end_ns", "error", "attempts", "faults", "counted"),
    [
        (10 * S, 12 * S, "MQClientException", (), [KILL], (1, 1)),
        (11 * S, 12 * S, SLOW, (), [KILL], (1, 0)),
        (11 * S, 12 * S, LOST, (tried(11 * S, 12 * S, LOST),), [KILL], (1, 0)),
        (11 * S, 12 * S, "MQClientException", (), [fault(S, 2 * S, FaultKind.KILL), KILL], (1, 1)),
        (10 * S - 1, 12 * S, "MQClientException", (), [KILL], (0, 0)),
        (10 * S, 12 * S + 1, "MQClientException", (), [KILL], (0, 0)),
        (11 * S, 12 * S, "MQClientException", (), [PAUSE], (0, 0)),
        (11 * S, 12 * S, None, (), [KILL], (0, 0)),
    ],
)
def test_failures_while_a_broker_is_gone(
    start_ns: int,
    end_ns: int,
    error: str | None,
    attempts: tuple[Attempt, ...],
    faults: list[FaultRecord],
    counted: tuple[int, int],
) -> None:
    """Sends that failed while a broker was killed are counted, and of these those by no timeout and without an attempt."""
    side = made(CANDIDATE, 0, *attempts, start_ns=start_ns, end_ns=end_ns, error=error)
    found = facts_of_outcomes(pair(None, side), faults=faults)
    names = "outcomes.failed-while-gone", "outcomes.failed-without-a-request"
    assert tuple(found.n(name, "failed", arm=CANDIDATE, phase="faults") for name in names) == counted


@pytest.mark.parametrize(
    ("attempts", "row", "codes"),
    [
        ([tried(0, MS, REFUSED, code=14)], {}, ("code 14",)),
        ([tried(0, MS, REFUSED, code=14)], {"code": 17}, ("code 17",)),
        ([tried(0, MS, REFUSED, code=14)], {"error": "MQClientException", "code": None}, ("code 14",)),
        ([tried(0, MS, REFUSED, code=14), tried(MS, 2 * MS, SLOW, attempt=1)], {}, ()),
        (
            [tried(0, MS, SLOW), tried(MS, 2 * MS, REFUSED, code=14, attempt=1)],
            {"error": SLOW, "code": None},
            ("code 14",),
        ),
        ([tried(0, MS, REFUSED)], {}, ()),
        ([tried(0, MS, REFUSED, code=14)], {"error": None, "code": 14}, ()),
        ([], {"error": "IllegalStateException", "code": 14}, ()),
        ([tried(0, MS, "MQClientException", code=10_005)], {}, ()),
    ],
)
def test_failures_by_a_brokers_answer_are_counted_by_code(
    attempts: list[Attempt], row: dict[str, Any], codes: tuple[str, ...]
) -> None:
    """A send that both arms made and that failed by an answer counts by its code, or by that of the last attempt."""
    found = facts_of_outcomes(pair(made(BASELINE, 0, tried(0, MS)), made(CANDIDATE, 0, *attempts, **row)))
    assert found.keys("outcomes.refused-by-broker", "candidate") == codes
    assert found.n("outcomes.refused-by-broker", phase="calm") == len(codes)


def test_a_send_that_never_returned_has_only_attempts() -> None:
    """It is compared with no other, excuses none, and counts for no situation; its attempts are still judged."""
    sides = {arm: replace(made(arm, 0, tried(11 * S, 12 * S)), row=None) for arm in Arm}
    found = facts_of_outcomes(pair(*sides.values()), faults=[PAUSE, KILL])
    assert (found.tallies, signatures(found)) == ({}, [*STOPPED, *(f"rules/{one}" for one in STOPPED)])
    lost = made(CANDIDATE, 0, tried(0, MS, LOST))
    theirs = replace(made(BASELINE, 0, tried(0, MS, LOST)), row=None)
    assert signatures(facts_of_outcomes(pair(theirs, lost))) == [f"outcomes.failed-without-cause/{LOST} 1"]
