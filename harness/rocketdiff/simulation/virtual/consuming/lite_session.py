"""The reference's lite pull consumer in a script, whose application polls."""

import json
from collections.abc import Sequence
from functools import partial

from rocketdiff.simulation.script.model import Script, Step
from rocketdiff.simulation.script.steps.sending import QueueOf
from rocketdiff.simulation.script.steps.subscribing import (
    Assign,
    CommitPolled,
    Join,
    Leave,
    PauseQueue,
    Poll,
    ResumeQueue,
    Seek,
    SeekTo,
)
from rocketdiff.simulation.virtual.assembly import VirtualClient
from rocketdiff.simulation.virtual.codec import TOPIC
from rocketdiff.simulation.virtual.consuming.allocation_session import exception_text
from rocketdiff.simulation.virtual.consuming.brokers import OWN_ID, GroupBrokers, place_of
from rocketdiff.simulation.virtual.consuming.group_session import GroupSession
from rocketdiff.simulation.virtual.consuming.member_client import COMMIT_MS, FIRST_COMMIT_MS, OffsetFile, member_client
from rocketdiff.simulation.virtual.session import ScriptSession
from rocketdiff.simulation.virtual.tape import ScriptedTape
from rocketmq_reference.client.codec import FAILURES
from rocketmq_reference.client.consuming.lite_pulling import LitePulling
from rocketmq_reference.client.consuming.memory import ConsumerMemory
from rocketmq_reference.client.consuming.rebalancing import Rebalancing
from rocketmq_reference.client.effects import Body, Running
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.dialects.lite_pull import shared_rules
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.consuming import Subscription
from rocketmq_reference.rules.client.background import API_TIMEOUT_MS
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.allocation import STRATEGIES
from rocketmq_reference.rules.consumer.offsets import TopicQueue, in_hash_order
from rocketmq_reference.rules.consumer.settings import ConsumeSettings
from rocketmq_reference.rules.dialect import ConsumerDialect
from rocketmq_reference.rules.queue_choice.events import Observer

BATCH_SIZE = 10
"""Default of its pull_batch_size."""

_DONE = '{"done": true}'
_CONFLICT = exception_text("IllegalStateException")
_NO_QUEUES = exception_text("IllegalArgumentException")
_UNSUPPORTED = exception_text("UnsupportedOperationException")


