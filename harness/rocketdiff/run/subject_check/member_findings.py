"""What is wrong with one member's report of its life, each a sentence; pure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from rocketdiff.cluster.operations.stored import StoredRow
from rocketdiff.core.consuming.plan import ListenerKind, ListenerOutcome, ListenerRule, MessageModel
from rocketdiff.core.records.consuming import (
    ALLOCATIONS,
    CONTENT,
    OFFSETS,
    OWNED,
    Allocated,
    CallResult,
    Consumed,
    DeliveredMessage,
    Joined,
    Left,
    OffsetEvent,
    OffsetSeen,
    Owned,
    Received,
)
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.protocol.consuming import MemberSetup
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.report.words.signs import plural
from rocketdiff.run.subject_check.finding import CheckFinding

Reported = TypeVar("Reported", Allocated, Consumed, Joined, Left, OffsetSeen, Owned, Received)

_HEAVIEST_FIRST = (ListenerOutcome.THROW, ListenerOutcome.NULL, ListenerOutcome.LATER, ListenerOutcome.SUCCESS)
"""A call with several messages ends with the heaviest of their outcomes."""

_FAILURES = frozenset(_HEAVIEST_FIRST[:-1])

_ROUNDED_MS = 2
"""Some runtimes round their clock, and their sleep, to whole milliseconds."""


@dataclass(slots=True)
class MemberTrial:
    """
    What is known of one member; filled while it is tried.

    queues: all that the only member of its group owns. messages: fed, numbered from 0. committed: after its first leave, by queue
    of the fed topic: the committed offset and the end. listed: ids that the broker lists then. stored: the fed messages.
    """

    setup: MemberSetup
    rules: tuple[ListenerRule, ...]
    queues: frozenset[tuple[str, str, int]]
    messages: int
    transcript: Transcript = field(default_factory=Transcript)
    stored: tuple[StoredRow, ...] = ()
    committed: Mapping[int, tuple[int | None, int]] = field(default_factory=dict)
    listed: tuple[str, ...] = ()
    begun_ns: int = 0
    has_stopped: bool = True

    def reported(self, kind: type[Reported]) -> list[Reported]:
        return [record for record in self.transcript.others.get(kind, []) if isinstance(record, kind)]

    def claims(self, claim: str) -> bool:
        return self.transcript.hello is not None and claim in self.transcript.hello.capabilities

    @property
    def is_shared(self) -> bool:
        return self.setup.model is MessageModel.CLUSTERING

    @property
    def failing(self) -> dict[int, ListenerRule]:
        """The fed messages whose first delivery is to fail, with the rule."""
        rules = {send: self.rule_of(send, 0) for send in range(self.messages)}
        return {send: rule for send, rule in rules.items() if rule is not None and rule.outcome in _FAILURES}

    def rule_of(self, send: int, times: int) -> ListenerRule | None:
        return next((rule for rule in self.rules if send % rule.every == rule.offset and times < rule.tries), None)


@dataclass(frozen=True)
class _Seen:
    """The deliveries of a trial, in order: call, its end, message."""

    trial: MemberTrial

    @cached_property
    def all(self) -> list[tuple[Received, Consumed | None, DeliveredMessage]]:
        ends = {end.call: end for end in self.trial.reported(Consumed)}
        return [(call, ends.get(call.call), each) for call in self.trial.reported(Received) for each in call.messages]

    @cached_property
    def first(self) -> list[tuple[Received, Consumed | None, DeliveredMessage]]:
        """Those of the first life."""
        return [each for each in self.all if each[0].incarnation == 1]


def member_findings(name: str, trial: MemberTrial) -> Iterator[CheckFinding]:
    """Yield each thing that was tried; with a problem a line each."""
    seen = _Seen(trial)
    for what, judge in _QUESTIONS:
        problems = list(judge(seen))
        yield from (CheckFinding(f"{name}: {what}", problem) for problem in problems or ("",))


def _joined(seen: _Seen) -> Iterator[str]:
    for joined in seen.trial.reported(Joined):
        if joined.error is not None:
            message = f": {joined.message}" if joined.message else ""
            yield f"life {joined.incarnation}: the call to start threw {joined.error}{message}"
        elif joined.client_id is None and seen.trial.claims(OWNED):  # without hooks relays show it
            yield "joined names no client_id, by which a broker lists the member"


def _allocated(seen: _Seen) -> Iterator[str]:
    trial = seen.trial
    if not (trial.claims(ALLOCATIONS) and trial.is_shared) or any(each.error for each in trial.reported(Joined)):
        return
    for topic in sorted({topic for topic, _, _ in trial.queues}):
        wanted = sorted((broker, queue_id) for of, broker, queue_id in trial.queues if of == topic)
        own = [each for each in trial.reported(Allocated) if each.topic == topic and each.incarnation == 1]
        if not own:
            yield f"no allocation of {topic}, though hello claims {ALLOCATIONS}"
        elif sorted(own[-1].result) != wanted:
            yield f"as the only member its share of {topic} has {len(own[-1].result)} of {plural(len(wanted), 'queue')}"
        ids = {joined.client_id for joined in trial.reported(Joined)}
        strange = [each for each in own if not ids & {*each.ids}]
        if strange:
            yield f"allocation {strange[0].number} is among {list(strange[0].ids)}, without the client_id of joined"


def _owned(seen: _Seen) -> Iterator[str]:
    trial = seen.trial
    if not trial.claims(OWNED) or any(each.error for each in trial.reported(Joined)):
        return
    for life in sorted({each.incarnation for each in trial.reported(Joined)}):
        sets = [frozenset(each.queues) for each in trial.reported(Owned) if each.incarnation == life]
        if trial.queues not in sets:
            most = max((len(each & trial.queues) for each in sets), default=0)
            yield f"life {life}: it never owned all {len(trial.queues)} queues of its topics, {most} at most"
        elif sets[-1]:
            yield f"life {life}: it left, and its last owned set still has {plural(len(sets[-1]), 'queue')}, not none"


def _messages(seen: _Seen) -> Iterator[str]:
    trial = seen.trial
    foreign = [(call, each) for call, _, each in seen.all if each.send is None]
    if foreign:
        yield f"call {foreign[0][0].call} shows a message without send: its number is in the property rocketdiff.id"
    spoilt = [each.send for _, _, each in seen.all if each.send is not None and not each.body_ok]
    if spoilt:
        yield f"message {spoilt[0]} is shown with body_ok false; its body is its id padded with dots to {_size(trial)} bytes"
    came = {each.send for _, _, each in seen.first}
    lost = [send for send in range(trial.messages) if send not in came]
    if lost:
        yield f"{len(lost)} of {trial.messages} messages never came to the listener, the first is number {lost[0]}"
    rows = {row.send: row for row in trial.stored}
    for call, _, each in seen.first:
        row = rows.get(each.send)
        place = (call.broker, call.queue_id, each.offset)
        if call.topic == trial.setup.topic and row is not None:
            lies = (row.broker, row.queue_id, row.queue_offset)
            if place != lies:
                yield f"call {call.call} shows message {each.send} at {place}, and it lies at {lies}"
                return
            if each.store_ms != row.store_timestamp_ms:
                yield f"message {each.send} is shown with store_ms {each.store_ms}, and was stored at {row.store_timestamp_ms}"
                return
    if trial.claims(CONTENT) and any(each.key is None for _, _, each in seen.all):
        yield f"hello claims {CONTENT}, and messages are shown without their key"


def _size(trial: MemberTrial) -> int:
    return trial.setup.body_bytes[0]


def _outcomes(seen: _Seen) -> Iterator[str]:
    trial = seen.trial
    for call, end, each in seen.first:
        if each.send is None or end is None or each is not call.messages[0]:
            continue
        rules = [trial.rule_of(one.send, one.times) for one in call.messages if one.send is not None]
        outcomes = [rule.outcome for rule in rules if rule is not None]
        wanted = CallResult(min((*outcomes, ListenerOutcome.SUCCESS), key=_HEAVIEST_FIRST.index).value)
        if end.result is not wanted:
            yield f"{_named(call)} was to end with {wanted}, and ended with {end.result}"
            return
        took_ms = (end.at_ns - call.at_ns) / NS_PER_MS
        work_ms = sum(rule.work_ms or 0 for rule in rules if rule is not None)
        if took_ms < work_ms - _ROUNDED_MS:
            yield f"{_named(call)} was to work for {work_ms} ms, and took {took_ms:.0f} ms"
            return


def _named(call: Received) -> str:
    shown = ", ".join(str(each.send) + f" (times {each.times})" * bool(each.times) for each in call.messages)
    return f"call {call.call} with message{'s' * (len(call.messages) > 1)} {shown}"


def _returns(seen: _Seen) -> Iterator[str]:
    trial = seen.trial
    came = {each.send for _, _, each in seen.first}
    back = {each.send for _, _, each in seen.first if each.times > 0}
    for send, rule in trial.failing.items():
        if send in came and send not in back:
            yield f"message {send} failed with {rule.outcome} and did not come back with times 1"
            return
    ended: set[int] = set()
    for call, end, each in seen.first:
        if each.send is None:
            continue
        if each.send in ended:
            yield f"message {each.send} came again in call {call.call}, though its call had ended with success"
            return
        if end is not None and end.result is CallResult.SUCCESS:
            ended.add(each.send)


def _in_order(seen: _Seen) -> Iterator[str]:
    if seen.trial.setup.listener is not ListenerKind.ORDERLY:
        return
    highest: dict[tuple[str, str, int], tuple[int, int | None]] = {}
    over_ns: dict[tuple[str, str, int], tuple[int, int]] = {}
    for call, end, each in seen.first:
        queue = (call.topic, call.broker, call.queue_id)
        before, over = highest.get(queue), over_ns.get(queue)
        if before is not None and each.offset < before[0] and not each.times:
            yield f"message {each.send} came to an orderly listener after message {before[1]} of the same queue"
            return
        if over is not None and over[0] != call.call and call.at_ns < over[1]:
            yield f"calls {over[0]} and {call.call} of an orderly listener are of one queue and at the same time"
            return
        highest[queue] = max(before or (0, None), (each.offset, each.send), key=lambda of: of[0])
        if end is not None:
            over_ns[queue] = call.call, end.at_ns


def _offsets(seen: _Seen) -> Iterator[str]:
    trial = seen.trial
    if trial.claims(OFFSETS) and trial.is_shared:
        kinds = {each.what for each in trial.reported(OffsetSeen)}
        missing = [what for what in (OffsetEvent.QUERY, OffsetEvent.UPDATE, OffsetEvent.COMMIT) if what not in kinds]
        if missing and seen.all:
            yield f"no {' or '.join(missing)} among its offset events, though hello claims {OFFSETS}"
    yield from _early(seen)
    if trial.is_shared and not any(each.error for each in trial.reported(Joined)):
        short = {queue: each for queue, each in trial.committed.items() if (each[0] or 0) < each[1]}
        for queue, (committed, end) in list(short.items())[:1]:
            yield f"queue {queue} ends at {end}, and {committed or 'nothing'} is committed after left: commit what was consumed"
        done = {each.send for _, end, each in seen.first if end is not None and end.result is CallResult.SUCCESS}
        again = [each.send for call, _, each in seen.all if call.incarnation > 1 and each.send in done]
        if again:
            yield f"{plural(len(again), 'message')} came again after it had left and joined, the first is number {again[0]}"


def _early(seen: _Seen) -> Iterator[str]:
    """An update or commit beyond a message whose call has not ended; the end is reported before the client sees it."""
    for event in seen.trial.reported(OffsetSeen):
        if event.what not in (OffsetEvent.UPDATE, OffsetEvent.COMMIT) or event.value is None:
            continue
        place = (event.topic, event.broker, event.queue_id)
        for call, end, each in seen.all:
            is_open = call.at_ns < event.at_ns and (end is None or event.at_ns < end.at_ns)
            if is_open and place == (call.topic, call.broker, call.queue_id) and event.value > each.offset:
                yield (
                    f"offset event {event.number} ({event.what} {event.value}) acknowledges message {each.send} at offset"
                    f" {each.offset} before its call {call.call} has ended"
                )
                return


def _left(seen: _Seen) -> Iterator[str]:
    failed = [each for each in seen.trial.reported(Left) if each.error is not None]
    if failed:
        how = "its process died of" if failed[0].has_died else "its shutdown threw"
        yield f"life {failed[0].incarnation}: {how} {failed[0].error} when it was to leave"
    ids = {joined.client_id for joined in seen.trial.reported(Joined)}
    still = [each for each in seen.trial.listed if each in ids]
    if still:
        yield f"the broker still lists {still[0]} after left: unregister, as an application's shutdown does"
    if not seen.trial.has_stopped:
        yield "it was still there two seconds after stop, and was killed"


def _clock(seen: _Seen) -> Iterator[str]:
    hello = seen.trial.transcript.hello
    off_ms = 0.0 if hello is None else (seen.trial.begun_ns - hello.clock_ns) / NS_PER_MS
    if off_ms > _ROUNDED_MS:
        yield f"it is {off_ms:,.0f} ms behind the host's monotonic clock (CLOCK_MONOTONIC, nanoTime)"


_QUESTIONS: tuple[tuple[str, Callable[[_Seen], Iterator[str]]], ...] = (
    ("joins twice", _joined),
    ("allocations", _allocated),
    ("owned queues", _owned),
    ("messages", _messages),
    ("outcomes of the rules", _outcomes),
    ("what comes back", _returns),
    ("order", _in_order),
    ("offsets", _offsets),
    ("leaves, and stop", _left),
    ("its clock", _clock),
)
