"""
The live producer: its life cycle and the calls of an application; the rules make every decision.

Read in DefaultMQProducer and DefaultMQProducerImpl, 4.0.0-incubating to 5.3.3.
"""

import contextlib
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import Protocol, Self

from rocketmq_reference.api.checks import check_group
from rocketmq_reference.api.listener import Listener
from rocketmq_reference.api.message import SendResult
from rocketmq_reference.api.sending import live_producer
from rocketmq_reference.api.settings import ProducerSettings
from rocketmq_reference.api.unique_key import UniqueKeys
from rocketmq_reference.client.async_sending import AsyncTask
from rocketmq_reference.client.codec import FAILURES, Failure
from rocketmq_reference.client.memory import Published, Thread
from rocketmq_reference.client.message import Message, MessageBatch
from rocketmq_reference.client.message_batch import batch_of
from rocketmq_reference.client.message_checks import check_message
from rocketmq_reference.client.sending import Choose
from rocketmq_reference.host.access import OPEN, Access
from rocketmq_reference.remoting.errors import MQClientException
from rocketmq_reference.remoting.properties import UNIQ_KEY
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.producer.async_rules import AsyncThread
from rocketmq_reference.rules.queue_choice.fault_table import FaultTable
from rocketmq_reference.rules.tape import RandomTape, Tape

QueueSelector = Callable[[list[Queue], Message, object], Queue | None]
"""Chooses a queue from a copy of the publish list, given the message and the application's argument; None: no choice."""


class SendCallback(Protocol):
    """Callback of an asynchronous send; its exceptions are ignored, as in Java."""

    def on_success(self, result: SendResult) -> None:
        """A broker has accepted the message."""
        ...

    def on_exception(self, error: Exception) -> None:
        """The client has given up. In 5.3.0 and 5.3.1 this can be called twice for one send."""
        ...


class _State(Enum):
    CREATED = "created"
    RUNNING = "running"
    SHUT_DOWN = "shut down"


