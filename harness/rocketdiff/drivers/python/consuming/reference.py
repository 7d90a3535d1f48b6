"""The reference as a consumer: the lives of a member, each with its observer and its scripted listener."""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from tempfile import gettempdir

from rocketdiff.core.consuming.plan import (
    STRATEGY_NAMES,
    Allocation,
    Commits,
    ConsumerCall,
    ListenerKind,
    ListenerOutcome,
    ListenerRule,
    room_of_broker,
    room_of_member,
)
from rocketdiff.core.records.consuming import (
    ASSIGN,
    CONSUMING_CLAIMS,
    PAUSES_QUEUES,
    SEEKS,
    DeliveredMessage,
    OffsetEvent,
)
from rocketdiff.core.sends.message import ID_PROPERTY, OF_EVERY_MESSAGE, padded, properties_text
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.drivers.python.consuming.reports import Reports
from rocketdiff.drivers.python.consuming.runner import WARM_MESSAGES, consumer_of, warm_setup
from rocketdiff.drivers.python.consuming.script import CallEnd, end_of
from rocketdiff.drivers.python.consuming.toys import HONEST, Toy
from rocketdiff.drivers.python.sending.reference import access_of
from rocketdiff.drivers.python.session import RoleRunner, Speak
from rocketdiff.protocol.consuming import Apply, MemberSetup
from rocketmq_reference.api.lite_pull_consumer import BATCH_SIZE, LitePullConsumer
from rocketmq_reference.api.push_consumer import PushConsumer, is_imitated
from rocketmq_reference.api.settings import ConsumerSettings
from rocketmq_reference.client.consuming import memory as seen
from rocketmq_reference.dialects import has_lite_pull
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer import settings as rules
from rocketmq_reference.rules.consumer.allocation import AllocationError, averagely, nearby
from rocketmq_reference.rules.consumer.concurrent import ConsumeContext, ConsumeStatus
from rocketmq_reference.rules.consumer.offsets import TopicQueue
from rocketmq_reference.rules.consumer.orderly import OrderlyContext, OrderlyStatus
from rocketmq_reference.rules.consumer.settings import ConsumeFromWhere

_WARM_S = (25.0, 20.0)
"""
Rounds of a new group, and a busy machine; then a second group.

A broker that answers a first heartbeat late lists the member twice for 120 s, since it has connected anew meanwhile: half of the
queues stand still. A new group has no such entry.
"""

_WARM_ROUNDS = {"rebalance_wait_interval_ms": 1_000, "rebalance_min_interval_ms": 100}
"""
Instead of the scenario's properties: if a broker answers a first round before it knows the member, the next is to come after a
second, not after twenty.
"""

_FROM = {"first": ConsumeFromWhere.FIRST, "last": ConsumeFromWhere.LAST}

_STATUS = {
    ListenerOutcome.NULL: None,
    ListenerOutcome.LATER: OrderlyStatus.SUSPEND,
    ListenerOutcome.ROLLBACK: OrderlyStatus.ROLLBACK,
    ListenerOutcome.COMMIT: OrderlyStatus.COMMIT,
}

_OF_A_DELIVERY = frozenset({"MIN_OFFSET", "MAX_OFFSET", "CONSUME_START_TIME"})
"""Properties that a client sets anew at each delivery."""


class ScriptedError(Exception):
    """What a scripted listener throws."""


def member_capabilities(release: str) -> tuple[str, ...]:
    """Return what a member of this release can do: all that it has, or nothing if its consumers are not imitated."""
    lacking = frozenset() if has_lite_pull(release) else {ListenerKind.LITE_PULL, ASSIGN, SEEKS, PAUSES_QUEUES}
    return tuple(map(str, sorted(CONSUMING_CLAIMS - lacking))) if is_imitated(release) else ()


