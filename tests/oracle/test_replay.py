"""
Histories and their differences, derived by hand: first without fault latency, then with it.

A row is a release, a history, and the signatures of all differences in order ("undecided" for an undecided send).
"""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.core.records.sending import UNSEEN_ROUTE
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.signatures import GAVE_UP_BEFORE_TIMEOUT
from rocketdiff.oracle.producer.replay import Replay, replay_for
from rocketdiff.oracle.producer.states.belief import Belief
from rocketdiff.oracle.producer.states.stationary import NEVER_MS, Stationary
from rocketmq_reference.dialects import dialect_of
from tests.oracle.histories import history, routes
from tests.oracle.judging import judged, legal, signatures

OUT_OF_TURN, MUTATED = "queue.out-of-turn/first", "queue.mutated-list/first"
WENT_ON, STOPPED = "attempts.went-on/retry", "attempts.stopped-early/retry"
USED, STAYED_AWAY = "avoidance.used-avoided-broker/first", "avoidance.stayed-away-from-available-broker/first"
OTHER_END = "error.other-class/expected=MQClientException/seen=MQBrokerException/retry"
OTHER_CODE = "error.other-code/expected=10001/seen=10002/retry"
OTHER_CLASS = "error.other-class/expected=RemotingConnectException/seen=MQClientException/first"

GAVE_UP = GAVE_UP_BEFORE_TIMEOUT.name
EARLY = "a0 1500 refused > b0 1600 timeout > a0 1"

REFUSED_TWICE = "0 a1 1 refused > b0 1 refused"
REFUSED_THRICE = f"{REFUSED_TWICE} > a0 1 refused"
ONE_LIST, TWO_LISTS = ("a4",), ("a4 b4", "a2 c2")

Row = tuple[str, str, str | tuple[str, ...], dict[str, Any]]


def row(release: str, text: str, *found: str, lists: tuple[str, ...] = (), **settings: Any) -> Row:
    return release, text, found, {"lists": lists, **settings}


