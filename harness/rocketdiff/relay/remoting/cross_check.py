"""
Cross-check of two witnesses: the attempts that a client's hook reports against those on the wire.

The wire's attempts of a send must be among the reported ones, in the same order (but for those that had no time), with the same queue and
end. A reported attempt that the wire does not have needs one of these reasons:

    reason                                                                       decided by
    ---------------------------------------------------------------------------  -------------------------
    nothing was sent: connection refused or gone, message refused, no time left  _may_never_have_left
    it was written to a connection that was just lost                            _may_be_lost
    a retry of an asynchronous send whose time was up: chosen, not written       _had_no_time_left

For an attempt reported with ``UNSEEN_END`` the wire may have seen any end. So a hook that hides, invents or misplaces an
attempt is noticed, whichever witness is wrong.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rocketdiff.core.records import UNSEEN_END, Attempt
from rocketdiff.relay.remoting.exchanges import BlindSpot

NEVER_LEFT = frozenset(
    {"RemotingTooMuchRequestException", "RemotingConnectException", "RemotingSendRequestException", "MQClientException"}
)
"""Time used up to the millisecond, connection refused or lost, message refused: nothing was sent."""

NO_TIME_NS = 10_000_000
"""An attempt that begins this soon before the end of its send's time, or later, has none left."""

HASTY_NS = 50_000_000
"""
A timeout sooner than this had no time left: at the edge of its budget Java begins an attempt with 0 ms, times out at once and
closes the channel, before or after the request was written. It took 10.4 ms on a busy machine; no setting here is so short.
"""


CROSSED_NS = 20_000_000
"""
A response may be at the relay this long before its client gives up, without the client having noticed it: 1.6 ms were seen,
with 4 ms in the relay, on a machine with a load of 14 on two cores; waking the client may take as long again.
"""

WAITED_LONG_NS = 50_000_000
"""Responses in calm come sooner than this, so a client that reports one of them as a timeout is still noticed."""


LOSS_NOTICED_NS = 250_000_000
"""
Longest time between the loss of a connection at the relay and the client's notice of it, and between a request's hook and the
request's arrival: usually a ms or two, 55 at a load of 19 on two cores. Clients whose median is later than this make their case
invalid anyway.
"""

Losses = Mapping[str, Sequence[BlindSpot]]
"""By broker: times at which it refused connections or lost one."""


def disagreements(reported: Iterable[Attempt], seen: Iterable[Attempt], losses: Losses, timeout_ns: int) -> list[str]:
    """One sentence per send on which the two witnesses disagree, ordered by send."""
    by_send: tuple[dict[int, list[Attempt]], ...] = (defaultdict(list), defaultdict(list))
    for each, attempts in zip(by_send, (reported, seen), strict=True):
        for attempt in attempts:
            each[attempt.send].append(attempt)
    client, wire = by_send
    sends = sorted(client.keys() | wire.keys())
    return [
        f"send {send}: told {_words(client[send])}, seen {_words(wire[send])}"
        for send in sends
        if not _agree(client[send], wire[send], losses, timeout_ns)
    ]


def other_statuses(reported: Iterable[Attempt], seen: Iterable[Attempt]) -> list[Attempt]:
    """
    Reported attempts whose status differs from the broker's response on the wire, with the status of the response.

    Both witnesses must have the same request, with a response before the reported end. A status is in the bytes that the client
    received, so the wire is right about it; any other disagreement leaves open which witness is wrong.
    """
    on_wire: dict[int, list[Attempt]] = defaultdict(list)
    for attempt in seen:
        on_wire[attempt.send].append(attempt)
    others = []
    for attempt in reported:
        left = on_wire[attempt.send]
        if left and _is_one_request(attempt, left[0]):
            answered = left.pop(0)
            if _is_answered_otherwise(attempt, answered):
                others.append(replace(attempt, status=answered.status))
    return others


def _is_answered_otherwise(reported: Attempt, seen: Attempt) -> bool:
    are_stored = reported.status is not None and seen.status is not None
    return are_stored and reported.status != seen.status and seen.end_ns <= reported.end_ns


def _agree(reported: list[Attempt], seen: list[Attempt], losses: Losses, timeout_ns: int) -> bool:
    left = list(seen)
    for attempt in reported:
        # Requests without time follow each other within a ms, on connections that the relay reads in any order.
        candidates = left if _is_hasty(attempt) else left[:1]
        found = next((seen for seen in candidates if _is_same(attempt, seen)), None)
        if found is not None:
            left.remove(found)
        elif not (
            _may_never_have_left(attempt)
            or _may_be_lost(attempt, losses)
            or _had_no_time_left(attempt, reported[0], timeout_ns)
        ):
            return False
    return not left


def _may_never_have_left(reported: Attempt) -> bool:
    return reported.error in NEVER_LEFT or _is_hasty(reported)


def _is_hasty(reported: Attempt) -> bool:
    return reported.error == "RemotingTimeoutException" and reported.end_ns - reported.start_ns < HASTY_NS


def _may_be_lost(reported: Attempt, losses: Losses) -> bool:
    """
    Whether a request was written to a connection that was just lost, without an exception.

    A one-way request is then lost, a synchronous one ends with a timeout (Java up to 4.9.8), an asynchronous one has no reported
    end.
    """
    is_silent = reported.error in (UNSEEN_END, "RemotingTimeoutException") or (
        reported.error is None and reported.status is None
    )
    handed_over = replace(reported, end_ns=reported.start_ns)
    return is_silent and any(loss.meets(handed_over, LOSS_NOTICED_NS) for loss in losses.get(reported.broker, ()))


def _had_no_time_left(reported: Attempt, first: Attempt, timeout_ns: int) -> bool:
    """Whether this is a retry of an asynchronous send whose time was up: chosen, not written, and without a reported end."""
    return reported.error == UNSEEN_END and reported.start_ns >= first.start_ns + timeout_ns - NO_TIME_NS


def _is_same(reported: Attempt, seen: Attempt) -> bool:
    """Whether both are one request with one end: a status must be equal, an error may have another name."""
    if not _is_one_request(reported, seen):
        return False
    return reported.status == seen.status or reported.error == UNSEEN_END or _crossed(reported, seen)


def _is_one_request(reported: Attempt, seen: Attempt) -> bool:
    return (reported.broker, reported.queue_id) == (seen.broker, seen.queue_id) and reported.start_ns <= seen.start_ns


def _crossed(reported: Attempt, seen: Attempt) -> bool:
    """Whether the response arrived at the relay just before a client that had waited long gave up."""
    is_timeout = reported.error == "RemotingTimeoutException" and reported.end_ns - reported.start_ns >= WAITED_LONG_NS
    return is_timeout and seen.end_ns >= reported.end_ns - CROSSED_NS


def _words(attempts: list[Attempt]) -> str:
    words = (f"{attempt.broker} queue {attempt.queue_id} {attempt.status or attempt.error}" for attempt in attempts)
    return ", ".join(words) or "nothing"
