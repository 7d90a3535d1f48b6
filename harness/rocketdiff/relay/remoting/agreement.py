"""
The story of a client's hook held against the wire's: the same requests, in the same order, to the same queues, ended alike.

The wire's attempts of a send must be among those told, in their order; what is told beside them must be of a kind that sends
nothing, or have been handed over to a connection that was just lost, or be a retry of an asynchronous send whose time was up.
Of an attempt that is told with ``UNSEEN_END`` the wire may have seen any end. So a hook that hides, invents or misplaces an attempt is seen, whichever witness is wrong.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rocketdiff.core.records import UNSEEN_END, AttemptEnded
from rocketdiff.relay.remoting.blind_spots import BlindSpot

NEVER_LEFT = frozenset(
    {"RemotingTooMuchRequestException", "RemotingConnectException", "RemotingSendRequestException", "MQClientException"}
)
"""A budget used up to the millisecond, a connection that was refused or gone, a message refused: nothing was sent."""

NO_TIME_NS = 10_000_000
"""
A timeout that came sooner than this had no budget: at its very edge Java begins an attempt with 0 ms, gives up at once and
closes the channel, before or after the request was written. (No setting here is so short.)
"""


CROSSED_NS = 20_000_000
"""
How long before its client gives up an answer may be at the relay and not be heard of: 1.6 ms were seen, with 4 ms in the
relay, on a machine with a load of 14 on two cores; waking the client may take as long again.
"""

WAITED_LONG_NS = 50_000_000
"""Answers in calm come sooner than this, so a client that calls one of them a timeout is still caught."""


LOSS_NOTICED_NS = 250_000_000
"""
Between the loss of a connection here and what its client knows of it, and between a request's hook and its way through the
client's threads to here: a ms or two as a rule, 55 at a load of 19 on two cores. Clients later than this by the median make their case
invalid anyway.
"""

Losses = Mapping[str, Sequence[BlindSpot]]
"""By broker: when it refused connections or lost one."""


def disagreements(
    told: Iterable[AttemptEnded], seen: Iterable[AttemptEnded], losses: Losses, timeout_ns: int
) -> list[str]:
    """One sentence for each send that the two tell differently, by send."""
    by_send: tuple[dict[int, list[AttemptEnded]], ...] = (defaultdict(list), defaultdict(list))
    for each, attempts in zip(by_send, (told, seen), strict=True):
        for attempt in attempts:
            each[attempt.send].append(attempt)
    client, wire = by_send
    sends = sorted(client.keys() | wire.keys())
    return [
        f"send {send}: told {_words(client[send])}, seen {_words(wire[send])}"
        for send in sends
        if not _agree(client[send], wire[send], losses, timeout_ns)
    ]


def other_statuses(told: Iterable[AttemptEnded], seen: Iterable[AttemptEnded]) -> list[AttemptEnded]:
    """
    Attempts that are told with another status than the broker's answer had on the wire, with the status it had there.

    One request for both, answered before its client says that it ended. What else the two tell differently is in doubt: a
    status is in the bytes that the client was given.
    """
    on_wire: dict[int, list[AttemptEnded]] = defaultdict(list)
    for attempt in seen:
        on_wire[attempt.send].append(attempt)
    others = []
    for attempt in told:
        left = on_wire[attempt.send]
        if left and _is_one_request(attempt, left[0]):
            answered = left.pop(0)
            if _is_answered_otherwise(attempt, answered):
                others.append(replace(attempt, status=answered.status))
    return others


def _is_answered_otherwise(told: AttemptEnded, seen: AttemptEnded) -> bool:
    are_stored = told.status is not None and seen.status is not None
    return are_stored and told.status != seen.status and seen.end_ns <= told.end_ns


def _agree(told: list[AttemptEnded], seen: list[AttemptEnded], losses: Losses, timeout_ns: int) -> bool:
    left = list(seen)
    for attempt in told:
        if left and _is_same(attempt, left[0]):
            left.pop(0)
        elif not (
            _may_never_have_left(attempt)
            or _may_be_lost(attempt, losses)
            or _had_no_time_left(attempt, told[0], timeout_ns)
        ):
            return False
    return not left


def _may_never_have_left(told: AttemptEnded) -> bool:
    had_no_time = told.error == "RemotingTimeoutException" and told.end_ns - told.start_ns < NO_TIME_NS
    return told.error in NEVER_LEFT or had_no_time


def _may_be_lost(told: AttemptEnded, losses: Losses) -> bool:
    """
    Whether a request went into a connection that was just lost, and nobody was told.

    Then it is nobody's (one-way), or goes on with a timeout (Java to 4.9.8), or its end is not told of (asynchronous).
    """
    is_silent = told.error in (UNSEEN_END, "RemotingTimeoutException") or (told.error is None and told.status is None)
    handed_over = replace(told, end_ns=told.start_ns)
    return is_silent and any(loss.meets(handed_over, LOSS_NOTICED_NS) for loss in losses.get(told.broker, ()))


def _had_no_time_left(told: AttemptEnded, first: AttemptEnded, timeout_ns: int) -> bool:
    """Whether this is a retry of an asynchronous send whose time was up: it is chosen, not written, and its end not told of."""
    return told.error == UNSEEN_END and told.start_ns >= first.start_ns + timeout_ns - NO_TIME_NS


def _is_same(told: AttemptEnded, seen: AttemptEnded) -> bool:
    """One request; a status is an answer and must be the same, an error may have other names."""
    if not _is_one_request(told, seen):
        return False
    return told.status == seen.status or told.error == UNSEEN_END or _crossed(told, seen)


def _is_one_request(told: AttemptEnded, seen: AttemptEnded) -> bool:
    return (told.broker, told.queue_id) == (seen.broker, seen.queue_id) and told.start_ns <= seen.start_ns


def _crossed(told: AttemptEnded, seen: AttemptEnded) -> bool:
    """Whether an answer was on its last way to a client that waited long, just when that gave up."""
    is_timeout = told.error == "RemotingTimeoutException" and told.end_ns - told.start_ns >= WAITED_LONG_NS
    return is_timeout and seen.end_ns >= told.end_ns - CROSSED_NS


def _words(attempts: list[AttemptEnded]) -> str:
    words = (f"{one.broker} queue {one.queue_id} {one.status or one.error}" for one in attempts)
    return ", ".join(words) or "nothing"