PLAIN: dict[str, list[Row]] = {
    "a queue out of turn differs once: afterwards the index is the observed one": [
        row("5.3.3", "0 b2 2 | 20 b3 2 | 40 a0 2"),
        row("5.3.3", "0 a0 2 | 20 a1 2 | 40 b0 2 | 60 b1 2", OUT_OF_TURN),
    ],
    "A4: a retry from a1 past a2 and a3 to b0 takes one tick in P1, three in P2": [
        row(release, f"0 a0 2 | 20 a1 1 refused > b0 1 | 40 {queue} 1", *found)
        for release, right in (("4.7.1", "a3"), ("4.8.0", "b1"), ("5.3.3", "b1"))
        for queue, found in (("a3", [OUT_OF_TURN][right == "a3" :]), ("b1", [OUT_OF_TURN][right == "b1" :]))
    ],
    "A3: a retry returns to the failed broker only if there is no other; P2 skips all four queues, P1 one more": [
        row("5.3.3", "0 a1 1 refused > a2 1", "retry.returned-to-failed-broker/retry"),
        row("5.3.3", "0 a1 1 refused > a2 1 | 20 a3 1", lists=ONE_LIST),
        row("4.7.1", "0 a1 1 refused > a3 1 | 20 a0 1", lists=ONE_LIST),
    ],
    "from 4.3.0 no attempt follows a timeout, in 4.2.0 one does": [
        row("4.3.0", "0 a1 3002 timeout ! too-much"),
        row("4.3.0", "0 a1 3002 timeout > b0 2", WENT_ON),
        row("4.2.0", "0 a1 3002 timeout ! too-much", STOPPED),
        row("4.2.0", "0 a1 3002 timeout > b0 2"),
    ],
    "in the last ms of its time, read as 3,000 or 3,001, a call may end or go on; 3 ms later it may not": [
        row("5.3.3", "0 a3 3000 timeout ! too-much"),
        row("5.3.3", "0 a3 3000 timeout > b0 0.1 timeout ! too-much"),
        row("5.3.3", "0 a3 3000 timeout > b0 1 timeout > a0 1 timeout ! client/10002"),
        row("5.3.3", "0 a3 3000 timeout > b0 3 timeout > a0 1 timeout ! client/10002", WENT_ON),
    ],
    "a retry is selected before the time is checked, so a call that timed out has moved the index to b1": [
        row("5.3.3", "0 a0 1 | 20 a1 3002 timeout ! too-much | 4000 b1 1"),
        row("5.3.3", "0 a0 1 | 20 a1 3002 timeout ! too-much | 4000 a2 1", OUT_OF_TURN),
    ],
    "after three refused attempts the call throws MQClientException with 10001; Java's −1 is no code": [
        row("5.3.3", f"{REFUSED_THRICE} ! client/10001"),
        row("5.3.3", "0 a1 1 lost > b0 1 lost > a0 1 lost ! client/-1"),
    ],
    "a busy broker is retried from 5.3.0 on": [
        row("5.3.0", "0 a1 1 busy > b0 1"),
        row("5.2.0", "0 a1 1 busy > b0 1", WENT_ON),
        row("5.2.0", "0 a1 1 busy"),
        row("5.3.0", "0 a1 1 busy", STOPPED),
    ],
    "C2: as many retries as set": [
        row("5.3.3", f"{REFUSED_TWICE} ! client/10002", OTHER_CODE, retries=1),
        row("5.3.3", f"{REFUSED_TWICE} ! client/10001", retries=1),
        row("5.3.3", f"{REFUSED_TWICE} ! client/10001", STOPPED),
        row("5.3.3", f"{REFUSED_THRICE} ! client/10001", WENT_ON, retries=1),
    ],
    "a status other than SEND_OK is returned, or retried if set so": [
        row("5.3.3", "0 a1 1 SLAVE_NOT_AVAILABLE"),
        row("5.3.3", "0 a1 1 SLAVE_NOT_AVAILABLE", STOPPED, not_store_ok=True),
        row("5.3.3", "0 a1 1 SLAVE_NOT_AVAILABLE > b0 1", not_store_ok=True),
    ],
    "an explicit queue (5 is b1 in publish order) does not move the rotation, and a selector's is modulo their number": [
        row("5.3.3", "0 a0 1 | 20 =q5 b1 1 | 40 =q13 b1 1 | 60 a1 1"),
        row("5.3.3", "0 =q5 b2 1", OUT_OF_TURN),
        row("5.3.3", "0 =s10 a2 1 | 20 =s7 b3 1"),
    ],
    "a send to an explicit queue has no retry and no wrapped exception (section 3.7)": [
        row("5.3.3", "0 =q5 b1 1 refused"),
        row("5.3.3", "0 =q5 b1 1 refused ! client/10001", OTHER_CLASS),
        row("5.3.3", "0 =q5 b1 1 refused > b1 1", WENT_ON),
    ],
    "if the route changes during a call, a1 of the old list and all of the new one are legal": [
        row("5.3.3", "0 a0 1 | 20 r1-2 a1 1", lists=TWO_LISTS),
        row("5.3.3", "0 a0 1 | 20 r1-2 c0 1", lists=TWO_LISTS),
        row("5.3.3", "0 a0 1 | 20 r1-2 b3 1", OUT_OF_TURN, lists=TWO_LISTS),
    ],
    "an attempt at a broker without an address is invisible: code 10003 shows it, and nothing else excuses a skipped one": [
        row("5.3.3", "0 ! client/10003"),
        row("5.3.3", "0 ! client-refused"),
        row("5.3.3", "0 a3 1 refused ! client/10003", retries=1),
        row("5.3.3", "0 a2 1 | 20 a3 1 | 40 c0 1", OUT_OF_TURN, lists=("a4 b1 c1",)),
        row("5.3.3", "0 =q5 ! client"),
        row("5.3.3", "0 =q5 ! broker/2", "attempts.stopped-early/first"),
    ],
    "after an undecided send the index is open, unless the application named the queue": [
        row("5.3.3", "0 a0 1 | 20 r0 a1 1 | 40 a2 1 | 60 a3 1", "undecided"),
        row("5.3.3", "0 a0 1 | 20 r0 a1 1 | 40 a2 1 | 60 b0 1", "undecided", OUT_OF_TURN),
        row("5.3.3", "0 a0 1 | 20 r0 =q5 b1 1 | 40 a2 1", "undecided", OUT_OF_TURN),
    ],
    "after a wrong exception the index is known, after a call that stopped early it is open": [
        row("5.3.3", f"{REFUSED_THRICE} ! client/10002 | 40 a1 1", OTHER_CODE),
        *(row("5.3.3", f"0 a1 1 refused ! client/10001 | 40 {queue} 1", STOPPED) for queue in ("a0", "b2")),
    ],
    "a call without a route ends by an unknown topic or, from 4.6.0 on, by an unreachable name server": [
        row("4.5.2", "0 r0 ! client/10005"),
        row("5.3.3", "0 r0 ! client/10005"),
        row("5.3.3", "0 r0 ! state"),
    ],
    "a poll may have emptied the list as the call began; without one there were queues to try": [
        row("5.3.3", "0 r1-2 ! client/10005", lists=("a4 b4", "")),
        row("5.3.3", "0 ! client/10005", "attempts.stopped-early/first"),
        row("4.5.2", "0 r1-2 ! state", "attempts.stopped-early/first", lists=("a4 b4", "")),
        row("5.3.3", "0", "attempts.stopped-early/first"),
    ],
    "a send with attempts but an unknown list is undecided, and so is its thread's counter": [
        row("5.3.3", "0 r7 a0 1", "undecided"),
        row("5.3.3", "t0 0 a0 1 | t1 0 a0 1 | t0 20 r7 a1 1 | t0 40 b0 1 | t1 40 b0 1", "undecided", OUT_OF_TURN),
    ],
    "a call that may have had either list is not known the next time: with the second, the first begins anew": [
        row("5.3.3", "0 a0 1 | 20 r1-2 a1 1 | 40 a0 1 | 60 r1-2 a1 1 | 80 a1 1", lists=("a2", "a2 b2")),
    ],
    "an end of another class is an end: the next call follows the last attempt": [
        row("5.3.3", f"{REFUSED_THRICE} ! broker | 20 a1 1", OTHER_END),
        row("5.3.3", f"{REFUSED_THRICE} ! broker | 20 a2 1", OTHER_END, OUT_OF_TURN),
    ],
    "a known call whose second attempt gave up early did so again": [
        row("4.2.0", f"0 b0 1 | 20 {EARLY} | 10000 b0 1 | 10020 {EARLY}", GAVE_UP, GAVE_UP, lists=("a1 b1",)),
    ],
}