class Producer:
    """
    A producer that behaves as the Java client of the dialect's releases; thread-safe.

    name_servers: ``host:port`` each; the producer connects only to them and to the brokers in their answers. Every thread has
    its own position in every topic's publish list; the fault table is shared. tapes: makes a thread's source of random
    numbers. access: signatures and TLS of requests.
    """

    def __init__(
        self,
        name_servers: Sequence[str],
        group: str,
        dialect: Dialect,
        settings: ProducerSettings | None = None,
        listener: Listener | None = None,
        *,
        tapes: Callable[[], Tape] = RandomTape,
        access: Access = OPEN,
    ) -> None:
        self.group = group
        self.dialect = dialect
        self.settings = settings or ProducerSettings()
        self._parts = live_producer(name_servers, group, dialect, self.settings, listener, tapes, access)
        self._client = self._parts.client
        self._state = _State.CREATED
        self._keys = UniqueKeys()

    @property
    def faults(self) -> FaultTable:
        """The fault table: known slow and failing brokers."""
        return self._parts.memory.faults

    def start(self) -> Self:
        """
        Check the group and start the route polls and heartbeats (DefaultMQProducerImpl.start).

        No name server needs to be reachable. Raises MQClientException for an illegal group or a second start.
        """
        check_group(self.group)
        if self._state is not _State.CREATED:
            raise MQClientException(f"The producer service state not OK, maybe started once, {self._state.value}")
        self._state = _State.RUNNING
        self._client.host.post(self._client.background.start)
        return self

    def shutdown(self) -> None:
        """Unregister from the brokers and close all connections; calls under way fail. A second call has no effect."""
        was_started = self._state is _State.RUNNING
        self._state = _State.SHUT_DOWN
        self._client.shutdown(unregister_client=was_started and self.settings.unregister_on_shutdown)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc_info: object) -> None:
        self.shutdown()

    def send(self, message: Message, timeout_ms: int | None = None) -> SendResult:
        """
        Send to a queue that the client selects, with retries (DefaultMQProducerImpl.sendDefaultImpl).

        timeout_ms: for the whole call from 4.3.0, for each attempt before; send_msg_timeout_ms by default. Raises
        MQClientException (with the code of its cause, see ClientErrorCode), RemotingTooMuchRequestException when the time is
        spent, MQBrokerException for answers that are not retried, and from 4.6.0 IllegalStateException if the topic is new
        and no name server answers.
        """
        self._check(message)
        host = self._client.host
        return _result(host.run(self._parts.sender.send(message, host.here(), timeout_ms)))

    def send_batch(self, messages: Sequence[Message], timeout_ms: int | None = None) -> SendResult:
        """
        Send several messages of one topic as one, otherwise like send(); bodies are not compressed (from 4.1.0).

        Also raises MQClientException for messages that cannot be batched together, and before 4.1.0
        UnsupportedOperationException.
        """
        self._check_running()
        batch = batch_of(messages, self._keys.create, self.dialect, self.settings.max_message_size)
        return self.send(batch, timeout_ms)

    def send_to_queue(self, message: Message, queue: Queue, timeout_ms: int | None = None) -> SendResult:
        """
        Send to the given queue: one attempt, without an entry in the fault table.

        Read in DefaultMQProducerImpl.send(message, queue, timeout) of every release. Raises the exception of the attempt.
        """
        self._check(message)
        return _result(self._client.host.run(self._parts.sender.send_to_queue(message, Queue(*queue), timeout_ms)))

    def send_by_selector(
        self, message: Message, selector: QueueSelector, argument: object, timeout_ms: int | None = None
    ) -> SendResult:
        """
        Send to the queue that a function selects: one attempt, in the time that route and selector leave (sendSelectImpl).

        Without timeout_ms the attempt has the whole default timeout from 5.1.4. Raises MQClientException if the function raises
        or chooses nothing, and the exception of the attempt.
        """
        self._check(message)
        choose = _chooser(message, selector, argument)
        return _result(self._client.host.run(self._parts.sender.send_by_selector(message, choose, timeout_ms)))

    def send_async(self, message: Message, callback: SendCallback, timeout_ms: int | None = None) -> None:
        """
        Send like send(), but report the end to ``callback``, in a thread of the client (MQClientAPIImpl.sendMessageAsync).

        Failures are reported too; only up to 4.2.0 a failure before the first attempt is raised. An error answer is never
        retried, a timeout is noticed one to two seconds late, and retries differ between releases (AsyncRules).
        """
        self._submit(message, callback, timeout_ms)

    def send_async_to_queue(
        self, message: Message, queue: Queue, callback: SendCallback, timeout_ms: int | None = None
    ) -> None:
        """Send like send_async(), to the given queue; a retry goes to the same broker."""
        self._submit(message, callback, timeout_ms, queue=Queue(*queue))

    def send_async_by_selector(
        self,
        message: Message,
        selector: QueueSelector,
        argument: object,
        callback: SendCallback,
        timeout_ms: int | None = None,
    ) -> None:
        """Send like send_async_to_queue(), to the queue that a function selects."""
        self._submit(message, callback, timeout_ms, choose=_chooser(message, selector, argument))

    def send_oneway(self, message: Message) -> None:
        """
        Send once without waiting for an answer (DefaultMQProducerImpl.sendOneway).

        Raises whatever prevents the write of the request; from 5.3.0 refused connections do not raise.
        """
        self._check(message)
        host = self._client.host
        host.run(self._parts.sender.send(message, host.here(), one_way=True))

    def send_oneway_to_queue(self, message: Message, queue: Queue) -> None:
        """Send like send_oneway(), to the given queue and without an entry in the fault table."""
        self._check(message)
        self._client.host.run(self._parts.sender.send_to_queue(message, Queue(*queue), one_way=True))

    def send_oneway_by_selector(self, message: Message, selector: QueueSelector, argument: object) -> None:
        """Send like send_oneway_to_queue(), to the queue that a function selects."""
        self._check(message)
        choose = _chooser(message, selector, argument)
        self._client.host.run(self._parts.sender.send_by_selector(message, choose, one_way=True))

    def queues(self, topic: str) -> tuple[Queue, ...]:
        """
        Return the topic's current publish list, looked up if necessary; no counter advances.

        Raises MQClientException or IllegalStateException like send() if there is none.
        """
        self._check_running()
        return tuple(self._client.host.run(self._parts.lists.published(topic, by_selector=False)).info.queues)

    def heartbeat(self) -> None:
        """
        Run a round of heartbeats now in the calling thread; it connects to the masters of all known routes.

        Failures are ignored, as in the periodic rounds.
        """
        self._check_running()
        self._client.host.run(self._client.background.clean_and_beat())

    def route_version(self, topic: str) -> int:
        """Return the number of publish lists the topic has had; a new one restarts every thread's counter."""
        return self._parts.memory.published(topic).version

    def _submit(
        self,
        message: Message,
        callback: SendCallback,
        timeout_ms: int | None,
        *,
        queue: Queue | None = None,
        choose: Choose | None = None,
    ) -> None:
        if self.dialect.producer.asynchronous.runs_on is not AsyncThread.CALLER and self._client.host.is_closed:
            raise MQClientException("executor rejected")
        task: AsyncTask[Message, SendResult] = AsyncTask(
            message, partial(_call_back, callback), timeout_ms, queue, choose, partial(self._check, message)
        )
        self._client.host.run(self._parts.async_sender.send(task, self._client.host.here()))

    def _check(self, message: Message) -> None:
        self._check_running()
        check_message(message, self.dialect, self.settings.max_message_size)
        if UNIQ_KEY not in message.properties and not isinstance(message, MessageBatch):
            message.properties[UNIQ_KEY] = self._keys.create()

    def _check_running(self) -> None:
        if self._state is not _State.RUNNING:
            raise MQClientException(f"The producer service state not OK, {self._state.value}")


def _chooser(message: Message, selector: QueueSelector, argument: object) -> Choose:
    def choose(published: Published) -> Queue:
        try:
            chosen = selector(list(published.info.queues), message, argument)
        except Exception as error:
            raise MQClientException("select message queue threw exception.") from error
        if chosen is None:
            raise MQClientException("select message queue return null.")
        return Queue(*chosen)

    return choose


def _call_back(callback: SendCallback, outcome: SendResult | Failure, _thread: Thread) -> None:
    with contextlib.suppress(Exception):
        if isinstance(outcome, FAILURES):
            callback.on_exception(outcome)
        else:
            callback.on_success(outcome)


def _result(result: SendResult | None) -> SendResult:
    assert result is not None
    return result
