"""
The reference as a producer under test.

The warm-up is the Java driver's: a second producer, group ``<group>-warm``, on a topic that is not judged. The two producers
share no connections here, so the measured one opens its own by a heartbeat.
"""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from rocketdiff.core.records.sending import UNSEEN_END, Attempt, RouteSeen
from rocketdiff.core.security import ACL, TLS
from rocketdiff.core.sends.message import ID_PROPERTY
from rocketdiff.core.sends.plan import PlannedSend, SendKind, SendMode
from rocketdiff.drivers.python.sending.async_sends import Told
from rocketdiff.drivers.python.sending.choosers import Choosers
from rocketdiff.drivers.python.sending.client import ClientResult
from rocketdiff.drivers.python.sending.identity import body_of, message_id
from rocketdiff.drivers.python.sending.sender import code_of
from rocketdiff.drivers.python.session import Speak
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.protocol.consuming import MemberSetup
from rocketmq_reference.api import listener as heard
from rocketmq_reference.api.message import SendResult
from rocketmq_reference.api.producer import Producer
from rocketmq_reference.api.settings import ProducerSettings
from rocketmq_reference.client.codec import FAILURES
from rocketmq_reference.client.message import Message, user_properties
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.host.access import Access, tls_context
from rocketmq_reference.remoting.errors import MQClientException
from rocketmq_reference.remoting.properties import DELAY
from rocketmq_reference.remoting.signing import Credentials
from rocketmq_reference.rules.client.publish import Pick, Queue
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.queue_choice.selection import Selector, draw_past_last_broker
from rocketmq_reference.rules.tape import RandomTape, Tape

_WARM_ROUNDS = 2
"""The first round opens the connection to every broker, the second uses it."""
_WARM_TRIES = 3
"""A crowded broker refuses single requests (code 2, after 200 ms in its queue)."""
_WARM_PLAIN_SENDS = 50
"""They warm caches and the brokers' side of the connections; there is no JIT compiler."""
_WARM_TIMEOUT_MS = 5_000
"""A healthy cluster answers much faster; the runner's deadline for ready is longer."""
_WARM_BODY_BYTES = 128
MODES = tuple(mode.value for mode in SendMode if mode is not SendMode.SYNC)
"""Capabilities for modes other than synchronous."""
_NO_BATCH = ("4.0.0-incubating",)
"""Releases before MessageBatch."""


def capabilities_of(release: str) -> tuple[str, ...]:
    """Return the capabilities as this release: kinds of send, modes, reported records, security, optional settings."""
    lacking = {SendKind.GROUP, SendKind.BATCH} if release in _NO_BATCH else {SendKind.GROUP}
    kinds = [kind.value for kind in SendKind if kind not in lacking]
    return (*kinds, *MODES, "attempts", "routes", "causes", ACL, TLS, "setting:poll_name_server_interval_ms")


def without_failover(release: str) -> Dialect:
    """Return a defective dialect of a release: a retry goes to the broker that has just failed."""

    def insisting(selector: Selector, last_broker: str | None, reset_index: bool, now_ms: int) -> Pick:
        here = [place for place, queue in enumerate(selector.info.queues) if queue.broker == last_broker]
        return here[0] if here else draw_past_last_broker(selector, None, reset_index, now_ms)

    dialect = dialect_of(release)
    return replace(dialect, producer=replace(dialect.producer, select_plain=insisting))


def access_of(setup: SubjectSetup | MemberSetup) -> Access:
    """Return account and TLS context of the setup; raises OSError for unusable TLS files."""
    security = setup.security or {}
    account, tls = security.get("account"), security.get("tls")
    files = {name: Path(path) for name, path in (tls or {}).items() if name != "key_password"}
    return Access(
        None if account is None else Credentials(**account),
        None
        if tls is None
        else tls_context(files.get("ca"), files.get("certificate"), files.get("key"), tls.get("key_password")),
    )


