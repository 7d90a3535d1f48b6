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
attempt is noticed, whichever witness is wrong. Of one kind of disagreement it is known: the wire invents no request with our id.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from rocketdiff.core.sends.records import NEVER_CALLED_BACK, UNSEEN_END, Attempt, Send
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

TOLD_LATE_NS = 1_000_000_000
"""
Attempts of an asynchronous send may be told after its end, within 20 ms by the line protocol; of calls that ended this soon before
the client's last one, the record may have been under way when the client was stopped. Fifty times that is for a crowded machine.
"""

Losses = Mapping[str, Sequence[BlindSpot]]
"""By broker: times at which it refused connections or lost one."""


def disagreements(reported: Iterable[Attempt], seen: Iterable[Attempt], losses: Losses, timeout_ns: int) -> list[str]:
    """One sentence per send on which the two witnesses disagree, ordered by send."""
    client, wire = _by_send(reported), _by_send(seen)
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
    on_wire = _by_send(seen)
    others = []
    for attempt in reported:
        left = on_wire[attempt.send]
        if left and _is_one_request(attempt, left[0]):
            answered = left.pop(0)
            if _is_answered_otherwise(attempt, answered):
                others.append(replace(attempt, status=answered.status))
    return others


def not_told(
    reported: Iterable[Attempt], seen: Iterable[Attempt], sends: Iterable[Send], unsure: Collection[int] = ()
) -> list[Attempt]:
    """
    Requests on the wire that the client certainly made and did not tell, numbered on from the last attempt told of their send.

    Such a request arrived before its call ended. Every attempt told of the send is a request on the wire, by broker and queue,
    whatever its times and its end, so that none of them can be this one, misplaced or ended otherwise; anything else leaves
    open which witness is wrong. sends: calls that ended. unsure: sends to be left out.
    """
    ended = {send.send: send for send in sends}
    surely_told_ns = max((send.end_ns for send in ended.values()), default=0) - TOLD_LATE_NS
    told, on_wire = _by_send(reported), _by_send(seen)
    return [
        replace(request, attempt=number)
        for send, requests in sorted(on_wire.items())
        if send in ended and send not in unsure and _has_told_all(ended[send], surely_told_ns)
        for number, request in enumerate(_left_over(told[send], requests, ended[send].end_ns), start=_next(told[send]))
    ]


def _has_told_all(send: Send, surely_told_ns: int) -> bool:
    """Whether what there was to tell of a call must have come: before a call that waits ends, of others some time after it."""
    is_waited_for = send.returned_ns is None
    return is_waited_for or (send.error != NEVER_CALLED_BACK and send.end_ns <= surely_told_ns)


def _left_over(told: Sequence[Attempt], requests: Sequence[Attempt], end_ns: int) -> list[Attempt]:
    """Requests beyond those that were told, the last of each queue; none if something was told that is not among them."""
    free = Counter((attempt.broker, attempt.queue_id) for attempt in told)
    left = []
    for request in requests:
        place = request.broker, request.queue_id
        if free[place]:
            free[place] -= 1
        else:
            left.append(request)
    return [] if free.total() else [request for request in left if request.start_ns <= end_ns]


def _next(told: Sequence[Attempt]) -> int:
    return 1 + max((attempt.attempt for attempt in told), default=-1)


def _by_send(attempts: Iterable[Attempt]) -> defaultdict[int, list[Attempt]]:
    by_send: defaultdict[int, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        by_send[attempt.send].append(attempt)
    return by_send


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