FAILED_B = "0 a3 1 | 20 b0 502 timeout ! too-much"
"""b is avoided from 522.1–522.2 ms on: 10 s in 5.3.3, 10 min up to 5.1.3. In 5.3.3 the call has drawn a new index."""

SHORT: dict[str, Any] = {"timeout": 500}
REWRITTEN = "0 a0 1 | 20 a1 1 refused > a0 1 | 40 a1 1 | 60 b0 1"
"""
In 4.7.1, list a0 a1 b0 b1: a1 fails at tick 1. The retry starts at tick 2, writes queue 4 % 2 = 0 of a over the element of tick 3
(b1), succeeds and ends the avoidance of a. The next sends are tick 5, a1; tick 6, b0; and tick 7, a0 over b1.
"""

AVOIDING: dict[str, list[Row]] = {
    "an avoidance ends 10 s after 522.1–522.2 ms; around its end both are legal, and later b0 may not be skipped": [
        row("5.3.3", f"{FAILED_B} | 10400 a3 1 | 10518 b0 1", USED, **SHORT),
        row("5.3.3", f"{FAILED_B} | 10400 a0 1 | 10521.1 b0 1", OUT_OF_TURN, **SHORT),
        row("5.3.3", f"{FAILED_B} | 10400 a3 1 | 10522.2 b0 1", **SHORT),
        row("5.3.3", f"{FAILED_B} | 10400 a3 1 | 10522.1 b0 1", **SHORT),
        row("5.3.3", f"{FAILED_B} | 10400 a3 1 | 10522.1 a0 1", **SHORT),
        row("5.3.3", f"{FAILED_B} | 10400 a3 1 | 11000 a0 1", STAYED_AWAY, **SHORT),
    ],
    "in 4.9.8 the index is at b0 and the retry without time takes b1; the sends from b2, b3 and a0 on all take a0": [
        row("4.9.8", f"{FAILED_B} | 600 a0 1 | 620 a0 1 | 640 a0 1 | 660 a1 1", **SHORT),
        row("5.3.3", f"{FAILED_B} | 600 a0 1 | 620 a0 1 | 640 a0 1 | 660 a1 1", OUT_OF_TURN, **SHORT),
    ],
    "every send to an avoided broker differs": [
        row("5.3.3", f"{FAILED_B} | 600 b1 1 | 620 b2 1 | 640 b3 1", USED, USED, USED, **SHORT),
    ],
    "a latency of 549 to 551 ms may cause an avoidance of 2 s, 540 ms does not and 560 ms does": [
        *(
            row("5.3.3", f"0 a3 1 | 20 b0 {latency} | 600 {queue} 1")
            for latency in (549.7, 550.3)
            for queue in ("b1", "a0")
        ),
        row("5.3.3", "0 a3 1 | 20 b0 540 | 700 b1 1"),
        row("5.3.3", "0 a3 1 | 20 b0 540 | 700 a0 1", STAYED_AWAY),
        row("5.3.3", "0 a3 1 | 20 b0 560 | 700 b1 1", USED),
        row("5.3.3", "0 a3 1 | 20 b0 560 | 700 a0 1"),
    ],
    "K02: a retry of 4.7.1 falls back to broker a, the only known one; 4.8.0 does not": [
        row("4.7.1", "0 a0 1 | 20 a1 1 refused > a0 1", lists=("a2 b2",)),
        row("4.8.0", "0 a0 1 | 20 a1 1 refused > a0 1", "avoidance.used-avoided-broker/retry", lists=("a2 b2",)),
    ],
    "in 4.7.1 later sends use the rewritten list": [
        row("4.7.1", f"{REWRITTEN} | 80 a0 1", lists=("a2 b2",)),
        row("4.7.1", f"{REWRITTEN} | 80 a1 1", MUTATED, lists=("a2 b2",)),
        row("4.7.1", f"{REWRITTEN} | 80 b1 1", MUTATED, lists=("a2 b2",)),
    ],
    "a list of the route that came back is a new one": [
        row("4.7.1", f"{REWRITTEN} | 80 r2 a0 1 | 100 b1 1", lists=("a2 b2", "a2")),
    ],
    "a wrong choice is noted with its own latency, even 100 s into the run": [
        row("5.3.3", "0 a0 1 | 100000 b0 1 | 100020 b1 1", OUT_OF_TURN),
        row("5.3.3", "0 a0 1 | 100000 b0 700 | 100720 b1 1", OUT_OF_TURN, USED),
    ],
    "a send to a given queue has two decision points among threads and does not move their rotation": [
        row("5.3.3", "t0 0 =q5 b1 1 | t1 0 a0 1 | t0 20 =q1 a1 1 refused | t1 20 a1 1"),
        row("5.3.3", "t0 0 =q5 b1 1 | t1 0 a0 1 | t0 20 =q1 a1 1 refused ! client/10001 | t1 20 a1 1", OTHER_CLASS),
    ],
    "the only broker is used although it is avoided": [
        row(release, "0 a0 700 | 800 a0 1 | 820 a0 1", lists=("a1",)) for release in ("4.9.8", "5.3.3")
    ],
    "K14: only 5.1.4 avoids a broker for ever after an error, unreachable without a detector": [
        row(release, f"0 a0 1 | 20 a1 1 error > b1 1 | 40 b2 1 | 60 b3 1 | 20000 {queue} 1", *found)
        for release, queue, found in (
            ("5.1.4", "b0", []),
            ("5.1.4", "a0", [USED]),
            ("5.2.0", "a0", []),
            ("5.2.0", "b0", [STAYED_AWAY]),
        )
    ],
    "an undecided send may have failed at any broker, so no avoidance is certain afterwards": [
        row(
            "5.3.3",
            "0 a3 1 | 20 r0 b0 1 refused > a1 1 | 40 a2 1 | 60 a3 1 | 80 a0 1 | 100 a1 1",
            "undecided",
            "undecided",
        ),
    ],
}


