"""
Attempts of a gRPC client, derived from the calls that the relay saw; the same records as from a hook inside the client.

An attempt is a SendMessage request that arrived completely at the relay. Its end:

    the wire shows                                            the attempt ends with
    --------------------------------------------------------  ----------------------------------------------------------
    trailers, status OK, a response of code OK                SEND_OK
    the same, with another code                               MQBrokerException with that code
    trailers, status DEADLINE_EXCEEDED                        RemotingTimeoutException
    trailers, any other status                                RemotingSendRequestException: the call failed in transit
    the client resets the stream, or closes the connection    RemotingTimeoutException: its deadline has passed
    the proxy resets the stream, or closes the connection     RemotingSendRequestException
    nothing until the end of the case                         RemotingTimeoutException at the next attempt or the end of the call
    a response shortly before the deadline, then another      RemotingTimeoutException at the next attempt or the end of the call:
    attempt or a failed call                                  the response came too late

A refused connection, or a channel that waits before it reconnects, leaves no request on the wire and is no attempt here.

The broker of an attempt is the node that serves gRPC, because the wire does not show which broker the proxy tried. Its queue
is 0, because the proxy chooses the queue.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.grpc.messages import Code
from rocketdiff.relay.grpc.calls import ANSWER, CLIENT
from rocketdiff.relay.remoting.attempts import LOST, REFUSED, SILENT
from rocketdiff.relay.remoting.record import Called, WireRecord

_OK, _DEADLINE_EXCEEDED = 0, 4
"""gRPC status codes."""

READ_LATE_NS = 100_000_000
"""
A response that reaches the relay this shortly before the deadline may be too late for the client. Measured: 96 ms to the
callback of grpc-java, after a pause, at a load of 12 on two cores. The deadline counts from the request's arrival at the
relay, later than the client's own start.
"""


def grpc_attempts_of(
    records: Iterable[WireRecord], topic: str, sends: Mapping[int, Send], threads: Mapping[int, int]
) -> list[Attempt]:
    """
    Return one attempt per call with a message of the topic, ordered by send and time.

    sends: only those that returned; others have attempts too. threads: thread of every planned send.
    """
    tried: dict[int, list[Called]] = defaultdict(list)
    for record in records:
        if isinstance(record, Called):
            _, named, number = f"//{record.identity or ''}".rsplit("/", 2)
            if named == topic and number.isdecimal() and int(number) in threads:
                tried[int(number)].append(record)
    return [
        attempt
        for send, calls in sorted(tried.items())
        for attempt in _attempts_of_send(send, threads[send], sorted(calls, key=_begin), sends.get(send))
    ]


def _begin(call: Called) -> int:
    return call.in_ns


def _attempts_of_send(send: int, thread: int, calls: Sequence[Called], returned: Send | None) -> list[Attempt]:
    attempts = []
    for number, call in enumerate(calls):
        following = calls[number + 1] if number + 1 < len(calls) else None
        limit_ns = following.in_ns if following else returned.end_ns if returned else None
        went_on = following is not None or (returned is not None and returned.error is not None)
        error, code = _end(call)
        end_ns = call.end_ns
        if error is None and went_on and limit_ns is not None and _was_late(call):
            error, end_ns = SILENT, limit_ns
        if limit_ns is not None:
            end_ns = min(end_ns, limit_ns)
        attempts.append(
            Attempt(
                send,
                thread,
                number,
                call.node,
                0,
                call.in_ns,
                max(end_ns, call.in_ns),
                error,
                code,
                "SEND_OK" if error is None else None,
            )
        )
    return attempts


def _end(call: Called) -> tuple[str | None, int | None]:
    if call.ended_by != ANSWER:
        return (SILENT if call.ended_by == CLIENT else LOST), None
    if call.grpc_status == _OK and call.code is not None:
        return (None, None) if call.code == Code.OK else (REFUSED, call.code)
    return (SILENT if call.grpc_status == _DEADLINE_EXCEEDED else LOST), None


def _was_late(call: Called) -> bool:
    return call.timeout_ns is not None and call.end_ns - call.in_ns >= call.timeout_ns - READ_LATE_NS
