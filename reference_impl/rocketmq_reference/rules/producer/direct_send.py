"""
Sends to a queue chosen by the application: one attempt, no retry, no entry in the fault table, no tick of the index.

Read in DefaultMQProducerImpl.send(message, queue, timeout) and sendSelectImpl of every release. Times in milliseconds.
"""

from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Finish, Step, Try, call_timeout
from rocketmq_reference.rules.producer.producer_rules import ProducerDialect


def send_to_queue(dialect: ProducerDialect, queue: Queue, timeout_ms: int, spent_ms: int) -> Step:
    """
    Send to a given queue with the whole timeout, unless checking the message alone took longer (from 4.3.0).

    spent_ms: since the application called.
    """
    return call_timeout() if dialect.producer.loop.left_ms(timeout_ms, spent_ms) is None else Try(queue, timeout_ms)


def send_by_selector(
    dialect: ProducerDialect, chosen: Queue | None, timeout_ms: int, spent_ms: int, *, timeout_given: bool = True
) -> Step:
    """
    Send to a selector's queue with the time that route lookup and selector left (from 4.3.0; before, the whole timeout).

    timeout_given: the application passed the timeout. Without it the queue gets the whole timeout again from 5.1.4 on, where
    the call became invokeMessageQueueSelector followed by a send to a given queue. chosen None: the selector returned null
    or threw; in both cases the application sees MQClientException without code.
    """
    if chosen is None:
        return Finish(Ending.GAVE_UP, error="MQClientException")
    left_ms = dialect.producer.loop.left_ms(timeout_ms, spent_ms)
    if left_ms is None:
        return call_timeout()
    return Try(chosen, timeout_ms if dialect.producer.selector_restarts_time and not timeout_given else left_ms)


def direct_send_ended(result: AttemptResult) -> Finish:
    """End the call with its only attempt: return its result, or throw its exception unchanged."""
    if result.error is None:
        return Finish(Ending.RESULT, 0, status=result.status)
    return Finish(Ending.RETHROWN, 0, error=result.error, code=result.code)


def no_route(
    dialect: ProducerDialect, *, name_servers_set: bool, name_server_reached: bool, by_selector: bool
) -> Finish:
    """
    Return the exception for a topic without queues.

    An unreachable name server is IllegalStateException from 4.6.0; before, it is like an unknown topic. No configured name
    server is code 10004 (for a selector only from 4.6.0), an unknown topic 10005 (no code for a selector).
    """
    if name_servers_set and not name_server_reached and dialect.client.remoting.name_server_failure_is_illegal_state:
        return Finish(Ending.NO_ROUTE, error="IllegalStateException")
    code: int | None = None if by_selector else 10005
    if not name_servers_set and (not by_selector or dialect.client.remoting.name_server_failure_is_illegal_state):
        code = 10004
    return Finish(Ending.NO_ROUTE, error="MQClientException", code=code)