BOTH_KNOWN = "0 a0 700 | 800 b0 1"
"""a is avoided until 30,700 ms; b, which answered at once, is the best known. Then b leaves the list."""

LEFT: dict[str, Any] = {"lists": ("a2 b2", "a2"), "retries": 0}
LEFT_BROKERS: dict[str, list[Row]] = {
    "b, which has left the list a0 a1, replaces a1, and later sends find it": [
        row(release, f"{BOTH_KNOWN} | 1000 r2 b0 1 | 1100 r2 b0 1 | 1200 r2 b0 1", **LEFT)
        for release in ("4.3.2", "4.7.1", "4.9.7")
    ],
    "if b was unregistered, its item is dropped, and a's queues follow in rotation": [
        row("4.7.1", f"{BOTH_KNOWN} | 1000 r2 a0 1 | 1100 r2 a1 1", **LEFT),
        row("4.7.1", f"{BOTH_KNOWN} | 1000 r2 a1 1 | 1100 r2 a0 1", **LEFT),
    ],
    "b had two queues": [
        row(release, f"{BOTH_KNOWN} | 1000 r2 b2 1", MUTATED, **LEFT) for release in ("4.3.2", "4.9.7")
    ],
    "after b0 replaced a1, b1 is never next, and a is still avoided": [
        row("4.7.1", f"{BOTH_KNOWN} | 1000 r2 b0 1 | 1100 r2 b1 1", MUTATED, **LEFT),
        row("4.7.1", f"{BOTH_KNOWN} | 1000 r2 b0 1 | 1100 r2 a0 1", USED, **LEFT),
    ],
    "from 5.1.4 on there is no fallback": [row("5.3.3", f"{BOTH_KNOWN} | 1000 r2 b0 1", OUT_OF_TURN, **LEFT)],
}
"""TopicPublishInfo.getQueueIdByBroker reads topicRouteData, which has brokers without write permission, too."""