def settings_of(setup: MemberSetup) -> ConsumerSettings:
    """Return the named settings and properties that the reference has; it has as many threads as Java has at least."""
    known = {each.name for each in fields(ConsumerSettings)}
    named: dict[str, object] = {**setup.settings, **setup.properties}
    named.pop(
        "consume_thread_max", None
    )  # never reached: calls that find every thread at work wait in a queue without a bound
    threads = named.pop("consume_thread_min", None)
    where = named.pop("consume_from_where", None)
    values = {name: value for name, value in named.items() if name in known}
    values |= {} if threads is None else {"consume_thread_nums": threads}
    if setup.listener is ListenerKind.LITE_PULL:
        values.setdefault("pull_batch_size", BATCH_SIZE)
        values["auto_commit"] = setup.commits is not Commits.SYNC
    values |= {} if where is None else {"consume_from_where": _FROM[str(where)]}
    values |= {"allocation": STRATEGY_NAMES[setup.strategy], "instance_name": setup.instance}
    values |= {"message_model": rules.MessageModel[setup.model.name], "local_offset_store_dir": Path(gettempdir())}
    if setup.strategy is Allocation.NEARBY:
        values["strategy"] = nearby(averagely, lambda queue: room_of_broker(queue.broker), room_of_member)
    return ConsumerSettings(**values)  # type: ignore[arg-type]  # names and values of the tables of settings


class MessageReader:
    """Recognises the fed messages by our own id, and compares each with what was fed and with its first delivery."""

    def __init__(self, setup: MemberSetup) -> None:
        self._sizes = setup.body_bytes
        self._prefix = f"{setup.run}/{setup.topic}/"
        self._first: dict[int, str] = {}

    def read(self, message: StoredMessage, queue_topic: str) -> DeliveredMessage:
        identity = message.properties.get(ID_PROPERTY, "")
        number = identity.removeprefix(self._prefix)
        send = int(number) if number != identity and number.isascii() and number.isdigit() else None
        size = 0 if send is None else self._sizes[send % len(self._sizes)]
        return DeliveredMessage(
            offset=message.queue_offset,
            times=message.reconsume_times,
            store_ms=message.store_timestamp_ms,
            body_ok=send is not None and message.body == padded(identity, size),
            send=send,
            topic=None if message.topic == queue_topic else message.topic,
            key=message.unique_key,
            origin=message.properties.get("ORIGIN_MESSAGE_ID"),
            store_host=message.store_host,
            properties=self._changed(send, message),
        )

    def _changed(self, send: int | None, message: StoredMessage) -> str | None:
        kept = {name: value for name, value in message.properties.items() if name not in _OF_A_DELIVERY}
        now = properties_text(kept)
        if send is None:
            return None
        if send in self._first:
            return None if self._first[send] == now else now
        self._first[send] = now
        return now if kept.keys() - OF_EVERY_MESSAGE else None


