"""The reference's push consumer in a script, started and left as an application does, on scripted brokers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from rocketdiff.simulation.script.model import Script, Step
from rocketdiff.simulation.script.steps.subscribing import (
    Join,
    Leave,
    ListenerRule,
    Then,
)
from rocketdiff.simulation.virtual.assembly import VirtualClient
from rocketdiff.simulation.virtual.codec import TOPIC, vip_address
from rocketdiff.simulation.virtual.consuming.allocation_session import exception_text
from rocketdiff.simulation.virtual.consuming.brokers import OWN_ID, GroupBrokers
from rocketdiff.simulation.virtual.consuming.group import GroupCodec, ResendCodec, Unrecorded
from rocketdiff.simulation.virtual.consuming.group_session import GroupSession
from rocketdiff.simulation.virtual.consuming.member_client import (
    COMMIT_MS,
    FIRST_COMMIT_MS,
    OffsetFile,
    member_client,
)
from rocketdiff.simulation.virtual.session import ScriptSession
from rocketdiff.simulation.virtual.tape import ScriptedTape
from rocketmq_reference.client.codec import FAILURES
from rocketmq_reference.client.consuming.concurrent import Concurrent
from rocketmq_reference.client.consuming.locking import Locking
from rocketmq_reference.client.consuming.orderly import Orderly
from rocketmq_reference.client.consuming.pulling import Pulling
from rocketmq_reference.client.consuming.rebalancing import Rebalancing
from rocketmq_reference.client.consuming.resending import Resending
from rocketmq_reference.client.consuming.resetting import Resetting
from rocketmq_reference.client.effects import Body, Running
from rocketmq_reference.client.memory import ProducerMemory, Thread
from rocketmq_reference.client.message import Message
from rocketmq_reference.client.publishing import PublishLists
from rocketmq_reference.client.sending import Sender
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.consuming import EVERYTHING, Subscription
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.rules.client.background import API_TIMEOUT_MS
from rocketmq_reference.rules.consumer.allocation import STRATEGIES
from rocketmq_reference.rules.consumer.concurrent import ConsumeContext, ConsumeStatus
from rocketmq_reference.rules.consumer.offsets import RETRY_PREFIX, TopicQueue
from rocketmq_reference.rules.consumer.orderly import OrderlyContext, OrderlyStatus
from rocketmq_reference.rules.dialect import ConsumerDialect
from rocketmq_reference.rules.producer.settings import SendSettings
from rocketmq_reference.rules.queue_choice.events import Observer

_UNKNOWN_TOPIC = "unknown"


class PushSession(GroupSession):
    """A member that does not exist before its step."""

    def __init__(
        self, session: ScriptSession, dialect: ConsumerDialect, script: Script, observer: Observer | None
    ) -> None:
        super().__init__(session, dialect, script, observer, OWN_ID)
        self._brokers = GroupBrokers(session.kernel, session.servers, self._group)
        self._of_client = dialect_of(dialect.releases.first)
        self._file = OffsetFile()
        self._tape = ScriptedTape(script.seed)
        self._seed = script.seed
        self._listener: tuple[ListenerRule, ...] = ()
        self._make()

    def _make(self) -> None:
        """Make the member's client; after a shutdown another one, which knows only what brokers and its file keep."""
        session, kernel = self.session, self.session.kernel
        member = self._member = member_client(session, self._of_client, self._memory, self._brokers)
        remoting, codec = member.remoting, member.codec
        self._resend = self._resending().resend
        committing = self._committing = member.offsets(kernel, self._memory, self._file)
        self._in_order: Orderly | None = None
        consuming = self._consuming = self._calls(session, remoting, codec)
        self._pulling = Pulling(self._memory, kernel, remoting, codec, self._committing, consuming.deliver)
        self._rebalancing = Rebalancing(
            self._memory,
            kernel,
            member.routes,
            remoting,
            codec,
            self._committing,
            member.background,
            STRATEGIES["AVG"],
            self._tape,
            API_TIMEOUT_MS,
            self._pulling.begin,
            self._in_order,
        )
        self._pulling.on_moved = self._rebalancing.begin_anew
        member.background.on_greeted = self._rebalancing.wake
        remoting.serve(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, self._notified)
        resetting = Resetting(
            self._memory,
            member.shared,
            kernel,
            committing,
            self._rebalancing,
            self._in_order,
            member.background.monitor,
        )
        group = self._memory.group
        remoting.serve(
            RequestCode.RESET_CONSUMER_CLIENT_OFFSET, lambda asked, _: resetting.reset(group, asked), lasting=True
        )
        member.background.repeat_for(self._memory, FIRST_COMMIT_MS, COMMIT_MS, lambda _own: committing.commit_all())
        self._client = member.seen()

    def _resending(self) -> Resending:
        """Make the producer inside the member's client."""
        member, settings = self._member, SendSettings(vip_channel_enabled=False)
        producer = ProducerMemory(self._of_client, settings, lambda: ScriptedTape(self._seed))
        lists = PublishLists(producer, member.routes)
        member.shared.roles.append(lists)
        codec, kernel = ResendCodec(self._of_client), self.session.kernel
        sender: Sender[Message, Any, Any, Any] = Sender(
            producer, kernel, lists, member.remoting, codec, Unrecorded(), vip_address
        )
        return Resending(self._memory, sender)

    def _calls(self, session: ScriptSession, remoting: Any, codec: GroupCodec) -> Concurrent | Orderly:
        if not self._memory.is_orderly:
            return Concurrent(
                self._memory, session.kernel, remoting, codec, self._committing, self._listen, self._resend
            )
        locking = Locking(self._memory, session.kernel, remoting, codec, self._committing)
        self._in_order = Orderly(
            self._memory,
            session.kernel,
            self._member.background,
            self._committing,
            locking,
            self._listen_in_order,
            self._resend,
        )
        return self._in_order

    @property
    def client(self) -> VirtualClient:
        return self._client

    def do(self, head: str, step: Step) -> Body | None:
        if self._member.did(self._brokers, self.session.servers, step):
            return None
        match step:
            case Join():
                return self._join(head, step)
            case Leave():
                return self._leave(head)
        return super().do(head, step)

    def _join(self, head: str, step: Join) -> Body:
        if self._has_left:
            self._memory, self._has_left = self._new_memory(), False
            self._make()
        self._memory.settings = replace(self._memory.settings, max_reconsume_times=step.max_reconsume_times)
        self._listener = step.rules
        self._consuming.hook = self._hooked if step.hook else None
        unknown = (_UNKNOWN_TOPIC,) if step.unknown_topic else ()
        retry = () if self._memory.settings.is_broadcasting else (RETRY_PREFIX + self._memory.group,)
        for topic in (TOPIC, *unknown, *retry):
            self._memory.subscriptions[topic] = Subscription(topic, step.tags if topic == TOPIC else EVERYTHING, 0)
            self._member.routes.known.want(topic)
        self._consuming.start()
        self._member.background.start()
        self._rebalancing.start()
        answer = '{"started": true}'
        try:
            yield from self._rebalancing.join()
        except FAILURES as error:
            answer = exception_text(type(error).__name__)
            if self._memory.rules.leaves_after_failed_start:
                yield from self._shut_down()
        self.session.answer(head, f'"consumer": {answer}', self.state)

    def _leave(self, head: str) -> Body:
        yield from self._shut_down()
        self._has_left = True
        self.session.changed(head, "leave", self.state)

    def _shut_down(self) -> Body:
        if isinstance(self._consuming, Concurrent):
            self._consuming.stop()
        if self._in_order is not None:
            yield from self._in_order.stop()
        yield from self._committing.commit_all()
        yield from self._member.background.await_reset()
        self._rebalancing.stop()
        self._pulling.stop()
        yield from self._member.background.unregister_client()
        self._member.background.stop()
        yield from self._pulling.drain()
        yield from self._member.shut_down(self.session.kernel, self._memory)

    def _notified(self, _asked: object, _thread: Thread) -> Running[None]:
        self._rebalancing.wake()
        return None
        yield  # a coroutine without waits

    def _listen(
        self, messages: Sequence[StoredMessage], of: TopicQueue, context: ConsumeContext
    ) -> ConsumeStatus | None:
        rule = self._heard(messages, of)
        if rule is not None and rule.level is not None:
            context.delay_level = rule.level
        return _ended(rule, ConsumeStatus.RECONSUME_LATER, ConsumeStatus.CONSUME_SUCCESS)

    def _listen_in_order(
        self, messages: Sequence[StoredMessage], of: TopicQueue, context: OrderlyContext
    ) -> OrderlyStatus | None:
        rule = self._heard(messages, of)
        if rule is not None and rule.level is not None:
            context.suspend_ms = rule.level
        return _ended(rule, OrderlyStatus.SUSPEND, OrderlyStatus.SUCCESS)

    def _heard(self, messages: Sequence[StoredMessage], of: TopicQueue) -> ListenerRule | None:
        """Note the call, and return the rule by which it ends, if any."""
        (message,) = messages
        offset, times = message.queue_offset, message.reconsume_times
        text = f"deliver {of.queue.broker}/{of.queue.queue_id} {offset} times {times}"
        text += "" if message.transaction_id is None else f" transaction {message.transaction_id}"
        self._group.note(self.session.kernel.now_ms, text)
        rules = (rule for rule in self._listener if offset % rule.every == rule.offset and times < rule.tries)
        rule = next(rules, None)
        self.session.kernel.busy_ms = 0 if rule is None else rule.works_ms
        return rule


Status = TypeVar("Status", ConsumeStatus, OrderlyStatus)


def _ended(rule: ListenerRule | None, later: Status, success: Status) -> Status | None:
    """Return what a call returns, or raise what it throws."""
    match None if rule is None else rule.then:
        case Then.THROW:
            raise RuntimeError("a listener throws")
        case Then.NONE:
            return None
        case Then.LATER:
            return later
    return success