BOTH_BEGIN = "t0 0 a3 1 | t1 0.05 a0 1 | t0 20 b0 1 refused > a1 1 | t1 40 a1 1 | t1 60 a2 1 | t1 80 a3 1"
"""Thread 1 has sent to a0; b failed in thread 0 at 21.1 ms."""

SAME_INSTANT = "t0 0 a3 1 | t1 0 a1 1 | t1 20 a2 1 | t1 40 a3 1"
TO_B3 = "t0 40 b1 1 | t0 60 b2 1 | t0 80 b3 1"
FAILS_AT_82 = f"{SAME_INSTANT} | t0 81 b0 1 refused > a0 1"
ANSWERS_AT_681 = f"{SAME_INSTANT} | t0 81 b0 600"

THREADS: dict[str, list[Row]] = {
    "after b failed in thread 0, thread 1 must avoid it": [
        row("5.3.3", f"{BOTH_BEGIN} | t1 100 a0 1"),
        row("5.3.3", f"{BOTH_BEGIN} | t1 100 b0 1", USED),
    ],
    "a choice at 82.05–82.15 ms may come before or after another thread's failure at 82.1–82.2 ms": [
        row("5.3.3", f"{FAILS_AT_82} | t1 82.05 b0 1"),
        row("5.3.3", f"{FAILS_AT_82} | t1 82.05 a0 1"),
        row("5.3.3", f"{FAILS_AT_82} | t1 82.25 b0 1", USED),
        row("5.3.3", f"{FAILS_AT_82} | t1 81.5 a0 0.1", OUT_OF_TURN),
    ],
    "a choice may come before or after another thread's slow answer, at 681.1–681.2 ms": [
        row("5.3.3", f"{ANSWERS_AT_681} | t1 681.05 b0 1"),
        row("5.3.3", f"{ANSWERS_AT_681} | t1 681.05 a0 1"),
        row("5.3.3", f"{ANSWERS_AT_681} | t1 680 a0 1", OUT_OF_TURN),
        row("5.3.3", f"{ANSWERS_AT_681} | t1 681.25 b0 1", USED),
    ],
    "a quick answer, at 310.1–310.2 ms, does not end the avoidance of its broker": [
        row(
            "5.3.3",
            f"t0 0 a0 1 | t1 0.05 a0 1 | t1 10 a1 300 | t0 20 a1 1 refused > b0 1 | {TO_B3} | t0 310.05 a0 1",
            USED,
        ),
    ],
    "the end of a send to a given queue notes nothing of the broker of an earlier send": [
        row("5.3.3", "t0 0 b0 1 | t1 0.05 a3 1 | t0 20 =q1 a1 1 refused | t1 21.15 b1 1", OUT_OF_TURN),
    ],
    "within 50 ms all orders of two threads are tried, and one is legal": [
        row("5.3.3", "t0 0 a0 1 | t1 0 a0 1 | t0 2 a1 1 refused > b0 1 | t1 2 a1 1 refused > b2 1"),
    ],
}


def rows(table: dict[str, list[Row]]) -> list[Any]:
    return [pytest.param(*one, id=f"{shown}-{n}") for shown, each in table.items() for n, one in enumerate(each)]


