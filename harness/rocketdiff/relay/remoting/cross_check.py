"""
Cross-check of two witnesses: the attempts that a client's hook reports and the attempts on the wire.

Each wire attempt of a send must be among the reported ones, with the same queue and end and in the same order (attempts
without time left excepted). A reported attempt that is missing on the wire needs one of these reasons:

    reason                                                                       decided by
    ---------------------------------------------------------------------------  -------------------------
    nothing was sent: connection refused or gone, message refused, no time left  _may_never_have_left
    it was written to a connection that was just lost                            _may_be_lost
    a retry of an asynchronous send whose time was up: chosen, not written       _had_no_time_left

An attempt reported with ``UNSEEN_END`` matches any end on the wire. A disagreement does not show which witness is wrong, with
one exception: the wire invents no request with our id.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from rocketdiff.core.records.sending import NEVER_CALLED_BACK, UNSEEN_END, Attempt, Send
from rocketdiff.relay.remoting.exchanges import BlindSpot

NEVER_LEFT = frozenset(
    {"RemotingTooMuchRequestException", "RemotingConnectException", "RemotingSendRequestException", "MQClientException"}
)
"""Errors of attempts that sent nothing: no time left, connection refused or lost, message refused."""

NO_TIME_NS = 10_000_000
"""An attempt that begins this shortly before the end of its send's time, or later, has no time left."""

HASTY_NS = 50_000_000
"""
An attempt that times out faster than this had no time left. At the end of its budget Java starts an attempt with 0 ms and
closes the channel before or after writing the request: 10.4 ms on a busy machine. All timeout settings here are longer.
"""


CROSSED_NS = 20_000_000
"""
A response that reaches the relay this shortly before the client gives up may go unnoticed. Measured: 1.6 ms, with 4 ms in the
relay, at a load of 14 on two cores. Waking the client may take as long again.
"""

WAITED_LONG_NS = 50_000_000
"""Without faults, responses arrive sooner than this, so a client that reports one of them as a timeout is noticed."""


LOSS_NOTICED_NS = 250_000_000
"""
Longest time from the loss of a connection at the relay to the client noticing it, and from a request's hook to its arrival:
usually 1 or 2 ms, 55 ms at a load of 19 on two cores. A client whose median is later makes its case invalid anyway.
"""

REPORTED_LATE_NS = 1_000_000_000
"""
Attempts of an asynchronous send may be reported after its end, within 20 ms by the line protocol, so the records of a call that
ended this shortly before the last one may be lost. Fifty times 20 ms allows for a busy machine.
"""

Losses = Mapping[str, Sequence[BlindSpot]]
"""Times at which each broker refused connections or lost one."""


def disagreements(reported: Iterable[Attempt], seen: Iterable[Attempt], losses: Losses, timeout_ns: int) -> list[str]:
    """Return one sentence per send on which the witnesses disagree, ordered by send."""
    client, wire = _by_send(reported), _by_send(seen)
    sends = sorted(client.keys() | wire.keys())
    return [
        f"send {send}: reported {_words(client[send])}, on the wire {_words(wire[send])}"
        for send in sends
        if not _agree(client[send], wire[send], losses, timeout_ns)
    ]


def other_statuses(reported: Iterable[Attempt], seen: Iterable[Attempt]) -> list[Attempt]:
    """
    Return reported attempts whose status differs from the broker's response on the wire, with the status of the response.

    Both witnesses must have the same request, with a response before the reported end. The wire is right about the status,
    because the bytes that the client received contain it.
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


def unreported_attempts(
    reported: Iterable[Attempt], seen: Iterable[Attempt], sends: Iterable[Send], unsure: Collection[int] = ()
) -> list[Attempt]:
    """
    Return requests that the client certainly made and did not report, numbered after the last reported attempt of the send.

    Such a request arrived before its call ended. Every reported attempt of the send must match another request by broker and
    queue; otherwise it could be this request, reported wrongly. sends: calls that ended. unsure: sends to leave out.
    """
    ended = {send.send: send for send in sends}
    surely_reported_ns = max((send.end_ns for send in ended.values()), default=0) - REPORTED_LATE_NS
    reported_by_send, on_wire = _by_send(reported), _by_send(seen)
    return [
        replace(request, attempt=number)
        for send, requests in sorted(on_wire.items())
        if send in ended and send not in unsure and _is_complete(ended[send], surely_reported_ns)
        for number, request in enumerate(
            _left_over(reported_by_send[send], requests, ended[send].end_ns), start=_next(reported_by_send[send])
        )
    ]


def _is_complete(send: Send, surely_reported_ns: int) -> bool:
    """True if all records of a call must have arrived: at its end if synchronous, otherwise some time later."""
    is_waited_for = send.returned_ns is None
    return is_waited_for or (send.error != NEVER_CALLED_BACK and send.end_ns <= surely_reported_ns)


def _left_over(reported: Sequence[Attempt], requests: Sequence[Attempt], end_ns: int) -> list[Attempt]:
    """Return the unreported requests, the last of each queue; none if a reported attempt matches no request."""
    free = Counter((attempt.broker, attempt.queue_id) for attempt in reported)
    left = []
    for request in requests:
        place = request.broker, request.queue_id
        if free[place]:
            free[place] -= 1
        else:
            left.append(request)
    return [] if free.total() else [request for request in left if request.start_ns <= end_ns]


def _next(reported: Sequence[Attempt]) -> int:
    return 1 + max((attempt.attempt for attempt in reported), default=-1)


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
        # Attempts without time follow each other within 1 ms, on connections that the relay reads in any order.
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
    True if the request may have been written to a connection that was just lost, without an exception.

    A one-way request is then lost, a synchronous one times out (Java up to 4.9.8), an asynchronous one has no reported end.
    """
    is_silent = reported.error in (UNSEEN_END, "RemotingTimeoutException") or (
        reported.error is None and reported.status is None
    )
    handed_over = replace(reported, end_ns=reported.start_ns)
    return is_silent and any(loss.meets(handed_over, LOSS_NOTICED_NS) for loss in losses.get(reported.broker, ()))


def _had_no_time_left(reported: Attempt, first: Attempt, timeout_ns: int) -> bool:
    return reported.error == UNSEEN_END and reported.start_ns >= first.start_ns + timeout_ns - NO_TIME_NS


def _is_same(reported: Attempt, seen: Attempt) -> bool:
    """True if both are one request with one end: the status must be equal, the error may have another name."""
    if not _is_one_request(reported, seen):
        return False
    return reported.status == seen.status or reported.error == UNSEEN_END or _crossed(reported, seen)


def _is_one_request(reported: Attempt, seen: Attempt) -> bool:
    return (reported.broker, reported.queue_id) == (seen.broker, seen.queue_id) and reported.start_ns <= seen.start_ns


def _crossed(reported: Attempt, seen: Attempt) -> bool:
    """True if the response reached the relay just before the client gave up after a long wait."""
    is_timeout = reported.error == "RemotingTimeoutException" and reported.end_ns - reported.start_ns >= WAITED_LONG_NS
    return is_timeout and seen.end_ns >= reported.end_ns - CROSSED_NS


def _words(attempts: list[Attempt]) -> str:
    words = (f"{attempt.broker} queue {attempt.queue_id} {attempt.status or attempt.error}" for attempt in attempts)
    return ", ".join(words) or "nothing"
