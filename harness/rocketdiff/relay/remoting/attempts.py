"""
Attempts of a client that tells of none, from what the wire saw of it; the same record as a hook in a client makes.

Begin and end are the wire's: when the relay had the request and when it had the answer, both instants at which the client
was certainly waiting (passing on takes the relay 0.1 ms; a client can be awake before that is written down). An attempt
without an answer ends when its send makes the next one, when its connection is gone, or when its call returns, whichever is first:
that is when the client is *known* to have stopped waiting. Its error is named as a hook would: RemotingTimeoutException
(also where the client itself closed the connection: it had given up), or RemotingSendRequestException where the other
side did. A one-way request is over when it was made (at the latest when its call returned: the relay may read it afterwards),
and has neither error nor status. An answer that came when the time
was up, or nearly, of a client that waited until then and went on, came too late: which of the two it had first the wire cannot see, and clients do not
go on after a success. What never became a request (a refused connection, a round without a queue) leaves nothing on the
wire and is no attempt here.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from rocketdiff.core.records import AttemptEnded, SendEnded
from rocketdiff.relay.remoting.agreement import CROSSED_NS
from rocketdiff.relay.remoting.exchanges import Exchange
from rocketdiff.relay.remoting.wire import Passed
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
A client's clock runs before its request is here: 0.2 ms as a rule, some more on a busy machine (a first attempt's begins after
the call, which is told); one that adds up whole milliseconds gives up a little early, too. So much less than its
timeout an attempt may seem to have taken that was given up.
"""

LOST, SILENT, REFUSED = "RemotingSendRequestException", "RemotingTimeoutException", "MQBrokerException"


def attempts_of(
    exchanges: Iterable[Exchange],
    topic: str,
    sends: Mapping[int, SendEnded],
    threads: Mapping[int, int],
    timeout_ms: int,
    oneway: Collection[int] = (),
) -> list[AttemptEnded]:
    """
    Every request about a message of the topic, by send and time; sends that never returned have attempts too.

    sends: those that returned. threads: thread of every planned send. timeout_ms: what the client was set to. oneway: sends
    that were planned so; the C++ client does not mark their requests, and brokers answer them.
    """
    timeout_ns = timeout_ms * 1_000_000
    tried: dict[int, list[Exchange]] = defaultdict(list)
    for exchange in exchanges:
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
    send: int, thread: int, made: Sequence[Exchange], told: SendEnded | None, timeout_ns: int
) -> list[AttemptEnded]:
    attempts = []
    for number, exchange in enumerate(made):
        following = made[number + 1].request if number + 1 < len(made) else None
        limit_ns = following.in_ns if following else told.end_ns if told else None
        request = exchange.request
        began_ns = request.in_ns if number or told is None else _began_ns(exchange, told, timeout_ns, following)
        gave_up = following is not None or _failed_all_the_same(exchange, told)
        answer = _heeded(exchange, limit_ns, began_ns + timeout_ns - UNDERWAY_NS if gave_up else None)
        if request.oneway:
            end_ns, error, code, status = request.in_ns, None, None, None
        else:
            end_ns, error, code, status = _unanswered(exchange, limit_ns) if answer is None else _answered(answer)
        queue_id = request.queue_id or 0
        attempts.append(
            AttemptEnded(send, thread, number, request.node, queue_id, request.in_ns, end_ns, error, code, status)
        )
    return attempts


def _unwaited(exchange: Exchange, told: SendEnded | None) -> Exchange:
    """A request nobody waits for, whatever its mark; made when its call returned, at the latest."""
    request = exchange.request
    made_ns = min(request.in_ns, told.end_ns) if told else request.in_ns
    return Exchange(replace(request, oneway=True, in_ns=made_ns))


def _failed_all_the_same(exchange: Exchange, told: SendEnded | None) -> bool:
    """Whether a call failed although its last answer says stored."""
    is_stored = exchange.answer is not None and exchange.answer.code in STATUS_OF_CODE
    return is_stored and told is not None and told.error is not None


def _began_ns(exchange: Exchange, told: SendEnded, timeout_ns: int, following: Passed | None) -> int:
    """
    The earliest instant from which the client can have counted the time of a first attempt, in ns.

    The call, as Java from 4.3.0 does it (sendDefaultImpl). Not so where the request was late (a route, a connection) and the
    client counts from it, as C++ and Java to 4.2.0: it left when a budget from the call was spent, or the client went on after an
    answer that lets clients go on (any but SEND_OK); who counts from the call fails when that time is up.
    """
    request, answer = exchange.request, exchange.answer
    goes_on = following is not None and answer is not None and answer.code != ResponseCode.SUCCESS
    was_spent = request.in_ns >= told.start_ns + timeout_ns
    return max(told.start_ns, request.in_ns - CROSSED_NS) if goes_on or was_spent else told.start_ns


def _heeded(exchange: Exchange, limit_ns: int | None, deadline_ns: int | None) -> Passed | None:
    """
    The answer, if it came while the client still waited.

    deadline_ns: the earliest instant at which the time of a client that went on, or failed, can have been up; None for one
    that did neither. Who goes on before it does so because of the answer.
    """
    answer = exchange.answer
    if answer is None or limit_ns is None:
        return answer
    waited_on = deadline_ns is not None and limit_ns >= deadline_ns
    has_crossed = deadline_ns is not None and answer.let_go_ns >= deadline_ns - CROSSED_NS
    return None if answer.let_go_ns > limit_ns or (waited_on and has_crossed) else answer


def _answered(answer: Passed) -> tuple[int, str | None, int | None, str | None]:
    """End, error, code and status."""
    status = STATUS_OF_CODE.get(answer.code)  # type: ignore[call-overload]  # int and IntEnum hash alike
    end_ns = answer.let_go_ns
    return (end_ns, REFUSED, answer.code, None) if status is None else (end_ns, None, None, status)


def _unanswered(exchange: Exchange, limit_ns: int | None) -> tuple[int, str | None, int | None, str | None]:
    """The same, for one that nobody waited for any more."""
    begin_ns, closed = exchange.request.in_ns, exchange.closed
    known = [at_ns for at_ns in (closed.at_ns if closed else None, limit_ns) if at_ns is not None]
    end_ns = max(min(known, default=begin_ns), begin_ns)
    is_lost = closed is not None and closed.by != "client" and closed.at_ns == end_ns
    return end_ns, LOST if is_lost else SILENT, None, None
