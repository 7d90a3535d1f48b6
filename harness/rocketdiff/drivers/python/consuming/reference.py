"""The reference as a member of a consumer group: one that joins, one for the warm-up."""

import threading
import time
from collections.abc import Sequence
from typing import Any

from rocketdiff.core.consuming.plan import Allocation, ListenerOutcome, ListenerRule
from rocketdiff.core.records.consuming import OffsetEvent
from rocketdiff.drivers.python.access import access_of
from rocketdiff.drivers.python.consuming.messages import MessageReader
from rocketdiff.drivers.python.consuming.reports import Reports
from rocketdiff.drivers.python.consuming.script import CallEnd, ListenerScript
from rocketdiff.drivers.python.session import Speak
from rocketdiff.protocol.consuming import MemberSetup
from rocketmq_reference.api.push_consumer import PushConsumer
from rocketmq_reference.api.settings import ConsumerSettings
from rocketmq_reference.client.consuming import memory
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.concurrent import ConsumeContext, ConsumeStatus
from rocketmq_reference.rules.consumer.offsets import TopicQueue
from rocketmq_reference.rules.consumer.settings import ConsumeFromWhere

_STRATEGIES = {Allocation.AVG: "AVG", Allocation.CIRCLE: "AVG_BY_CIRCLE", Allocation.HASH: "CONSISTENT_HASH"}
_WHERE = {"first": ConsumeFromWhere.FIRST, "last": ConsumeFromWhere.LAST}
_RENAMED = {"consume_thread_min": "consume_thread_nums"}
_WITHOUT_EFFECT = frozenset({"consume_thread_max"})
"""The client's work queue has no bound, so that its pool never grows."""

_WARM_MESSAGES = 8
_WARM_S = 45.0


def settings_of(setup: MemberSetup) -> ConsumerSettings:
    """Return the client's settings; raises ValueError for one that the reference does not have."""
    chosen: dict[str, Any] = {"allocation": _STRATEGIES[setup.strategy], "instance_name": setup.instance}
    for name, value in {**setup.settings, **setup.properties}.items():
        known = _RENAMED.get(name, name)
        if known == "consume_from_where":
            chosen[known] = _WHERE[str(value)]
        elif known in ConsumerSettings.__dataclass_fields__:
            chosen[known] = value
        elif known not in _WITHOUT_EFFECT:
            raise ValueError(f"expected a setting that the reference has, saw {name}")
    return ConsumerSettings(**chosen)