class LiteSession(GroupSession):
    """A member that does not exist before its step."""

    def __init__(
        self, session: ScriptSession, dialect: ConsumerDialect, script: Script, observer: Observer | None
    ) -> None:
        own_id = OWN_ID + "@STREAM" * dialect.lite.names_stream
        super().__init__(session, dialect, script, observer, own_id)
        settings = ConsumeSettings(message_model=self._memory.settings.message_model, pull_batch_size=BATCH_SIZE)
        rules, group = shared_rules(dialect.consumer), self._memory.group
        self._new_memory = partial(ConsumerMemory, group, own_id, rules, settings, None, polls=True)
        self._own = dialect.lite
        self._has_joined = False
        self._of_client, self._file, self._tape = (
            dialect_of(dialect.releases.first),
            OffsetFile(),
            ScriptedTape(script.seed),
        )
        self._brokers = GroupBrokers(session.kernel, session.servers, self._group, own_id)
        self._make()

    def _make(self) -> None:
        """Make the member's client; after a shutdown another one, which knows only what brokers and its file keep."""
        session, kernel = self.session, self.session.kernel
        self._memory = self._new_memory()
        member = self._member = member_client(session, self._of_client, self._memory, self._brokers)
        committing = self._committing = member.offsets(kernel, self._memory, self._file)
        self._pulling = LitePulling(self._memory, self._own, kernel, member.remoting, member.codec, committing)
        self._rebalancing = Rebalancing(
            self._memory,
            kernel,
            member.routes,
            member.remoting,
            member.codec,
            self._committing,
            member.background,
            STRATEGIES["AVG"],
            self._tape,
            API_TIMEOUT_MS,
            self._pulling.begin,
        )
        self._rebalancing.on_changed = self._pulling.changed
        member.background.on_greeted = self._rebalancing.wake
        member.remoting.serve(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, self._notified)
        member.background.repeat_for(self._memory, FIRST_COMMIT_MS, COMMIT_MS, lambda _own: committing.commit_all())
        self._client = member.seen()

    @property
    def client(self) -> VirtualClient:
        return self._client

    def do(self, head: str, step: Step) -> Body | None:
        if self._member.did(self._brokers, self.session.servers, step):
            return None
        if isinstance(step, Join):
            return self._join(head, step)
        if isinstance(step, Leave):
            return self._leave(head)
        call = _refused() if self._has_left and isinstance(step, Poll | Seek) else self._call(step)
        return super().do(head, step) if call is None else self._called(head, step.do, call)

    def _call(self, step: Step) -> Running[str] | None:
        """Return the application's call of a step; None for another step."""
        match step:
            case Poll(ms):
                return self._poll(ms)
            case CommitPolled(queues):
                return _done(self._pulling.commit()) if queues is None else self._commit(queues)
            case Seek():
                return _done(self._seek(step))
            case Assign(queues):
                return self._assign(queues)
            case PauseQueue(broker, queue) | ResumeQueue(broker, queue):
                return self._pause(_named(broker, queue), is_paused=isinstance(step, PauseQueue))
        return None

    def _commit(self, queues: Sequence[QueueOf]) -> Running[str]:
        if not self._own.commits_queues:
            return _UNSUPPORTED
        if self._has_left:
            return _CONFLICT
        yield from self._pulling.commit_queues(_assigned(queues))
        return _DONE

    def _seek(self, step: Seek) -> Body:
        of, pulling = _named(step.broker, step.queue), self._pulling
        if step.offset is not None:
            return pulling.seek(of, step.offset)
        return pulling.seek_to_begin(of) if step.to is SeekTo.BEGIN else pulling.seek_to_end(of)

    def _join(self, head: str, step: Join) -> Body:
        answer = '{"started": true}' if self._own.exists else _UNSUPPORTED
        if self._has_left:
            self._has_left = False
            self._make()
        if self._own.exists:
            self._has_joined = True
            self._pulling.hook = (lambda _, messages: self._hooked(messages)) if step.hook else None
            if step.assign is None:
                self._memory.subscriptions[TOPIC] = Subscription(TOPIC, step.tags, 0)
                self._member.routes.known.want(TOPIC)
            self._member.background.start()
            self._rebalancing.start()
            try:
                if step.assign is None:
                    yield from self._member.routes.refresh(TOPIC)
                else:
                    self._pulling.assign(in_hash_order(_assigned(step.assign)))
            except FAILURES as error:
                answer = exception_text(type(error).__name__)
                if self._memory.rules.leaves_after_failed_start:
                    yield from self._shut_down()
        self.session.answer(head, f'"consumer": {answer}', self.state)

    def _leave(self, head: str) -> Body:
        if self._has_joined:
            yield from self._shut_down()
            self._has_left = True
        self.session.changed(head, "leave", self.state)

    def _shut_down(self) -> Body:
        yield from self._committing.commit_all()
        self._rebalancing.stop()
        self._pulling.stop()
        yield from self._member.background.unregister_client()
        self._member.background.stop()
        yield from self._member.shut_down(self.session.kernel, self._memory)

    def _called(self, head: str, what: str, asked: Running[str]) -> Body:
        answer = _UNSUPPORTED
        if self._has_joined:
            try:
                answer = yield from asked
            except FAILURES as error:
                answer = exception_text(type(error).__name__)
        self.session.answer(head, f'"{what}": {answer}', self.state)

    def _poll(self, ms: int) -> Running[str]:
        batch = yield from self._pulling.poll(ms)
        messages = () if batch is None else batch.messages
        got = list(map(place_of, messages))
        return f'{{"at_ms": {self.session.kernel.now_ms}, "got": {json.dumps(got, ensure_ascii=False)}}}'

    def _assign(self, queues: Sequence[QueueOf]) -> Running[str]:
        if not queues:
            return _NO_QUEUES
        if self._memory.subscriptions or self._has_left:
            return _CONFLICT
        self._pulling.assign(_assigned(queues))
        return _DONE
        yield  # a coroutine without waits

    def _pause(self, of: TopicQueue, *, is_paused: bool) -> Running[str]:
        self._pulling.pause(of, is_paused=is_paused)
        return _DONE
        yield  # a coroutine without waits

    def _notified(self, _asked: object, _thread: Thread) -> Running[None]:
        self._rebalancing.wake()
        return None
        yield  # a coroutine without waits


def _assigned(queues: Sequence[QueueOf]) -> list[TopicQueue]:
    return [_named(queue.broker, queue.queue_id) for queue in queues]


def _named(broker: str, queue: int) -> TopicQueue:
    return TopicQueue(TOPIC, Queue(broker, queue))


def _refused() -> Running[str]:
    """Refuse a call after a shutdown."""
    return _CONFLICT
    yield  # a coroutine without waits


def _done(call: Body) -> Running[str]:
    yield from call
    return _DONE
