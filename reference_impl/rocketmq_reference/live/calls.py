"""Calls by the application: what the rules ask for is done, attempt by attempt, and how they end is returned or raised."""

import time
from collections.abc import Callable

from rocketmq_reference.application.listener import AttemptEnded, AttemptStarted, Listener
from rocketmq_reference.application.message import Message, SendResult
from rocketmq_reference.live.kernel import Kernel, Payload
from rocketmq_reference.remoting.errors import MQClientException, RemotingTooMuchRequestException, RocketMQException
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Finish, Step, Try

Outcome = SendResult | RocketMQException | None
"""What one attempt came to; None: a one-way request is written."""


_Send = Callable[[Message, Payload, Queue, str, int, int], SendResult | None]


def now_ms() -> int:
    """The monotonic clock in whole milliseconds, as Java clients count theirs."""
    return time.monotonic_ns() // 1_000_000


class Calls:
    """Carries out the steps of the rules with a kernel, telling a listener, if there is one, of every attempt."""

    def __init__(self, kernel: Kernel, listener: Listener | None) -> None:
        self._kernel = kernel
        self._listener = listener

    def carry_out(self, message: Message, step: Step, ended: Callable[[int, AttemptResult], Step]) -> SendResult:
        """
        Do what ``step`` asks for, tell ``ended`` (now in ms, result) and go on with what it answers, to the end.

        Returns a result or raises what the application is to see (sendDefaultImpl, every release). Exceptions that are
        not RocketMQ's, such as IllegalStateException, end the call at once and untold, as runtime exceptions do in Java.
        """
        result = self._carry_out(message, step, ended, self._kernel.send)
        assert result is not None
        return result

    def carry_out_oneway(self, message: Message, step: Step, ended: Callable[[int, AttemptResult], Step]) -> None:
        """As carry_out, for a request that has no answer."""
        self._carry_out(message, step, ended, self._kernel.send_oneway)

    def _carry_out(
        self, message: Message, step: Step, ended: Callable[[int, AttemptResult], Step], send: _Send
    ) -> SendResult | None:
        began_ms = now_ms()
        outcomes: list[Outcome] = []
        brokers: list[str] = []
        while isinstance(step, Try):
            outcome = self._attempt(message, len(outcomes), step, send)
            outcomes.append(outcome)
            brokers.append(step.queue.broker)
            step = ended(now_ms(), _result_of(outcome))
        return _conclude(step, outcomes, message.topic, brokers, now_ms() - began_ms)

    def _attempt(self, message: Message, number: int, step: Try, send: _Send) -> Outcome:
        begin_ms = now_ms()
        kernel, listener, queue = self._kernel, self._listener, step.queue
        try:
            address = kernel.address_of(message.topic, queue.broker)
        except RocketMQException as error:
            return error
        payload = kernel.payload(message)
        start_ns = time.monotonic_ns()
        if listener is not None:
            listener.attempt_started(AttemptStarted(message, number, queue.broker, queue.queue_id, start_ns))
        outcome: Outcome
        try:
            outcome = send(message, payload, queue, address, step.timeout_ms, begin_ms)
        except RocketMQException as error:
            outcome = error
        if listener is not None:
            end_ns = time.monotonic_ns()
            listener.attempt_ended(_ended(message, number, queue, start_ns, end_ns, outcome))
        return outcome


def _ended(message: Message, number: int, queue: Queue, start_ns: int, end_ns: int, outcome: Outcome) -> AttemptEnded:
    status = outcome.status if isinstance(outcome, SendResult) else None
    error = outcome if isinstance(outcome, RocketMQException) else None
    return AttemptEnded(message, number, queue.broker, queue.queue_id, start_ns, end_ns, status, error)


def _result_of(outcome: Outcome) -> AttemptResult:
    if outcome is None:
        return AttemptResult()
    if isinstance(outcome, SendResult):
        return AttemptResult(status=outcome.status)
    return AttemptResult(error=type(outcome).__name__, code=getattr(outcome, "code", None))


def _conclude(step: Step, outcomes: list[Outcome], topic: str, brokers: list[str], cost_ms: int) -> SendResult | None:
    assert isinstance(step, Finish)
    outcome = None if step.attempt is None else outcomes[step.attempt]
    if step.ending is Ending.RESULT:
        assert not isinstance(outcome, RocketMQException)
        return outcome
    if step.ending is Ending.CALL_TIMEOUT:
        raise RemotingTooMuchRequestException("call timeout")
    assert isinstance(outcome, RocketMQException)
    if step.ending is Ending.RETHROWN:
        raise outcome
    story = f"Send [{len(outcomes)}] times, still failed, cost [{cost_ms}]ms, Topic: {topic}, BrokersSent: {brokers}"
    raise MQClientException(story, -1 if step.code is None else step.code) from outcome
