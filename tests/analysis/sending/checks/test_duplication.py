"""The check ``duplication`` on manually built sends."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.sending.checks.storage.duplication import Duplication
from rocketdiff.analysis.sending.send_view import Copy
from rocketdiff.core.records.sending import UNSEEN_ROUTE, Attempt
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.oracle.producer.asynchronous.habits import AsyncHabits
from tests.analysis.builders import ENTRY, S, fault, made, signatures, tried
from tests.analysis.sending.checks.builders import (
    ASYNC,
    CANDIDATE,
    CONFUSED,
    CONNECT,
    PAUSE,
    REFUSED,
    SLOW,
    at,
    copied,
    examples,
    facts_alone,
)

TOO_MANY, ELSEWHERE = ["duplication.stored-more-than-attempted 1"], ["duplication.stored-elsewhere-than-claimed 1"]

HERE, THERE = at(), at("broker-a")

FAILED_THERE = tried(0, 1, SLOW, broker="broker-a")


@pytest.mark.parametrize(
    ("copies", "attempts", "wanted"),
    [
        ([HERE], [tried(0, 1)], []),
        ([HERE, HERE], [tried(0, 1)], TOO_MANY),
        ([HERE, HERE], [tried(0, 1, SLOW), tried(1, 2, attempt=1)], []),
        ([HERE, HERE, HERE], [tried(0, 1, SLOW), tried(1, 2, attempt=1)], TOO_MANY),
        ([HERE, THERE], [FAILED_THERE, tried(1, 2, attempt=1)], []),
        ([THERE, THERE], [FAILED_THERE, tried(1, 2, attempt=1)], TOO_MANY),
        ([THERE], [tried(0, 1)], ELSEWHERE),
        ([at(queue_id=1)], [tried(0, 1)], ELSEWHERE),
        ([HERE, THERE], [tried(0, 1)], sorted([*TOO_MANY, *ELSEWHERE])),
        ([HERE], [tried(0, 1, REFUSED, code=2)], TOO_MANY),
        ([HERE], [tried(0, 1, CONNECT)], TOO_MANY),
        ([HERE], [tried(0, 1, SLOW)], []),
        ([HERE, HERE], [], []),
        ([], [tried(0, 1)], []),
    ],
)
def test_copies_are_accounted_for_by_attempts(copies: list[Copy], attempts: list[Attempt], wanted: list[str]) -> None:
    """An attempt that did not certainly fail explains one copy in its queue; without attempts nothing is judged."""
    found = facts_alone(Duplication, made(CANDIDATE, 0, *attempts, copies=copies))
    assert signatures(found) == wanted
    counted = {key: found.n("duplication", key) for key in ("message", "stored-twice", "accounted")}
    assert counted == {
        "message": bool(copies),
        "stored-twice": len(copies) > 1,
        "accounted": bool(copies and attempts),
    }
    assert facts_alone(Duplication, made(CANDIDATE, 0, *attempts, copies=None)).tallies == {}


def test_a_call_that_never_returned_is_accounted_for_too() -> None:
    """A call that never returned, and found no connection, explains no copy."""
    side = made(CANDIDATE, 0, tried(0, 1, CONNECT), copies=[HERE], mode=ASYNC)
    assert signatures(facts_alone(Duplication, replace(side, row=None))) == TOO_MANY
    assert signatures(facts_alone(Duplication, replace(side, row=None), entry=PROXIED)) == TOO_MANY


def test_example_names_allowed_and_existing_copies() -> None:
    """The example names allowed and existing copies by queue."""
    found = facts_alone(Duplication, made(CANDIDATE, 0, tried(0, 1), copies=[HERE, HERE, at(queue_id=1)]))
    reported = {divergence.signature: divergence.example for each in found.divergences.values() for divergence in each}
    assert reported["duplication.stored-more-than-attempted"].expected.startswith(
        "at most 1 copy in broker-b queue 0, one"
    )
    assert reported["duplication.stored-more-than-attempted"].observed == "2 copies in broker-b queue 0"
    assert reported["duplication.stored-elsewhere-than-claimed"].expected == "copies only in broker-b queue 0"
    assert reported["duplication.stored-elsewhere-than-claimed"].observed == "1 copy in broker-b queue 1"
    elsewhere = facts_alone(Duplication, made(CANDIDATE, 0, tried(0, 1), copies=[HERE, at(queue_id=1)]))
    reported = {
        divergence.signature: divergence.example for each in elsewhere.divergences.values() for divergence in each
    }
    assert reported["duplication.stored-more-than-attempted"].expected.startswith("at most 1 in all")
    assert (
        reported["duplication.stored-more-than-attempted"].observed
        == "1 copy in broker-b queue 0, 1 copy in broker-b queue 1"
    )


@pytest.mark.parametrize("rewrites", [False, True])
@pytest.mark.parametrize(
    ("place", "is_torn"),
    [(at(queue_id=1), True), (at("broker-a"), True), (at("broker-a", 1), False), (at(), None)],
    ids=["the broker", "the queue id", "neither", "both"],
)
def test_a_rewritten_queue_has_the_broker_or_the_number_that_was_read(
    place: Copy, is_torn: bool | None, rewrites: bool
) -> None:
    """Where threads rewrite queues, a copy may lie at the broker, or under the queue id, of an attempt."""
    found = facts_alone(Duplication, made(CANDIDATE, 0, tried(0, 1), copies=[place]), rewrites=rewrites)
    assert signatures(found) == ([] if is_torn is None or (rewrites and is_torn) else ELSEWHERE)


PROXIED = replace(ENTRY, topology="two-masters-proxy")


@pytest.mark.parametrize(
    ("copies", "attempts", "row", "wanted"),
    [
        ([at("broker-a", 3)], [tried(0, 1)], {}, None),
        ([HERE, THERE], [tried(0, 1, SLOW), tried(1, 2, attempt=1)], {}, None),
        ([HERE, THERE], [tried(0, 1)], {}, ("1", "1 copy in broker-a queue 0, 1 copy in broker-b queue 0")),
        ([HERE, HERE], [tried(0, 1, CONNECT), tried(1, 2, attempt=1)], {}, ("1", "2 copies in broker-b queue 0")),
        ([THERE], [tried(0, 1, CONNECT)], {}, ("0", "1 copy in broker-a queue 0")),
        ([HERE, THERE], [tried(0, 1)], {"route": UNSEEN_ROUTE}, None),
    ],
)
def test_behind_a_proxy_copies_are_counted_over_all_queues(
    copies: list[Copy], attempts: list[Attempt], row: dict[str, Any], wanted: tuple[str, str] | None
) -> None:
    """The proxy chooses the queue. If the witness saw no route, it may not have seen every attempt."""
    found = facts_alone(Duplication, made(CANDIDATE, 0, *attempts, copies=copies, **row), entry=PROXIED)
    assert examples(found) == (
        {}
        if wanted is None
        else {
            "stored-more-than-attempted": (
                f"at most {wanted[0]} in all, one an attempt that did not certainly fail",
                wanted[1],
            )
        }
    )


KEPT = copied(queue_id=2, REAL_QID="0")


@pytest.mark.parametrize(
    ("faults", "kept", "twice", "unanswered"),
    [
        ((fault(10 * S, 14 * S, FaultKind.KILL),), (KEPT,), [], []),
        ((fault(10 * S, 14 * S, FaultKind.KILL),), (KEPT, KEPT), TOO_MANY, TOO_MANY),
        ((fault(10 * S, 14 * S, FaultKind.KILL),), (), TOO_MANY, []),
        ((fault(10 * S, 14 * S, FaultKind.KILL),), (copied(queue_id=2),), [], []),
        ((fault(10 * S, 14 * S, FaultKind.KILL, "broker-a"),), (KEPT,), TOO_MANY, []),
        ((PAUSE,), (KEPT,), TOO_MANY, []),
    ],
)
def test_a_killed_broker_delivers_delayed_messages_again(
    faults: tuple[FaultRecord, ...], kept: tuple[Copy, ...], twice: list[str], unanswered: list[str]
) -> None:
    """On a broker that was killed, a delayed message counts as often as it was kept back, not delivered; once after an answer it may."""
    side = replace(made(CANDIDATE, 0, tried(0, 1), copies=[HERE, HERE]), kept=kept)
    assert signatures(facts_alone(Duplication, side, faults=faults)) == twice
    side = replace(made(CANDIDATE, 0, tried(0, 1, SLOW), copies=[HERE]), kept=kept)
    assert signatures(facts_alone(Duplication, side, faults=faults)) == unanswered
    side = replace(made(CANDIDATE, 0, FAILED_THERE, tried(0, 1), copies=[HERE]), kept=kept)
    assert signatures(facts_alone(Duplication, side, faults=faults)) == []


NO_CONNECTION = tried(11 * S, 11 * S + 1, CONNECT)


@pytest.mark.parametrize(
    ("mode", "attempts", "wanted"),
    [
        (ASYNC, [NO_CONNECTION], []),
        (SendMode.SYNC, [NO_CONNECTION], TOO_MANY),
        (ASYNC, [tried(11 * S, 11 * S + 1, REFUSED, code=2)], TOO_MANY),
        (ASYNC, [tried(11 * S, 11 * S + 1, "MQClientException")], []),
        (ASYNC, [replace(NO_CONNECTION, broker="broker-a")] * 2 + [NO_CONNECTION], TOO_MANY),
        (ASYNC, [replace(NO_CONNECTION, broker="broker-a"), NO_CONNECTION], []),
        (ASYNC, [NO_CONNECTION, replace(NO_CONNECTION, broker="broker-a")], TOO_MANY),
    ],
)
def test_the_last_of_an_asynchronous_sends_attempts_may_hide_a_retry(
    mode: SendMode, attempts: list[Attempt], wanted: list[str]
) -> None:
    """An asynchronous send's last attempt may hide a retry, unless it is the third or the broker answered."""
    reported = [replace(one, attempt=n) for n, one in enumerate(attempts)]
    assert signatures(facts_alone(Duplication, made(CANDIDATE, 0, *reported, copies=[HERE], mode=mode))) == wanted


