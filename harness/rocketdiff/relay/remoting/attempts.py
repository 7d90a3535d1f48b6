"""
Attempts of a client that does not report them, derived from the wire; the same records as from a hook inside the client.

An attempt is a request that arrived at the relay. The wire does not show whether the client was still waiting when a response
arrived. That follows from what the client did next:

    the wire shows                                            the attempt ends with
    --------------------------------------------------------  ----------------------------------------------------------
    a response, no further request of this send               the response: its status, or MQBrokerException with its code
    a response, then a request before the timeout             the response: the client retried because of it
    a response shortly before the timeout, then a request     the next request, RemotingTimeoutException: it was too late
    no response, then a request                               the next request, RemotingTimeoutException
    no response, the call returns                             the return of the call, RemotingTimeoutException
    no response, the client closes the connection             that instant, RemotingTimeoutException: Java and C++ close the
                                                              connection at a timeout
    no response, the server or a switch closes it             that instant, RemotingSendRequestException
    a one-way request                                         its arrival, or the return of its call if that is earlier;
                                                              neither error nor status

Without a response the earliest of these instants counts, because the client has stopped waiting by then.

Begin and end are the relay's arrival times of request and response. The client is certainly waiting at both, so the attempt
lies inside the client's own times; the oracle relies on this.

The wire does not show whether the client processed a late response or its timeout first. But a client does not continue after
a success, and continues at once if a response makes it continue. So a response is too late if it arrived in the last 20 ms
(CROSSED_NS) before the earliest end of the timeout *and* the client continued, or the call failed, at or after that end.
README.md has what stays undecided.

A refused connection, or a round without a queue, leaves no request on the wire and is no attempt here.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from rocketdiff.core.records.sending import Attempt, Send
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
"""Response codes of a stored message (MQClientAPIImpl.processSendResponse of every release)."""

UNDERWAY_NS = 5_000_000
"""
An attempt that timed out may look this much shorter than its timeout, because the client starts the timeout before the request
reaches the relay: usually 0.2 ms, more on a busy machine. A client that adds whole milliseconds also gives up slightly early.
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
    Return one attempt per request with a message of the topic, ordered by send and time.

    sends: the sends that returned; others have attempts too. threads: thread of every planned send. timeout_ms: the client's
    setting. oneway: sends planned as one-way; the C++ client does not flag their requests, so brokers respond to them.
    """
    timeout_ns = timeout_ms * 1_000_000
    tried: dict[int, list[Exchange]] = defaultdict(list)
    for exchange in exchanges:
        # The id is RUN/TOPIC/SEND. Messages of the warm-up topic and of probes are not attempts of this arm.
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
        # The client has stopped waiting at its next request or when the call returned. None: the send never returned.
        limit_ns = following.in_ns if following else returned.end_ns if returned else None
        request = exchange.request
        began_ns = request.in_ns if number or returned is None else _began_ns(exchange, returned, timeout_ns, following)
        # A response can be too late only in these cases; otherwise the client returned what the response says.
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
    """Mark a request as one-way. It was sent before its call returned, although the relay may read it later."""
    request = exchange.request
    made_ns = min(request.in_ns, returned.end_ns) if returned else request.in_ns
    return Exchange(replace(request, oneway=True, in_ns=made_ns))


def _failed_all_the_same(exchange: Exchange, returned: Send | None) -> bool:
    """True if the call failed although this response reports the message stored, so it came too late."""
    is_stored = exchange.answer is not None and exchange.answer.code in STATUS_OF_CODE
    return is_stored and returned is not None and returned.error is not None


def _began_ns(exchange: Exchange, returned: Send, timeout_ns: int, following: Passed | None) -> int:
    """
    Return the earliest instant, in ns, at which the client can have started the timeout of a first attempt.

    Java from 4.3.0 on starts it with the call (sendDefaultImpl). C++ and Java up to 4.2.0 start it with the request, which is
    later if the client first needed a route or a connection. It is the second kind if the request was sent a whole timeout
    after the call, or if the client continued after a response other than SEND_OK: a client of the first kind fails then.
    """
    request, answer = exchange.request, exchange.answer
    goes_on = following is not None and answer is not None and answer.code != ResponseCode.SUCCESS
    was_spent = request.in_ns >= returned.start_ns + timeout_ns
    return max(returned.start_ns, request.in_ns - CROSSED_NS) if goes_on or was_spent else returned.start_ns


def _heeded(exchange: Exchange, limit_ns: int | None, deadline_ns: int | None) -> Passed | None:
    """
    Return the response if it arrived while the client was still waiting.

    limit_ns: the client had stopped waiting by then (next request or return of the call). deadline_ns: earliest possible end
    of the timeout; None for a client that neither continued nor failed.
    """
    answer = exchange.answer
    if answer is None or limit_ns is None:
        return answer
    # Both conditions are needed: the client may still have returned, or retried, because of a late response.
    waited_on = deadline_ns is not None and limit_ns >= deadline_ns
    has_crossed = deadline_ns is not None and answer.let_go_ns >= deadline_ns - CROSSED_NS
    return None if answer.let_go_ns > limit_ns or (waited_on and has_crossed) else answer


def _answered(answer: Passed) -> tuple[int, str | None, int | None, str | None]:
    status = STATUS_OF_CODE.get(answer.code)  # type: ignore[call-overload]  # int and IntEnum hash alike
    end_ns = answer.let_go_ns
    return (end_ns, REFUSED, answer.code, None) if status is None else (end_ns, None, None, status)


def _unanswered(exchange: Exchange, limit_ns: int | None) -> tuple[int, str | None, int | None, str | None]:
    begin_ns, closed = exchange.request.in_ns, exchange.closed
    # The first instant at which the client has certainly stopped waiting; a send that never returned may have none.
    known = [at_ns for at_ns in (closed.at_ns if closed else None, limit_ns) if at_ns is not None]
    end_ns = max(min(known, default=begin_ns), begin_ns)
    is_lost = closed is not None and closed.by != "client" and closed.at_ns == end_ns
    return end_ns, LOST if is_lost else SILENT, None, None
