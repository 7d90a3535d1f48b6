"""
The live producer: a dialect's rules, remoting and a clock.

Every decision is the rules'; here are the state they need, the threads that keep it fresh, and the calls an application
makes. Synchronous sends only. Read in DefaultMQProducer, DefaultMQProducerImpl and MQClientInstance, 4.0.0-incubating
to 5.3.3.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from typing import Self

from reference_impl.calls import Calls, now_ms
from reference_impl.checks import check_group, check_message
from reference_impl.heartbeat import Heartbeats
from reference_impl.kernel import Kernel
from reference_impl.listener import Listener, RouteChanged
from reference_impl.message import Message, MessageBatch, SendResult
from reference_impl.message_batch import batch_of
from reference_impl.name_servers import NameServers
from reference_impl.remoting.channels import Channels
from reference_impl.remoting.errors import MQClientException
from reference_impl.remoting.properties import UNIQ_KEY
from reference_impl.remoting.versions import mq_version
from reference_impl.route_table import PublishedTopic, RouteTable
from reference_impl.rules.attempt import AttemptResult, Step
from reference_impl.rules.dialect import Dialect
from reference_impl.rules.direct_send import direct_send_ended, no_route, send_by_selector, send_to_queue
from reference_impl.rules.fault_table import FaultTable
from reference_impl.rules.index import ThreadIndex
from reference_impl.rules.publish import PublishInfo, Queue
from reference_impl.rules.selection import Selector
from reference_impl.rules.send_loop import SendLoop
from reference_impl.rules.tape import RandomTape, Tape
from reference_impl.schedule import Schedule
from reference_impl.settings import ProducerSettings
from reference_impl.unique_key import UniqueKeys

QueueSelector = Callable[[list[Queue], Message, object], Queue | None]
"""Chooses from a copy of the publish list, given the message and the application's argument; None chooses nothing."""

_BATCH_HAS_OWN_KEY_FROM = mq_version("5.0.0")  # seen in every tag; a wire form, not worth a dialect's field


class _State(Enum):
    CREATED = "created"
    RUNNING = "running"
    SHUT_DOWN = "shut down"