def test_a_choice_beside_a_failure_counts_the_queues_of_either_order() -> None:
    """Before the failure b0 is legal, after it a0 to a3."""
    for queue in ("b0", "a0"):
        assert legal(judged("5.3.3", f"{FAILS_AT_82} | t1 82.05 {queue} 1", on=True))[-1] == [5]


@pytest.mark.parametrize(("release", "text", "found", "given"), rows(PLAIN))
def test_differences_without_fault_latency(
    release: str, text: str, found: tuple[str, ...], given: dict[str, Any]
) -> None:
    """A history without fault latency has the differences of its row."""
    settings = dict(given)
    assert signatures(release, text, *settings.pop("lists"), **settings) == list(found)


@pytest.mark.parametrize(("release", "text", "found", "given"), rows(AVOIDING | LEFT_BROKERS | THREADS))
def test_differences_with_fault_latency(release: str, text: str, found: tuple[str, ...], given: dict[str, Any]) -> None:
    """A history with fault latency has the differences of its row."""
    settings = dict(given)
    assert signatures(release, text, *settings.pop("lists"), on=True, **settings) == list(found)


@pytest.mark.parametrize("seen", ["b3 1", ""])
def test_a_send_whose_witness_cannot_have_seen_all_is_undecided(seen: str) -> None:
    """A send whose witness cannot have seen all is undecided; the next may take any queue."""
    sends = history(f"0 a0 2 | 20 {seen} | 40 b2 1 | 60 b3 1 | 80 a1 1")
    sends[1] = replace(sends[1], route=UNSEEN_ROUTE, route_after=UNSEEN_ROUTE)
    judgements = list(replay_for("5.3.3", ClientSettings(), routes("a4 b4")).judge_all(sends))
    assert [one.undecided is not None for one in judgements] == [False, True, False, False, False]
    assert [one.difference is not None for one in judgements] == [False, False, False, False, True]


def test_without_a_witness_attempts_and_status_are_not_required() -> None:
    """A client that does not show its attempts needs neither an attempt nor a status."""
    bare = replace(history("0 a0 1")[0], status=None, broker=None, queue_id=None)
    for send in (history("0")[0], bare):
        (judgement,) = replay_for("5.3.3", ClientSettings(), routes("a4"), witnessed=False).judge_all([send])
        assert judgement.difference is None


def test_an_unknown_release_is_a_usage_error() -> None:
    """An unknown release is a UsageError that lists the known ones."""
    with pytest.raises(UsageError, match=r"5\.5\.0"):
        replay_for("6.0.0", ClientSettings(), routes("a4"))


def after(story: str, release: str = "5.3.3", *, on: bool = True) -> Replay:
    """A replay with fault latency that has judged a history of one thread."""
    settings = ClientSettings(send_latency_fault_enable=on, send_msg_timeout_ms=500)
    replay = replay_for(release, settings, routes("a4 b4"))
    assert [one.difference for one in replay.judge_all(history(story))] == [None] * len(history(story))
    return replay


@pytest.mark.parametrize(("position", "stands"), [(3, True), (2, False)])
def test_calls_take_queues_in_turn_after_the_last_position(position: int, stands: bool) -> None:
    """Without fault latency calls follow the rotation after a3; with a given queue only the version of the list matters."""
    replay = after("0 a2 1 | 20 a3 1", on=False)
    assert replay.stands_at(0, 1, position) is stands
    assert replay.stands_at(0, 1, None)
    assert not replay.stands_at(1, 1, None), "the other thread has not called yet"


@pytest.mark.parametrize(
    ("counters", "in_turn", "of_the_list"),
    [
        ([(1, 3), (1, 11)], True, True),
        ([(1, 3), (1, 2)], False, True),
        ([(1, None)], False, True),
        ([(1, 3), (2, 3)], False, False),
    ],
)
def test_every_state_stands_at_the_position(
    counters: list[tuple[int, int | None]], in_turn: bool, of_the_list: bool
) -> None:
    """List and counter of the thread in each of its states; an unknown counter is at none."""
    replay = replay_for("5.3.3", ClientSettings(), routes("a4 b4"))
    replay.belief = Belief([replay.belief.states[0].copy(replay.transitions.tape, 0) for _ in counters])
    for state, (version, value) in zip(replay.belief.states, counters, strict=True):
        state.thread_state(0).version, state.thread_state(0).index.value = version, value
    assert [replay.stands_at(0, 1, 3), replay.stands_at(0, 1, None)] == [in_turn, of_the_list]