class ReferenceMember:
    """
    One incarnation: the consumer, its observer and its listener, or the thread that polls.

    Of a lite pull consumer the application ends its last poll and the work on it, then shuts the consumer down; it commits nothing then.
    """

    def __init__(
        self,
        release: str,
        setup: MemberSetup,
        rules: Sequence[ListenerRule],
        incarnation: int,
        reports: Reports,
        reader: MessageReader,
        toy: Toy = HONEST,
    ) -> None:
        self._setup, self._rules = setup, rules
        self._incarnation, self._reports, self._reader = incarnation, reports, reader
        self._settings = settings_of(setup)
        self._is_over = False
        self._poller: threading.Thread | None = None
        self._applies: queue.SimpleQueue[Apply] = queue.SimpleQueue()
        self.consumer = self._made(release, toy)
        if isinstance(self.consumer, LitePullConsumer) and setup.assign is not None:
            self.consumer.assign([TopicQueue(setup.topic, Queue(*queue)) for queue in setup.assign])
        else:
            self.consumer.subscribe(setup.topic, setup.expression or "*")

    def _made(self, release: str, toy: Toy) -> PushConsumer | LitePullConsumer:
        setup, access = self._setup, access_of(self._setup)
        if setup.listener is ListenerKind.LITE_PULL:
            polled = LitePullConsumer(setup.name_servers, setup.group, release, self._settings, self, access=access)
            toy.polled(polled)
            self._poller = threading.Thread(target=self._poll, args=(polled,), name="poller", daemon=True)
            return polled
        is_orderly = setup.listener is ListenerKind.ORDERLY
        listener = self._consume_in_order if is_orderly else self._consume
        pushed = PushConsumer(
            setup.name_servers,
            setup.group,
            release,
            listener,
            self._settings,
            self,
            access=access,
            is_orderly=is_orderly,
        )
        toy.pushed(pushed)
        return pushed

    @property
    def client_id(self) -> str | None:
        return self.consumer.client_id

    def start(self) -> None:
        self.consumer.start()
        if self._poller is not None:
            self._poller.start()

    def shutdown(self) -> None:
        """Also reports that it owns nothing any more."""
        self._is_over = True
        if self._poller is not None and self._poller.is_alive():
            self._poller.join()
        try:
            self.consumer.shutdown()
        finally:
            self._reports.end(self._incarnation)

    def apply(self, order: Apply) -> None:
        """Call a method of the consumer before the next poll."""
        self._applies.put(order)

    def allocated(
        self,
        topic: str,
        ids: Sequence[str],
        queues: Sequence[Queue],
        share: Sequence[Queue],
        error: AllocationError | None,
        /,
    ) -> None:
        strategy, name = self._settings.allocation, None if error is None else error.name
        self._reports.allocated(self._incarnation, topic, strategy, ids, _pairs(queues), _pairs(share), name)

    def offset_seen(self, event: seen.OffsetEvent, of: TopicQueue, value: int | None) -> None:
        self._reports.offset(self._incarnation, OffsetEvent(event.value), _place(of), value)

    def owns(self, queues: Sequence[TopicQueue]) -> None:
        self._reports.owned(self._incarnation, [_place(of) for of in queues])

    def _consume(
        self, messages: Sequence[StoredMessage], of: TopicQueue, context: ConsumeContext, /
    ) -> ConsumeStatus | None:
        return _returned(self._work(messages, of), context)

    def _consume_in_order(
        self, messages: Sequence[StoredMessage], of: TopicQueue, context: OrderlyContext, /
    ) -> OrderlyStatus | None:
        return _returned_in_order(self._work(messages, of), context)

    def _poll(self, consumer: LitePullConsumer) -> None:
        while not self._is_over:
            while not self._applies.empty():
                self._call(consumer, self._applies.get())
            polled = consumer.poll()
            if polled is not None:
                of, messages = polled
                self._work(messages, of)
                if self._setup.commits is Commits.SYNC:
                    consumer.commit_sync()

    def _call(self, consumer: LitePullConsumer, order: Apply) -> None:
        of = TopicQueue(self._setup.topic, Queue(order.broker, order.queue_id))
        start_ns, error = time.monotonic_ns(), None
        try:
            match order.what:
                case ConsumerCall.SEEK:
                    consumer.seek(of, order.offset or 0)
                case ConsumerCall.SEEK_TO_BEGIN:
                    consumer.seek_to_begin(of)
                case ConsumerCall.SEEK_TO_END:
                    consumer.seek_to_end(of)
                case ConsumerCall.PAUSE | ConsumerCall.RESUME:
                    consumer.pause(of, is_paused=order.what is ConsumerCall.PAUSE)
        except Exception as raised:  # noqa: BLE001 - reported to the runner
            error = type(raised).__name__
        self._reports.applied(self._incarnation, order, start_ns, error)

    def _work(self, messages: Sequence[StoredMessage], of: TopicQueue) -> CallEnd:
        at_ns = time.monotonic_ns()
        read = [self._reader.read(message, of.topic) for message in messages]
        call = self._reports.received(self._incarnation, at_ns, _place(of), read)
        end = end_of(read, self._rules, self._setup.work_ms)
        if end.work_ms:
            time.sleep(end.work_ms / 1_000)
        self._reports.consumed(call, end)
        return end


