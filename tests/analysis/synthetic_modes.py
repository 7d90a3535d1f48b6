"""
Synthetic runs of the other send modes: asynchronous, one-way, to a given queue, delayed, with properties.

They use the brokers of ``synthetic``. A scan once a second finds pending requests without an answer.
"""

from dataclasses import dataclass, replace

from rocketdiff.core.records.sending import UNSEEN_END, Attempt, RouteSeen, Send
from rocketdiff.core.sends.message import DELAY, ID_PROPERTY, KEYS, TAGS, body_digest, delay_s, padded, properties_text
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind, SendMode
from rocketdiff.core.tables.settings import ClientSettings
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.publish import PublishInfo, Queue
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.producer.async_rules import AsyncThread
from rocketmq_reference.rules.producer.async_send import AsyncSend, Form
from rocketmq_reference.rules.producer.async_steps import AsyncStep, CallBack, Invoke
from rocketmq_reference.rules.producer.attempt import AttemptResult, Finish, Try
from rocketmq_reference.rules.producer.direct_send import direct_send_ended, send_to_queue
from rocketmq_reference.rules.producer.one_way import OneWaySend
from rocketmq_reference.rules.producer.settings import SendSettings
from rocketmq_reference.rules.queue_choice.fault_table import FaultTable
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from rocketmq_reference.rules.queue_choice.selection import Selector
from rocketmq_reference.rules.tape import RandomTape
from tests.analysis.synthetic import MS, ORIGIN_NS, ArmRecords, Brokers, Pause, Stored, Story, play

GRACE_MS = 1_000
SCAN_NS = 1_000 * MS
FOR_EVER_MS = 10**9
BODY_BYTES = 64
HALF_A_SECOND = ClientSettings(send_msg_timeout_ms=500)


@dataclass(frozen=True)
class ModeStory(Story):
    """A case with another send mode; fault latency is off."""

    name: str = "mode"
    settings: ClientSettings = HALF_A_SECOND
    pauses: tuple[Pause, ...] = (Pause("broker-b", 1_000, 3_000),)
    sends: int = 150
    every_ms: int = 40
    mode: SendMode = SendMode.SYNC
    delay_level: int = 0
    keys: str = ""
    tags: str = ""
    checks: tuple[str, ...] = ("queue-choice", "attempts", "error-kind", "loss", "duplication")

    def plan(self) -> Plan:
        """The threads send in turn; a given queue is one of three, two of them on one broker."""
        sends = (
            PlannedSend(
                n,
                n % self.threads,
                n * self.every_ms * MS,
                self.kind,
                2 + n % 3,
                BODY_BYTES,
                self.mode,
                self.delay_level,
                self.keys,
                self.tags,
            )
            for n in range(self.sends)
        )
        return Plan(seed=1, threads=self.threads, sends=tuple(sends))

    def carried(self, one: Stored, **others: str) -> Stored:
        """A stored message with what this case's messages carry."""
        return carrying(one, self.keys, **({TAGS: self.tags} if self.tags else {}), **others)

    def play(self, release: str, seed: int) -> ArmRecords:
        """A faithful client's records, and the stored messages."""
        if self.mode is SendMode.SYNC and self.kind is SendKind.PLAIN:
            records = play(self, release, seed)
        else:
            records = _Player(self, dialect_of(release), seed).play()
        _dress(self, records)
        return records