@pytest.mark.parametrize(
    ("release", "calm", "tick", "end_ms"),
    [("5.3.3", "600 a2 1 | 620 a3 1", 3, (10_522, 10_523)), ("4.9.8", "600 a0 1 | 620 a0 1", 7, (600_522, 600_523))],
)
def test_a_stationary_belief(release: str, calm: str, tick: int, end_ms: tuple[int, int]) -> None:
    """
    After b failed and a answered twice, b is avoided until a known time.

    The counter of 5.3.3 stands at the last queue; that of 4.9.8 at b3, from where a0 is the next queue of a.
    """
    belief = after(f"{FAILED_B} | {calm}", release).stationary(0, 1)
    assert belief is not None
    assert [queue.queue_id for queue in belief.queues] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert (belief.tick, belief.ticks_per_queue, belief.unreachable) == (tick, release == "5.3.3", False)
    assert belief.avoided_ms["b"] == end_ms


@pytest.mark.parametrize("release", ["4.0.0-incubating", "4.9.8", "5.1.3", "5.1.4", "5.3.3"])
def test_a_table_that_only_extends_belongs_to_a_counter_that_stops_at_queues(release: str) -> None:
    """So calls are passed over by counting where the last ones are judged too, and otherwise by the last queue."""
    rules = dialect_of(release).producer
    assert rules.ticks_per_queue is rules.fault_table.extends_only
    kept = [
        replay_for(release, ClientSettings(send_latency_fault_enable=on), {}).remembers_calls for on in (True, False)
    ]
    assert kept == [not rules.fault_table.extends_only, False]


@pytest.mark.parametrize(("release", "is_for_ever"), [("5.1.4", True), ("5.2.0", False)])
def test_a_broker_unreachable_without_a_detector_stays_avoided(release: str, is_for_ever: bool) -> None:
    """Only in 5.1.4 after a broker's error."""
    belief = after("0 a0 1 | 20 a1 1 error > b1 1 | 40 b2 1", release).stationary(0, 1)
    assert belief is not None and belief.unreachable
    assert (belief.avoided_ms["a"] == (NEVER_MS, NEVER_MS)) is is_for_ever


def test_calls_passed_over_leave_what_judged_ones_leave() -> None:
    """After b's avoidance or its first calls, passed over or judged: the same counter and items, whose start alone has an effect."""
    for before in (f"{FAILED_B} | 600 a2 1 | 11000 a3 1", "0 a2 1 | 20 a3 1"):
        judged, passed = (after(before) for _ in range(2))
        assert [one.difference for one in judged.judge_all(history("11020 b0 1 | 11040 b1 1"))] == [None, None]
        assert not passed.remembers_calls
        passed.pass_to(0, 5, ["b"])
        assert passed.belief.states[0].key() == judged.belief.states[0].key()
        assert passed.stationary(0, 1) == judged.stationary(0, 1)


def test_counters_of_calls_passed_over_move_by_one_a_call() -> None:
    """In 4.9.8, where each call takes one tick, eight of a list of eight are a whole turn."""
    judged, passed = (after(f"{FAILED_B} | 600 a0 1", "4.9.8") for _ in range(2))
    assert [one.difference for one in judged.judge_all(history("620 a0 1 | 640 a0 1"))] == [None, None]
    for calls in (2, 8):
        passed.pass_over(0, calls)
        assert [one.belief.states[0].thread_state(0).index.value for one in (judged, passed)] == [
            judged.belief.states[0].thread_state(0).index.value
        ] * 2


def test_no_belief_is_stationary_with_an_unknown_counter_or_list() -> None:
    """Nothing is stationary before a thread's first call, after an unjudged one, or for another list."""
    replay = after("0 a2 1 | 20 a3 1")
    assert replay.stationary(0, 1) is not None
    assert replay.stationary(1, 1) is None
    assert replay.stationary(0, 2) is None
    (state,) = replay.belief.states
    for belief in (Belief([state], complete=False), Belief([state, state])):
        assert Stationary.of(belief, 0, 1) is None
    state.forget_index(0)
    assert replay.stationary(0, 1) is None
    replay.reopen(0)
    assert replay.stationary(0, 1) is None