@pytest.mark.parametrize(
    ("copies", "habits", "start_s", "wanted", "refused"),
    [
        ([HERE], CONFUSED, 11, [], 1),
        ([HERE], AsyncHabits(False), 11, TOO_MANY, 0),
        ([HERE], CONFUSED, 1, TOO_MANY, 0),
        ([HERE, HERE], CONFUSED, 11, TOO_MANY, 1),
        ([THERE], CONFUSED, 11, ELSEWHERE, 0),
    ],
)
def test_a_refusal_may_be_anothers_where_answers_are_confused(
    copies: list[Copy], habits: AsyncHabits, start_s: int, wanted: list[str], refused: int
) -> None:
    """Where answers are confused near a fault, a refused attempt may have left one copy."""
    attempt = tried(start_s * S, start_s * S + 1, REFUSED, code=2)
    side = made(CANDIDATE, 0, attempt, copies=copies, mode=ASYNC, faults=(PAUSE,))
    found = facts_alone(Duplication, side, faults=(PAUSE,), habits=habits)
    assert signatures(found) == wanted
    assert found.n("duplication.refused", "stored") == refused


@pytest.mark.parametrize(
    ("error", "copies", "refused", "wanted"),
    [(None, 2, 1, []), (REFUSED, 2, 2, []), (CONNECT, 2, 2, []), (CONNECT, 3, 2, TOO_MANY)],
)
def test_only_refused_attempts_leave_more_copies(
    error: str | None, copies: int, refused: int, wanted: list[str]
) -> None:
    """Of three attempts the last two were refused, so only they may have left a copy more."""
    times = 11 * S, 11 * S + 1
    each = tried(*times, error), *(tried(*times, REFUSED, code=2, attempt=n) for n in (1, 2))
    side = made(CANDIDATE, 0, *each, copies=[HERE] * copies, mode=ASYNC, faults=(PAUSE,))
    found = facts_alone(Duplication, side, faults=(PAUSE,), habits=CONFUSED)
    assert (signatures(found), found.n("duplication.refused", "stored")) == (wanted, refused)