class StartsAtZero(RandomTape):
    """Defective tape: every counter starts at zero."""

    def int32(self) -> int:
        return 0


class ReferenceClient:
    """The reference producer; reports its attempts and routes."""

    def __init__(
        self,
        release: str,
        setup: SubjectSetup,
        speak: Speak,
        dialect: Dialect | None = None,
        tapes: Callable[[], Tape] = RandomTape,
    ) -> None:
        """dialect, tapes: replacements of the release's dialect and random tape, for clients with a defect."""
        dialect = self._dialect = dialect or dialect_of(release)
        self._setup = setup
        self._speak = speak
        self._settings = settings_of(setup)
        self._access = access_of(setup)
        self._current = threading.local()
        self._choosers = Choosers()
        self._queues: tuple[Queue, ...] = ()
        self._producer = Producer(
            setup.name_servers, setup.group, dialect, self._settings, self, tapes=tapes, access=self._access
        )

    def prepare(self) -> None:
        self._warm_up()
        self._producer.start()
        with contextlib.suppress(MQClientException):  # a topic that its first send creates has no route yet
            self._producer.queues(self._setup.topic)
        self._producer.heartbeat()

    def message(self, send: PlannedSend) -> Message:
        return _message(self._setup, self._setup.topic, send, self._dialect)

    def route(self) -> int:
        return self._producer.route_version(self._setup.topic)

    def send(self, send: PlannedSend, message: Any) -> ClientResult:
        self._current.send, self._current.attempts = send, 0
        return _answer(self._call(send, message))

    def send_async(self, send: PlannedSend, message: Any, on_end: Told) -> None:
        self._choosers.submitted(send, message)
        callback, producer, timeout_ms = _Callback(on_end), self._producer, self._settings.send_msg_timeout_ms
        match send.kind:
            case SendKind.PLAIN:
                producer.send_async(message, callback)
            case SendKind.QUEUE:
                producer.send_async_to_queue(message, self._queue_of(send), callback, timeout_ms)
            case SendKind.SELECTOR:
                producer.send_async_by_selector(message, _modulo, send.argument, callback, timeout_ms)
            case SendKind.BATCH:
                raise NotImplementedError("an asynchronous batch")

    def send_oneway(self, send: PlannedSend, message: Any) -> None:
        self._current.send, self._current.attempts = send, 0
        match send.kind:
            case SendKind.PLAIN:
                self._producer.send_oneway(message)
            case SendKind.QUEUE:
                self._producer.send_oneway_to_queue(message, self._queue_of(send))
            case SendKind.SELECTOR:
                self._producer.send_oneway_by_selector(message, _modulo, send.argument)
            case SendKind.BATCH:
                raise NotImplementedError("a one-way batch")

    def shutdown(self) -> None:
        self._producer.shutdown()

    def attempt_started(self, event: heard.AttemptStarted) -> None:
        """Note the chooser, known now; an attempt is reported at its end."""
        self._choosers.started(event)

    def attempt_ended(self, event: heard.AttemptEnded) -> None:
        """Report the attempt, renumbered because, like a Java hook, this does not see attempts whose broker has no address."""
        if self._choosers.is_asynchronous(event.message):
            chosen = self._choosers.of(event)
            if chosen is not None:
                self._report_attempt(event, *chosen)
            return
        current = self._current
        self._report_attempt(event, current.send, current.attempts, None)
        current.attempts += 1

    def gave_up(self, send: PlannedSend, now_ns: int) -> None:
        """Up to 4.6.1 two requests may share an opaque; the earlier one's response is dropped, though its message is stored."""
        for event, chooser in self._choosers.still_open(send):
            place = event.attempt, event.broker, event.queue_id, event.start_ns
            self._speak(Attempt(send.send, send.thread, *place, now_ns, error=UNSEEN_END, chooser=chooser))

    def _report_attempt(self, event: heard.AttemptEnded, send: PlannedSend, number: int, chooser: int | None) -> None:
        error = event.error
        self._speak(
            Attempt(
                send.send,
                send.thread,
                number,
                event.broker,
                event.queue_id,
                event.start_ns,
                event.end_ns,
                error=None if error is None else type(error).__name__,
                code=code_of(error),
                status=None if event.status is None else event.status.name,
                chooser=chooser,
            )
        )

    def route_changed(self, event: heard.RouteChanged) -> None:
        """Report the route before the producer uses the list."""
        if event.topic == self._setup.topic:
            self._queues = tuple(sorted(Queue(broker, number) for broker, number in event.queues))
            self._speak(RouteSeen(event.route, event.at_ns, event.queues))

    def _call(self, send: PlannedSend, message: Message) -> SendResult:
        producer, timeout_ms = self._producer, self._settings.send_msg_timeout_ms
        match send.kind:
            case SendKind.PLAIN:
                return producer.send(message)
            case SendKind.QUEUE:
                return producer.send_to_queue(message, self._queue_of(send), timeout_ms)
            case SendKind.SELECTOR:
                return producer.send_by_selector(message, _modulo, send.argument, timeout_ms)
            case SendKind.BATCH:
                return producer.send_batch([message])
            case SendKind.GROUP:
                raise ValueError("a message group, which only clients that speak gRPC have")

    def _queue_of(self, send: PlannedSend) -> Queue:
        return self._queues[send.argument % len(self._queues)]

    def _warm_up(self) -> None:
        setup = self._setup
        settings = settings_of(setup, send_msg_timeout_ms=_WARM_TIMEOUT_MS)
        group = f"{setup.group}-warm"
        with Producer(setup.name_servers, group, self._dialect, settings, access=self._access) as warm:
            queues = warm.queues(setup.warm_topic)
            for number in range(_WARM_ROUNDS * len(queues)):
                repeat_send(partial(warm.send_to_queue, self._warm_message(number), queues[number % len(queues)]))
            for number in range(_WARM_PLAIN_SENDS):
                repeat_send(partial(warm.send, self._warm_message(number)))

    def _warm_message(self, number: int) -> Message:
        send = PlannedSend(number, 0, 0, SendKind.PLAIN, 0, _WARM_BODY_BYTES)
        return _message(self._setup, self._setup.warm_topic, send, self._dialect)