class ReferenceMember:
    """One member in all its incarnations; used by one thread."""

    def __init__(self, release: str, setup: MemberSetup, rules: Sequence[ListenerRule], speak: Speak) -> None:
        self._release = release
        self._setup = setup
        self._settings = settings_of(setup)
        self._script = ListenerScript(rules, setup.work_ms)
        self._reader = MessageReader(setup)
        self.reports = Reports(speak)
        self._incarnation = 0
        self._consumer: PushConsumer | None = None

    def warm_up(self) -> None:
        """Consume the messages of the warm topic, one of them twice; raises TimeoutError if they do not come."""
        setup = self._setup
        seen: set[tuple[TopicQueue, int]] = set()
        complete = threading.Event()

        def listen(messages: Sequence[StoredMessage], of: TopicQueue, _context: ConsumeContext) -> ConsumeStatus:
            is_first = not seen
            if of.topic == setup.warm_topic:
                seen.update((of, message.queue_offset) for message in messages)
            if len(seen) == _WARM_MESSAGES:
                complete.set()
            return ConsumeStatus.RECONSUME_LATER if is_first else ConsumeStatus.CONSUME_SUCCESS

        settings = ConsumerSettings(
            consume_from_where=ConsumeFromWhere.FIRST, consume_thread_nums=1, instance_name=f"{setup.instance}-warm"
        )
        consumer = PushConsumer(
            setup.name_servers, setup.warm_group, dialect_of(self._release), listen, settings, access=access_of(setup)
        )
        consumer.subscribe(setup.warm_topic)
        try:
            consumer.start()
            if not complete.wait(_WARM_S):
                expected = f"{_WARM_MESSAGES} messages of {setup.warm_topic} within {_WARM_S:g} s"
                raise TimeoutError(f"expected {expected}, saw {len(seen)}")
        finally:
            consumer.shutdown()

    def join(self) -> None:
        """Start a new consumer. One whose start throws is kept: its threads may run, until it leaves."""
        if self._consumer is not None:
            raise ValueError("expected a join of a member that is not there")
        self._incarnation += 1
        consumer = self._consumer = self._made(Incarnation(self._incarnation, self))
        start_ns, failure = time.monotonic_ns(), None
        try:
            consumer.start()
        except Exception as error:  # noqa: BLE001 - reported, whatever it is
            failure = error
        self.reports.joined(self._incarnation, start_ns, consumer.client_id, failure)

    def leave(self) -> None:
        """Shut the consumer down as an application does."""
        if self._consumer is None:
            raise ValueError("expected a leave of a member that has joined")
        start_ns, failure = time.monotonic_ns(), None
        try:
            self._consumer.shutdown()
        except Exception as error:  # noqa: BLE001 - reported, whatever it is
            failure = error
        self._consumer = None
        self.reports.left(self._incarnation, start_ns, failure)

    def shutdown(self) -> None:
        if self._consumer is not None:
            self._consumer.shutdown()

    def deliver(self, incarnation: int, messages: Sequence[StoredMessage], of: TopicQueue) -> CallEnd:
        """Report a call, work as long as the script says, and report its end."""
        at_ns = time.monotonic_ns()
        seen = self._reader.read(messages, of.topic)
        call = self.reports.received(incarnation, (of.topic, *of.queue), at_ns, seen)
        end = self._script.end_of(seen)
        if end.work_ms:
            time.sleep(end.work_ms / 1_000)
        self.reports.consumed(call, end)
        return end

    def _made(self, incarnation: "Incarnation") -> PushConsumer:
        setup = self._setup
        consumer = PushConsumer(
            setup.name_servers,
            setup.group,
            dialect_of(self._release),
            incarnation.listen,
            self._settings,
            incarnation,
            access=access_of(setup),
        )
        consumer.subscribe(setup.topic, setup.expression or "*")
        return consumer

    @property
    def strategy(self) -> str:
        return self._settings.allocation


class ScriptedError(Exception):
    """What a scripted listener raises."""


class Incarnation:
    """Listener and observer of one life of a member."""

    def __init__(self, number: int, member: ReferenceMember) -> None:
        self._number = number
        self._member = member

    def listen(
        self, messages: Sequence[StoredMessage], of: TopicQueue, context: ConsumeContext
    ) -> ConsumeStatus | None:
        end = self._member.deliver(self._number, messages, of)
        if end.delay_level is not None:
            context.delay_level = end.delay_level
        if end.ack_index is not None:
            context.ack_index = end.ack_index
        match end.outcome:
            case ListenerOutcome.THROW:
                raise ScriptedError
            case ListenerOutcome.NULL:
                return None
            case ListenerOutcome.LATER:
                return ConsumeStatus.RECONSUME_LATER
        return ConsumeStatus.CONSUME_SUCCESS

    def allocated(self, topic: str, ids: Sequence[str], queues: Sequence[Queue], share: Sequence[Queue]) -> None:
        self._member.reports.allocated(self._number, topic, self._member.strategy, ids, queues, share)

    def offset_seen(self, event: memory.OffsetEvent, of: TopicQueue, value: int | None) -> None:
        self._member.reports.offset(self._number, OffsetEvent(event.value), (of.topic, *of.queue), value)

    def owns(self, queues: Sequence[TopicQueue]) -> None:
        self._member.reports.owned(self._number, [(of.topic, *of.queue) for of in queues])
