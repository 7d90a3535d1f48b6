"""Synchronous and one-way sends: carries out the attempts that the rules request, and returns or raises the end."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Generic

from rocketmq_reference.client.codec import (
    FAILURES,
    Answer,
    Attempts,
    Failure,
    Msg,
    Request,
    Result,
    SendCodec,
    Transport,
    attempt_result,
)
from rocketmq_reference.client.effects import Host, Running
from rocketmq_reference.client.memory import ProducerMemory, Published, Thread
from rocketmq_reference.client.publishing import PublishLists
from rocketmq_reference.remoting.errors import MQClientException, RemotingTooMuchRequestException
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Step, Try
from rocketmq_reference.rules.producer.direct_send import direct_send_ended, send_by_selector, send_to_queue
from rocketmq_reference.rules.producer.one_way import OneWaySend, one_way_to_queue
from rocketmq_reference.rules.producer.send_loop import SendLoop
from rocketmq_reference.rules.producer.settings import SendSettings

Choose = Callable[[Published], Queue]
"""A function of the application that selects a queue. Raises MQClientException if it selects none."""

Ended = Callable[[int, AttemptResult], Step]


class Sender(Generic[Msg, Request, Answer, Result]):
    """
    Synchronous and one-way sends of one client, from any thread; vip_address: maps an address to the port two below.

    The sends raise the exceptions that the application sees. A one-way send returns None.
    """

    def __init__(
        self,
        memory: ProducerMemory,
        host: Host,
        lists: PublishLists,
        transport: Transport[Request, Answer],
        codec: SendCodec[Msg, Request, Answer, Result],
        attempts: Attempts[Msg, Answer, Result],
        vip_address: Callable[[str], str],
    ) -> None:
        self.memory = memory
        self.host = host
        self.lists = lists
        self.routes = lists.routes
        self.transport = transport
        self.codec = codec
        self.attempts = attempts
        self.vip_address = vip_address
        self._vip = memory.dialect.client.uses_vip_channel(memory.settings.vip_channel_enabled)

    def send(
        self, message: Msg, thread: Thread, timeout_ms: int | None = None, *, one_way: bool = False
    ) -> Running[Result | None]:
        """Send to a queue that the client selects, with retries (sendDefaultImpl)."""
        began_ms = self.host.now_ms
        published = yield from self.lists.published(message.topic, by_selector=False)
        kind = OneWaySend if one_way else SendLoop
        loop = kind(self.memory.dialect, self.settings(timeout_ms), self.memory.selector(thread, published))
        step = loop.begin(began_ms, self.host.now_ms)
        return (yield from self._carry_out(message, step, loop.attempt_ended, began_ms, loop.picked, one_way=one_way))

    def send_to_queue(
        self, message: Msg, queue: Queue, timeout_ms: int | None = None, *, one_way: bool = False
    ) -> Running[Result | None]:
        """Send to a given queue: one attempt, without an entry in the fault table."""
        timeout = self.settings(timeout_ms).send_msg_timeout_ms
        step: Step = (
            one_way_to_queue(queue, timeout) if one_way else send_to_queue(self.memory.dialect, queue, timeout, 0)
        )
        return (yield from self._carry_out(message, step, _direct, self.host.now_ms, one_way=one_way))

    def send_by_selector(
        self, message: Msg, choose: Choose, timeout_ms: int | None = None, *, one_way: bool = False
    ) -> Running[Result | None]:
        """Send like send_to_queue to the queue that the application's function selects (sendSelectImpl)."""
        began_ms = self.host.now_ms
        published = yield from self.lists.published(message.topic, by_selector=True)
        queue = yield from self.host.outside(partial(choose, published))
        timeout = self.settings(timeout_ms).send_msg_timeout_ms
        spent_ms = self.host.now_ms - began_ms
        dialect, given = self.memory.dialect, timeout_ms is not None
        step = send_by_selector(dialect, queue, timeout, spent_ms, timeout_given=given)
        return (yield from self._carry_out(message, step, _direct, began_ms, one_way=one_way))

    def settings(self, timeout_ms: int | None) -> SendSettings:
        settings = self.memory.settings
        return settings if timeout_ms is None else replace(settings, send_msg_timeout_ms=timeout_ms)

    def _carry_out(
        self,
        message: Msg,
        step: Step,
        ended: Ended,
        began_ms: int,
        selected: Callable[[], Queue] | None = None,
        *,
        one_way: bool,
    ) -> Running[Result | None]:
        """Make the attempts of a call; selected: reads the queue of the current one again, if the client selected it."""
        outcomes: list[Result | Failure | None] = []
        brokers: list[str] = []
        while isinstance(step, Try):
            queue = selected or partial(_given, step.queue)
            outcome = yield from self._attempt(message, len(outcomes), queue, step.timeout_ms, one_way=one_way)
            outcomes.append(outcome)
            brokers.append(step.queue.broker)
            step = ended(self.host.now_ms, attempt_result(outcome))
        outcome = None if step.attempt is None else outcomes[step.attempt]
        if step.ending is Ending.RESULT and not isinstance(outcome, FAILURES):
            return outcome
        if step.ending is Ending.CALL_TIMEOUT:
            raise RemotingTooMuchRequestException("call timeout")
        assert isinstance(outcome, FAILURES)
        if step.ending is Ending.RETHROWN:
            raise outcome
        cost_ms = self.host.now_ms - began_ms
        text = f"Send [{len(outcomes)}] times, still failed, cost [{cost_ms}]ms, Topic: {message.topic}, BrokersSent: {brokers}"
        raise MQClientException(text, -1 if step.code is None else step.code) from outcome

    def _attempt(
        self, message: Msg, number: int, selected: Callable[[], Queue], timeout_ms: int, *, one_way: bool
    ) -> Running[Result | Failure | None]:
        """
        Make one attempt, from the lookup of the broker's address to the answer (sendKernelImpl).

        Up to 5.1.3 another thread may rewrite the selected queue meanwhile, so it is read where Java reads it.
        """
        # The lookup of the address and the encoding count against the attempt's timeout (from 4.3.0).
        began_ms = self.host.now_ms
        try:
            broker, address = yield from self.lists.address_of(message.topic, selected)
        except FAILURES as error:
            # No attempt for observers: Java's SendMessageHook does not see it either.
            return error
        body = None
        if self.codec.takes_time(message):
            body = yield from self.host.outside(partial(self.codec.compressed, message))
        vip, seen = self._vip, selected()
        attempt = self.attempts.begun(message, number, seen.broker, seen.queue_id, address, vip=vip)
        queue_id = selected().queue_id
        if self.memory.dialect.producer.reads_broker_again:
            broker = selected().broker
        question = self.codec.send(message, broker, queue_id, body, one_way=one_way)
        outcome: Result | Failure | None
        answer: Answer | None = None
        try:
            left_ms = self._left_ms(timeout_ms, began_ms)
            self.attempts.requested(attempt, left_ms)
            target = self.vip_address(address) if vip else address
            if one_way:
                yield from self.transport.invoke_one_way(target, left_ms, question)
                outcome = None
            else:
                answer = yield from self.transport.invoke(target, left_ms, question)
                outcome = self.codec.result(message, broker, answer, target)
        except FAILURES as error:
            outcome = error
        self.attempts.ended(attempt, outcome, answer)
        return outcome

    def _left_ms(self, timeout_ms: int, began_ms: int) -> int:
        left_ms = self.memory.dialect.producer.loop.left_ms(timeout_ms, self.host.now_ms - began_ms)
        if left_ms is None:
            raise RemotingTooMuchRequestException("sendKernelImpl call timeout")
        return left_ms


def _given(queue: Queue) -> Queue:
    return queue


def _direct(_now_ms: int, result: AttemptResult) -> Step:
    return direct_send_ended(result)
