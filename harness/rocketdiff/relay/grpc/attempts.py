"""
Attempts of a client that speaks gRPC, derived from the calls that passed the relay; the same records as a hook in the client makes.

Theory of operation. An attempt is a SendMessage request that arrived at the relay whole. What the client made of it:

    the wire shows                                            the attempt ends with
    --------------------------------------------------------  ----------------------------------------------------------
    trailers, status OK, a response of code OK                SEND_OK
    the same, of another code                                 MQBrokerException with that code
    trailers of DEADLINE_EXCEEDED                             RemotingTimeoutException
    trailers of any other status                              RemotingSendRequestException: the call failed under way
    the client resets the stream, or closes the connection    RemotingTimeoutException: its deadline has passed
    the proxy resets the stream, or closes the connection     RemotingSendRequestException
    nothing until the end of the case                         RemotingTimeoutException at the next attempt, or the end of the call
    an answer when the deadline was nearly up, and then       RemotingTimeoutException at the next attempt, or the end of the call:
    another attempt or a failed call                          the answer came too late

What never became a request (a connection that was refused, a channel that waits before it connects again) leaves nothing on the wire and is no attempt here.

The broker of an attempt is the node that served gRPC: which broker a proxy tried is not on this wire. Its queue is 0, because the proxy chooses it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rocketdiff.core.sends.records import Attempt, Send
from rocketdiff.grpc.messages import Code
from rocketdiff.relay.grpc.calls import ANSWER, CLIENT
from rocketdiff.relay.remoting.attempts import LOST, REFUSED, SILENT
from rocketdiff.relay.remoting.record import Called, WireRecord

_OK, _DEADLINE_EXCEEDED = 0, 4
"""Statuses of gRPC."""

READ_LATE_NS = 100_000_000
"""
How long before the deadline an answer may be at the relay and still be too late: 96 ms passed from there to a callback of grpc-java's,
after a pause, with a load of 12 on two cores. The deadline counts from when the request was at the relay, which is later than the client's.
"""


def grpc_attempts_of(
    records: Iterable[WireRecord], topic: str, sends: Mapping[int, Send], threads: Mapping[int, int]
) -> list[Attempt]:
    """
    One attempt per call with a message of the topic, by send and time; sends that never returned have attempts too.

    sends: those that returned. threads: thread of every planned send.
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
    """Whether the client may have given up before it had the answer."""
    return call.timeout_ns is not None and call.end_ns - call.in_ns >= call.timeout_ns - READ_LATE_NS
