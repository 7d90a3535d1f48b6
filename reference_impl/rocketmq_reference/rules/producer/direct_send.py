"""
Sends whose queue the application decides: one attempt, no retry, no trace in the fault table, no tick of the index.

Read in DefaultMQProducerImpl.send(message, queue, timeout) and sendSelectImpl of every release. Times in milliseconds.
"""

from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Finish, Step, Try, call_timeout


def send_to_queue(dialect: Dialect, queue: Queue, timeout_ms: int, spent_ms: int) -> Step:
    """
    An explicitly given queue gets the whole timeout, unless checking the message alone took longer (from 4.3.0).

    spent_ms: since the application called.
    """
    return call_timeout() if dialect.loop.left_ms(timeout_ms, spent_ms) is None else Try(queue, timeout_ms)


def send_by_selector(
    dialect: Dialect, chosen: Queue | None, timeout_ms: int, spent_ms: int, *, timeout_given: bool = True
) -> Step:
    """
    A selector's queue gets what route lookup and selector left of the timeout (from 4.3.0; all of it before).

    timeout_given: the application passed the timeout; without one the queue gets all of it again from 5.1.4 on, where the
    call became invokeMessageQueueSelector followed by a send to a given queue. chosen None: the selector returned null,
    or threw; either way the application sees MQClientException without code.
    """
    if chosen is None:
        return Finish(Ending.GAVE_UP, error="MQClientException")
    left_ms = dialect.loop.left_ms(timeout_ms, spent_ms)
    if left_ms is None:
        return call_timeout()
    return Try(chosen, timeout_ms if dialect.selector_restarts_time and not timeout_given else left_ms)


def direct_send_ended(result: AttemptResult) -> Finish:
    """The only attempt ended: its result is returned, or its exception thrown, as it is."""
    if result.error is None:
        return Finish(Ending.RESULT, 0, status=result.status)
    return Finish(Ending.RETHROWN, 0, error=result.error, code=result.code)


def no_route(dialect: Dialect, *, name_servers_set: bool, name_server_reached: bool, by_selector: bool) -> Finish:
    """
    What the application sees when its topic has no queues.

    An unreachable name server is IllegalStateException from 4.6.0, before that the same as an unknown topic. No name
    server set at all is code 10004 (for a selector only from 4.6.0), an unknown topic 10005 (a selector has no code).
    """
    if name_servers_set and not name_server_reached and dialect.remoting.name_server_failure_is_illegal_state:
        return Finish(Ending.NO_ROUTE, error="IllegalStateException")
    code: int | None = None if by_selector else 10005
    if not name_servers_set and (not by_selector or dialect.remoting.name_server_failure_is_illegal_state):
        code = 10004
    return Finish(Ending.NO_ROUTE, error="MQClientException", code=code)