class ReferenceLives:
    """The lives of one member."""

    def __init__(self, release: str, toy: Toy, speak: Speak) -> None:
        self._release, self._toy = release, toy
        self._reports = Reports(speak)
        self._setup: MemberSetup | None = None
        self._reader: MessageReader | None = None
        self._rules: Sequence[ListenerRule] = ()

    def prepare(self, setup: MemberSetup, rules: Sequence[ListenerRule]) -> None:
        """Consume the warm topic by a member of the warm group, which opens connections of its own, or of another one."""
        self._setup, self._rules, self._reader = setup, rules, MessageReader(setup)
        received = []
        for suffix, within_s in zip(("", "-again"), _WARM_S, strict=True):
            warm = replace(warm_setup(setup), group=setup.warm_group + suffix, properties=_WARM_ROUNDS)
            received.append(self._warmed(warm, within_s))
            if received[-1] == WARM_MESSAGES:
                return
        expected = f"{WARM_MESSAGES} messages of {setup.warm_topic} within {_WARM_S} s"
        raise ValueError(f"expected {expected}, saw {received}")

    def begin(self, incarnation: int) -> ReferenceMember:
        assert self._setup is not None, "orders come after prepare"
        assert self._reader is not None, "orders come after prepare"
        return ReferenceMember(
            self._release, self._setup, self._rules, incarnation, self._reports, self._reader, self._toy
        )

    def await_calls(self) -> int:
        return self._reports.await_calls()

    def _warmed(self, warm: MemberSetup, within_s: float) -> int:
        """Return how many of the warm messages came."""
        received = threading.Semaphore(0)

        def count(record: object) -> None:
            for _ in getattr(record, "messages", ()):
                received.release()

        member = ReferenceMember(self._release, warm, (), 1, Reports(count), MessageReader(warm))
        member.start()
        try:
            deadline = time.monotonic() + within_s
            for number in range(WARM_MESSAGES):
                if not received.acquire(timeout=max(0.0, deadline - time.monotonic())):
                    return number
            return WARM_MESSAGES
        finally:
            member.shutdown()


def as_consumer(release: str, toy: Toy = HONEST) -> dict[ClientRole, Callable[[Speak], RoleRunner]]:
    """Return the role of a consumer; none for a release whose consumers the reference does not imitate."""
    return consumer_of(partial(ReferenceLives, release, toy)) if is_imitated(release) else {}


def _returned(end: CallEnd, context: ConsumeContext) -> ConsumeStatus | None:
    if end.delay_level is not None:
        context.delay_level = end.delay_level
    if end.ack_index is not None:
        context.ack_index = end.ack_index
    match end.outcome:
        case ListenerOutcome.THROW:
            raise ScriptedError("the script asks for it")
        case ListenerOutcome.NULL:
            return None
        case ListenerOutcome.LATER:
            return ConsumeStatus.RECONSUME_LATER
        case _:
            return ConsumeStatus.CONSUME_SUCCESS


def _returned_in_order(end: CallEnd, context: OrderlyContext) -> OrderlyStatus | None:
    if end.suspend_ms is not None:
        context.suspend_ms = end.suspend_ms
    if end.outcome is ListenerOutcome.THROW:
        raise ScriptedError("the script asks for it")
    return _STATUS.get(end.outcome, OrderlyStatus.SUCCESS)


def _place(of: TopicQueue) -> tuple[str, str, int]:
    return of.topic, of.queue.broker, of.queue.queue_id


def _pairs(queues: Sequence[Queue]) -> list[tuple[str, int]]:
    return [(queue.broker, queue.queue_id) for queue in queues]