class Producer:
    """
    A producer that behaves as the Java client of the dialect's releases; safe for threads.

    name_servers: ``host:port`` each; nothing else is connected to but the brokers they name. Every thread has its own
    position in every topic's publish list; what is known about slow and failing brokers is shared. tapes: where a
    thread's random numbers come from.
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
    ) -> None:
        self.group = group
        self.dialect = dialect
        self.settings = settings or ProducerSettings()
        self.faults = FaultTable(dialect.fault_table)
        self._listener = listener
        self._tapes = tapes
        self._state = _State.CREATED
        self._threads = threading.local()
        self._keys = UniqueKeys()
        self._channels = Channels(dialect.remoting, on_connected=self._connected)
        asked = NameServers(name_servers, self._channels, dialect.remoting, self.settings.serialization)
        self._routes = RouteTable(dialect, self.settings, asked, self._route_changed)
        self._version = mq_version(dialect.releases.first)
        client_id = f"127.0.0.1@{os.getpid()}#{time.monotonic_ns()}"
        self._heartbeats = Heartbeats(client_id, group, self.settings, self._channels, self._routes, self._version)
        self._calls = Calls(Kernel(dialect, self.settings, group, self._channels, self._routes), listener)
        self._schedule = Schedule(f"scheduled-{group}")

    def start(self) -> Self:
        """
        Check the group and begin polling routes and sending heartbeats (DefaultMQProducerImpl.start).

        Needs no name server to be up. Raises MQClientException for an illegal group or a second start.
        """
        check_group(self.group)
        if self._state is not _State.CREATED:
            raise MQClientException(f"The producer service state not OK, maybe started once, {self._state.value}")
        self._state = _State.RUNNING
        settings = self.settings
        self._schedule.add(
            self._routes.poll, first_ms=settings.first_poll_ms, period_ms=settings.poll_name_server_interval_ms
        )
        self._schedule.add(
            self._heartbeats.beat, first_ms=settings.first_heartbeat_ms, period_ms=settings.heartbeat_broker_interval_ms
        )
        self._schedule.start()
        if self.dialect.remoting.heartbeat_on_connect:
            name = f"connections-{self.group}"
            threading.Thread(target=self._heartbeats.follow_connections, name=name, daemon=True).start()
        return self

    def shutdown(self) -> None:
        """Say good-bye to the brokers and close all connections; calls under way fail. Twice does nothing."""
        if self._state is _State.RUNNING:
            self._schedule.stop()
            self._heartbeats.stop()
            if self.settings.unregister_on_shutdown:
                self._heartbeats.unregister()
        self._state = _State.SHUT_DOWN
        self._channels.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc_info: object) -> None:
        self.shutdown()

    def send(self, message: Message, timeout_ms: int | None = None) -> SendResult:
        """
        Send to a queue the client selects, again elsewhere where that fails (DefaultMQProducerImpl.sendDefaultImpl).

        timeout_ms: for the whole call from 4.3.0 on, for each attempt before; send_msg_timeout_ms by default. Raises
        MQClientException (with the code of its cause, see ClientErrorCode), RemotingTooMuchRequestException when the
        time is used up, MQBrokerException for answers that are not worth a retry, and IllegalStateException where the
        topic is new and no name server answers, from 4.6.0 on.
        """
        self._check(message)
        settings = self._settings(timeout_ms)
        began_ms = now_ms()
        published = self._published(message.topic, by_selector=False)
        loop = SendLoop(self.dialect, settings, published.selector(self._selector))
        return self._calls.carry_out(message, loop.begin(began_ms, now_ms()), loop.attempt_ended)

    def send_batch(self, messages: Sequence[Message], timeout_ms: int | None = None) -> SendResult:
        """
        Send several messages of one topic as one, otherwise like send(); bodies are not compressed (from 4.1.0 on).

        Raises also MQClientException for messages that do not fit together.
        """
        self._check_running()
        has_own_key = self._version >= _BATCH_HAS_OWN_KEY_FROM
        batch = batch_of(messages, self._keys, self.settings.max_message_size, has_own_key=has_own_key)
        return self.send(batch, timeout_ms)

    def send_to_queue(self, message: Message, queue: Queue, timeout_ms: int | None = None) -> SendResult:
        """
        Send to the given queue: one attempt, and no trace of it in what is known about brokers.

        Read in DefaultMQProducerImpl.send(message, queue, timeout) of every release. Raises what the attempt raises.
        """
        began_ms = now_ms()
        self._check(message)
        timeout = self._settings(timeout_ms).send_msg_timeout_ms
        step = send_to_queue(self.dialect, Queue(*queue), timeout, now_ms() - began_ms)
        return self._calls.carry_out(message, step, _direct)

    def send_by_selector(
        self, message: Message, selector: QueueSelector, argument: object, timeout_ms: int | None = None
    ) -> SendResult:
        """
        Send to the queue a function selects: one attempt, in the time that route and selector leave (sendSelectImpl).

        This is Java's call with a timeout; without one, from 5.1.4 on, Java gives the attempt the whole timeout.
        Raises MQClientException where the function raises or chooses nothing, and what the attempt raises.
        """
        began_ms = now_ms()
        self._check(message)
        timeout = self._settings(timeout_ms).send_msg_timeout_ms
        published = self._published(message.topic, by_selector=True)
        try:
            chosen = selector(list(published.info.queues), message, argument)
        except Exception as error:
            raise MQClientException("select message queue threw exception.") from error
        if chosen is None:
            raise MQClientException("select message queue return null.")
        step = send_by_selector(self.dialect, Queue(*chosen), timeout, now_ms() - began_ms)
        return self._calls.carry_out(message, step, _direct)

    def queues(self, topic: str) -> tuple[Queue, ...]:
        """
        The topic's publish list as it stands, looked up if need be; no counter moves.

        Raises MQClientException or IllegalStateException as send() does where there is none.
        """
        self._check_running()
        return tuple(self._published(topic, by_selector=False).info.queues)

    def heartbeat(self) -> None:
        """
        One round of heartbeats now, in the calling thread: opens connections to the masters of all known routes.

        What a broker does not answer is forgotten, as in the rounds that come by themselves.
        """
        self._check_running()
        self._heartbeats.beat()

    def route_version(self, topic: str) -> int:
        """How many publish lists the topic has had, 0 for none; a new one starts every thread's counter anew."""
        return self._routes.version(topic)

    def _check(self, message: Message) -> None:
        self._check_running()
        check_message(message, self.settings.max_message_size)
        if UNIQ_KEY not in message.properties and not isinstance(message, MessageBatch):
            message.properties[UNIQ_KEY] = self._keys.create()

    def _check_running(self) -> None:
        if self._state is not _State.RUNNING:
            raise MQClientException(f"The producer service state not OK, {self._state.value}")

    def _settings(self, timeout_ms: int | None) -> ProducerSettings:
        return self.settings if timeout_ms is None else replace(self.settings, send_msg_timeout_ms=timeout_ms)

    def _published(self, topic: str, *, by_selector: bool) -> PublishedTopic:
        published = self._routes.find(topic)
        if published is not None:
            return published
        end = no_route(self.dialect, name_servers_set=True, name_server_reached=True, by_selector=by_selector)
        raise MQClientException(f"No route info of this topic: {topic}", -1 if end.code is None else end.code)

    def _selector(self, info: PublishInfo) -> Selector:
        threads = self._threads
        if not hasattr(threads, "tape"):
            threads.tape = self._tapes()
            threads.worst_index = ThreadIndex(self.dialect.index)
        return Selector(info, ThreadIndex(self.dialect.index), self.faults, threads.worst_index, threads.tape)

    def _connected(self, address: str) -> None:
        if self.dialect.remoting.heartbeat_on_connect:
            self._heartbeats.connected(address)

    def _route_changed(self, event: RouteChanged) -> None:
        if self._listener is not None:
            self._listener.route_changed(event)


def _direct(_now_ms: int, result: AttemptResult) -> Step:
    return direct_send_ended(result)
