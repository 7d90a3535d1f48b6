"""
Attempts of a client that does not report them, derived from the wire; the same records as a hook in the client makes.

Theory of operation. An attempt is a request that arrived at the relay. The wire does not show whether the client was still
waiting when a response came; that follows from what the client did next:

    the wire shows                                            the attempt ends with
    --------------------------------------------------------  ----------------------------------------------------------
    a response, no further request of this send               the response: its status, or MQBrokerException with its code
    a response, then a request before the time was up         the response: the client retried because of it
    a response when the time was nearly up, then a request    the next request, RemotingTimeoutException: it was too late
    no response, then a request                               the next request, RemotingTimeoutException
    no response, the call returns                             the return of the call, RemotingTimeoutException
    no response, the client closes the connection             that instant, RemotingTimeoutException: Java and C++ close the
                                                              connection when the time is up
    no response, the server or a switch closes it             that instant, RemotingSendRequestException
    a one-way request                                         its arrival, or the return of its call if that is earlier;
                                                              neither error nor status

Without a response the earliest of these instants counts: then the client is *known* to have stopped waiting.

Begin and end are relay times: arrival of the request and arrival of the response. At both instants the client was certainly
waiting. (The end is not taken after forwarding: that takes 0.1 ms, and a client can be awake before the relay reads its clock
again.) So the attempt lies inside the client's own times, which the oracle relies on.

Response or end of the timeout, which one did the client process first? It is invisible, but a client does not continue
after a success, and a client that continues because of a response does so at once. Hence a response counts as too late if
it came in the last 20 ms (CROSSED_NS) before the earliest end of the timeout *and* the client continued no earlier than that
end; likewise if the call failed although the last response says stored. Not decided: a retry whose *request* arrives more
than UNDERWAY_NS late and then times out looks as if given up early.

What never became a request (a refused connection, a round without a queue) leaves nothing on the wire and is no attempt here.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from rocketdiff.core.sends.records import Attempt, Send
from rocketdiff.relay.remoting.cross_check import CROSSED_NS
from rocketdiff.relay.remoting.exchanges import Exchange
from rocketdiff.relay.remoting.record import Passed
from rocketmq_reference.remoting.codes import ResponseCode

STATUS_OF_CODE = {
    ResponseCode.SUCCESS: "SEND_OK",
    ResponseCode.FLUSH_DISK_TIMEOUT: "FLUSH_DISK_TIMEOUT",
    ResponseCode.SLAVE_NOT_AVAILABLE: "SLAVE_NOT_AVAILABLE",
    ResponseCode.FLUSH_SLAVE_TIMEOUT: "FLUSH_SLAVE_TIMEOUT",
}
"""Response codes that mean stored (MQClientAPIImpl.processSendResponse of every release)."""

UNDERWAY_NS = 5_000_000
"""
How much shorter than its timeout an attempt that timed out may look on the wire. A client's timeout starts before its request
arrives: usually 0.2 ms, more on a busy machine (a first attempt's starts after the call, whose time is reported). A client
that adds whole milliseconds also gives up a little early.
"""

LOST, SILENT, REFUSED = "RemotingSendRequestException", "RemotingTimeoutException", "MQBrokerException"


def attempts_of(
    exchanges: Iterable[Exchange],
    topic: str,
    sends: Mapping[int, Send],
    threads: Mapping[int, int],
    timeout_ms: int,
    oneway: Collection[int] = (),
) -> list[Attempt]:
    """
    One attempt per request with a message of the topic, by send and time; sends that never returned have attempts too.

    sends: those that returned. threads: thread of every planned send. timeout_ms: the client's setting. oneway: sends planned as
    one-way; the C++ client does not set the flag on their requests, so brokers respond to them.
    """
    timeout_ns = timeout_ms * 1_000_000
    tried: dict[int, list[Exchange]] = defaultdict(list)
    for exchange in exchanges:
        # The id is RUN/TOPIC/SEND; messages of other runs, of the warm-up topic and of probes are no attempts of this arm.
        _, named, number = exchange.identity.rsplit("/", 2) if exchange.identity.count("/") > 1 else ("", "", "")
        if named == topic and number.isdecimal() and int(number) in threads:
            is_oneway = exchange.request.oneway or int(number) in oneway
            tried[int(number)].append(_unwaited(exchange, sends.get(int(number))) if is_oneway else exchange)
    return [
        attempt
        for send, made in sorted(tried.items())
        for attempt in _attempts_of_send(send, threads[send], made, sends.get(send), timeout_ns)
    ]


def _attempts_of_send(
    send: int, thread: int, made: Sequence[Exchange], returned: Send | None, timeout_ns: int
) -> list[Attempt]:
    attempts = []
    for number, exchange in enumerate(made):
        following = made[number + 1].request if number + 1 < len(made) else None
        # The client has stopped waiting at its next request, or when the call returned; None: the send never returned.
        limit_ns = following.in_ns if following else returned.end_ns if returned else None
        request = exchange.request
        began_ns = request.in_ns if number or returned is None else _began_ns(exchange, returned, timeout_ns, following)
        # Only then can a response have been too late; otherwise the client returned what the response says.
        gave_up = following is not None or _failed_all_the_same(exchange, returned)
        answer = _heeded(exchange, limit_ns, began_ns + timeout_ns - UNDERWAY_NS if gave_up else None)
        if request.oneway:
            end_ns, error, code, status = request.in_ns, None, None, None
        else:
            end_ns, error, code, status = _unanswered(exchange, limit_ns) if answer is None else _answered(answer)
        queue_id = request.queue_id or 0
        attempts.append(
            Attempt(send, thread, number, request.node, queue_id, request.in_ns, end_ns, error, code, status)
        )
    return attempts


def _unwaited(exchange: Exchange, returned: Send | None) -> Exchange:
    """A one-way request, whatever its flag says. It was sent before its call returned, though the relay may read it later."""
    request = exchange.request
    made_ns = min(request.in_ns, returned.end_ns) if returned else request.in_ns
    return Exchange(replace(request, oneway=True, in_ns=made_ns))


def _failed_all_the_same(exchange: Exchange, returned: Send | None) -> bool:
    """Whether the call failed although this response says stored: the client did not get it in time."""
    is_stored = exchange.answer is not None and exchange.answer.code in STATUS_OF_CODE
    return is_stored and returned is not None and returned.error is not None


def _began_ns(exchange: Exchange, returned: Send, timeout_ns: int, following: Passed | None) -> int:
    """
    The earliest instant at which the client can have started the timeout of a first attempt, in ns.

    Java from 4.3.0 on starts it with the call (sendDefaultImpl); C++ and Java up to 4.2.0 with the request, which is later if a
    route or a connection was needed first. The wire shows the second kind where the request was sent after a whole timeout
    since the call, or where the client continued after a response that lets clients continue (any but SEND_OK): a client
    that counts from the call fails when that time is up.
    """
    request, answer = exchange.request, exchange.answer
    goes_on = following is not None and answer is not None and answer.code != ResponseCode.SUCCESS
    was_spent = request.in_ns >= returned.start_ns + timeout_ns
    return max(returned.start_ns, request.in_ns - CROSSED_NS) if goes_on or was_spent else returned.start_ns


def _heeded(exchange: Exchange, limit_ns: int | None, deadline_ns: int | None) -> Passed | None:
    """
    The response, if it came while the client was still waiting.

    limit_ns: the client had stopped waiting by then (next request or return of the call). deadline_ns: the earliest instant at
    which the timeout of a client that continued, or failed, can have ended; None for a client that did neither. A client that
    continues before it does so because of the response.
    """
    answer = exchange.answer
    if answer is None or limit_ns is None:
        return answer
    # Both are needed: a late response alone may still be what the client returned or retried for.
    waited_on = deadline_ns is not None and limit_ns >= deadline_ns
    has_crossed = deadline_ns is not None and answer.let_go_ns >= deadline_ns - CROSSED_NS
    return None if answer.let_go_ns > limit_ns or (waited_on and has_crossed) else answer


def _answered(answer: Passed) -> tuple[int, str | None, int | None, str | None]:
    """End, error, code and status."""
    status = STATUS_OF_CODE.get(answer.code)  # type: ignore[call-overload]  # int and IntEnum hash alike
    end_ns = answer.let_go_ns
    return (end_ns, REFUSED, answer.code, None) if status is None else (end_ns, None, None, status)


def _unanswered(exchange: Exchange, limit_ns: int | None) -> tuple[int, str | None, int | None, str | None]:
    """The same for an attempt without a response, or whose response came too late."""
    begin_ns, closed = exchange.request.in_ns, exchange.closed
    # The first instant at which the client is known to have stopped waiting; a send that never returned may have none.
    known = [at_ns for at_ns in (closed.at_ns if closed else None, limit_ns) if at_ns is not None]
    end_ns = max(min(known, default=begin_ns), begin_ns)
    is_lost = closed is not None and closed.by != "client" and closed.at_ns == end_ns
    return end_ns, LOST if is_lost else SILENT, None, None