class _Player:
    """A client that does not wait, or sends to given queues."""

    def __init__(self, story: ModeStory, dialect: Dialect, seed: int) -> None:
        self.story, self.dialect = story, dialect
        self.settings = SendSettings(
            send_latency_fault_enable=story.settings.send_latency_fault_enable,
            send_msg_timeout_ms=story.settings.send_msg_timeout_ms,
        )
        self.brokers, self.records = Brokers(story), ArmRecords()
        self.faults = FaultTable(dialect.producer.fault_table)
        self.tape = RandomTape(seed)
        self.first, self.again = self._selector(), self._selector()

    def play(self) -> ArmRecords:
        """Play every send, the next when the thread is free."""
        now_ns = ORIGIN_NS
        one_send = {SendMode.ASYNC: self._async, SendMode.ONEWAY: self._oneway, SendMode.SYNC: self._to_queue}
        for planned in self.story.plan().sends:
            now_ns = max(now_ns + 50_000, ORIGIN_NS + planned.due_ns)
            now_ns = one_send[planned.mode](planned, now_ns)
        self.records.stored = self.brokers.stored
        self.records.routes = [RouteSeen(1, ORIGIN_NS - MS, self.story.queues)]
        return self.records

    def _selector(self) -> Selector:
        rules = self.dialect.producer.index
        return Selector(
            PublishInfo.of(self.story.queues), ThreadIndex(rules), self.faults, ThreadIndex(rules), self.tape
        )

    def _async(self, planned: PlannedSend, start_ns: int) -> int:
        form = Form.SELECTED if planned.kind is SendKind.PLAIN else Form.GIVEN_QUEUE
        rules = AsyncSend(self.dialect, self.settings, self.faults, form)
        now_ns, offset = start_ns, None
        assert rules.accepted(now_ns // MS, now_ns // MS) is None
        step: AsyncStep | None = (
            rules.begin(self.first, now_ns // MS)
            if form is Form.SELECTED
            else rules.begin_at(self._given(planned), now_ns // MS)
        )
        attempts: list[Attempt] = []
        while isinstance(step, Invoke):
            if step.attempt == 0:
                step = rules.addressed(step, now_ns // MS, known=True)
                assert isinstance(step, Invoke)
            began_ns, place = now_ns, (step.broker, step.queue_id)
            due_ns = began_ns + (max(step.timeout_ms, 0) + GRACE_MS) * MS
            patience_ms = (-(-due_ns // SCAN_NS) * SCAN_NS - began_ns) // MS
            now_ns, offset = self.brokers.ask(*place, began_ns, patience_ms, planned.send)
            error, status = (UNSEEN_END, None) if offset is None else (None, "SEND_OK")
            attempts.append(
                Attempt(
                    planned.send, 0, step.attempt, *place, began_ns, now_ns, error, None, status, self._chooser(step)
                )
            )
            result = AttemptResult.ok() if offset is not None else AttemptResult.failed("RemotingTimeoutException")
            step = rules.ended(step, self.again, now_ns // MS, result, written_ms=began_ns // MS)
        assert isinstance(step, CallBack), "these stories have no client that throws, or says nothing"
        rules.called_back(step, now_ns // MS)
        finish = step.finish
        if finish.error is not None:
            attempts[-1] = replace(attempts[-1], error=finish.cause or finish.error)
        self.records.attempts += attempts
        ended = self._ended(planned, start_ns, now_ns, finish, offset, attempts[-1])
        self.records.sends.append(replace(ended, returned_ns=start_ns + 20_000))
        return start_ns + 20_000

    def _chooser(self, step: Invoke) -> int | None:
        if step.attempt:
            return 1
        return None if self.dialect.producer.asynchronous.runs_on is AsyncThread.CALLER else 0

    def _oneway(self, planned: PlannedSend, start_ns: int) -> int:
        loop = OneWaySend(self.dialect, self.settings, self.first)
        step = loop.begin(start_ns // MS, start_ns // MS)
        assert isinstance(step, Try)
        end_ns, (broker, queue) = start_ns + 100_000, step.queue
        self.brokers.ask(broker, queue, start_ns, FOR_EVER_MS, planned.send)
        self.records.attempts.append(Attempt(planned.send, 0, 0, broker, queue, start_ns, end_ns))
        assert isinstance(loop.attempt_ended(end_ns // MS, AttemptResult()), Finish)
        self.records.sends.append(Send(planned.send, 0, start_ns, end_ns + 20_000, route=1, route_after=1))
        return end_ns + 20_000

    def _to_queue(self, planned: PlannedSend, start_ns: int) -> int:
        timeout_ms = self.settings.send_msg_timeout_ms
        step = send_to_queue(self.dialect, self._given(planned), timeout_ms, 0)
        assert isinstance(step, Try)
        place = (step.queue.broker, step.queue.queue_id)
        now_ns, offset = self.brokers.ask(*place, start_ns, step.timeout_ms, planned.send)
        error, status = ("RemotingTimeoutException", None) if offset is None else (None, "SEND_OK")
        attempt = Attempt(planned.send, 0, 0, *place, start_ns, now_ns, error, None, status)
        self.records.attempts.append(attempt)
        finish = direct_send_ended(AttemptResult.ok() if error is None else AttemptResult.failed(error))
        self.records.sends.append(self._ended(planned, start_ns, now_ns + 20_000, finish, offset, attempt))
        return now_ns + 20_000

    def _given(self, planned: PlannedSend) -> Queue:
        return Queue(*self.story.queues[planned.argument])

    def _ended(
        self,
        planned: PlannedSend,
        start_ns: int,
        end_ns: int,
        finish: Finish,
        offset: int | None,
        last: Attempt,
    ) -> Send:
        ended = Send(planned.send, 0, start_ns, end_ns, route=1, route_after=1)
        if finish.error is not None:
            return replace(ended, error=finish.error, code=finish.code, cause=finish.cause)
        return replace(ended, status=finish.status, broker=last.broker, queue_id=last.queue_id, queue_offset=offset)


def carrying(one: Stored, keys: str, **others: str) -> Stored:
    """A stored message with its id, keys, properties and body digest."""
    identity = f"run/T/{one.send}"
    carried = {ID_PROPERTY: identity, "UNIQ_KEY": f"U{one.send}", **({KEYS: keys} if keys else {}), **others}
    digest = body_digest(padded(identity, BODY_BYTES))
    return replace(one, flag=0, properties=properties_text(carried), body_digest=digest)


def _dress(story: ModeStory, records: ArmRecords) -> None:
    """Add properties to messages, and hold delayed ones back before delivery."""
    if not story.delay_level:
        records.stored = [story.carried(message) for message in records.stored]
        return
    level, kept, delivered = story.delay_level, [], []
    for place, one in enumerate(records.stored):
        back = replace(one, queue_id=level - 1, queue_offset=place)
        kept.append(story.carried(back, **{DELAY: str(level), "REAL_QID": str(one.queue_id)}))
        due_ms = one.store_timestamp_ms + delay_s(level) * 1_000
        delivered.append(replace(story.carried(one), store_timestamp_ms=due_ms + 2))
        records.sends = [
            replace(send, queue_offset=place) if (send.send, send.broker) == (one.send, one.broker) else send
            for send in records.sends
        ]
    records.scheduled, records.stored = kept, delivered