def repeat_send(send: Callable[[], object]) -> None:
    """Send up to three times, raise what the last one raised: Java's warm-up lets all but its last send fail."""
    for left in reversed(range(_WARM_TRIES)):
        try:
            send()
        except FAILURES:
            if not left:
                raise
        else:
            return


class _Callback:
    """Callback of the reference."""

    def __init__(self, on_end: Told) -> None:
        self._told = on_end

    def on_success(self, result: SendResult) -> None:
        self._told(_answer(result))

    def on_exception(self, error: Exception) -> None:
        self._told(error)


def settings_of(setup: SubjectSetup, **changes: int) -> ProducerSettings:
    """Return the scenario's settings that the reference has; the names are equal."""
    known = {each.name for each in fields(ProducerSettings)}
    named = {each.name: getattr(setup.settings, each.name) for each in fields(setup.settings) if each.name in known}
    return ProducerSettings(**{**named, **changes})


def _answer(result: SendResult) -> ClientResult:
    return ClientResult(result.status.name, result.broker, result.queue_id, result.queue_offset)


def _message(setup: SubjectSetup, topic: str, send: PlannedSend, dialect: Dialect) -> Message:
    identity = message_id(setup, topic, send.send)
    properties = user_properties([(ID_PROPERTY, identity), *send.properties], dialect.messages)
    if send.delay_level:
        properties[DELAY] = str(send.delay_level)
    return Message(topic, body_of(identity, send), properties, tags=send.tags, keys=send.keys)


def _modulo(queues: list[Queue], _message: Message, argument: object) -> Queue:
    assert isinstance(argument, int)
    return queues[argument % len(queues)]
