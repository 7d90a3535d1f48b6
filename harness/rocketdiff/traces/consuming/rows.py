"""
Makes the rows of an arm's members from their journals and from what the runner ordered.

A second record with a number that was used, a call that ends without having begun, and a record of an incarnation that was never
ordered are troubles and add no row.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pyarrow as pa

from rocketdiff.core.consuming.plan import MemberChange
from rocketdiff.core.consuming.watched import RESUME, GroupTopics, OrderedMember
from rocketdiff.core.records.consuming import (
    Allocated,
    Applied,
    Consumed,
    DeliveredMessage,
    Joined,
    Left,
    OffsetSeen,
    Owned,
    Received,
)
from rocketdiff.traces.consuming.tables import ALLOCATIONS, CALLS, DELIVERIES, MEMBERS, OFFSETS, OWNED
from rocketdiff.traces.journal import ArmJournal
from rocketdiff.traces.schema import Columns, TableName

Kind = TypeVar("Kind")

Row = dict[str, object]


@dataclass(slots=True)
class MemberRows:
    """Rows of one member by table, and the troubles of its journal in words."""

    tables: dict[TableName, list[Row]] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)


def member_rows(
    head: Row,
    subject: str,
    topics: GroupTopics,
    orders: Sequence[OrderedMember],
    journal: ArmJournal,
    *,
    is_lost: bool = False,
) -> MemberRows:
    """Return the rows of one member. head: its case, arm and number; orders: to this member; is_lost: it was ended for a breach."""
    made = MemberRows(troubles=list(journal.troubles))
    known = {order.incarnation for order in orders if order.what == MemberChange.JOIN}
    records = _Records(journal, known, made.troubles)
    received = records.first(Received, lambda call: call.call)
    ends = {end.call: end for end in records.first(Consumed, lambda end: end.call)}
    begun = {call.call for call in received}
    made.troubles.extend(f"call {call}: ended without having begun" for call in ends if call not in begun)
    made.tables = {
        TableName.MEMBERS: [head | row for row in _lives(subject, orders, records, is_lost=is_lost)],
        TableName.CALLS: [head | _call(call, ends.get(call.call), topics) for call in received],
        TableName.DELIVERIES: [
            head | {"call": call.call, "place": place} | _delivery(message, call.topic, topics)
            for call in received
            for place, message in enumerate(call.messages)
        ],
        TableName.ALLOCATIONS: [head | _allocation(each, topics) for each in records.numbered(Allocated)],
        TableName.OWNED: [head | _owned(each, topics) for each in records.numbered(Owned)],
        TableName.OFFSETS: [head | _offset(each, topics) for each in records.numbered(OffsetSeen)],
    }
    return made


SCHEMAS: Mapping[TableName, pa.Schema] = {
    TableName.MEMBERS: MEMBERS,
    TableName.CALLS: CALLS,
    TableName.DELIVERIES: DELIVERIES,
    TableName.ALLOCATIONS: ALLOCATIONS,
    TableName.OWNED: OWNED,
    TableName.OFFSETS: OFFSETS,
}
"""The tables of members."""


def columns_of(schema: pa.Schema, rows: Sequence[Row]) -> Columns:
    """Return rows as columns in schema order; a value that a row lacks is null."""
    return {name: [row.get(name) for row in rows] for name in schema.names}


class _Records:
    """The records of a journal whose incarnation was ordered, each number once."""

    def __init__(self, journal: ArmJournal, known: Iterable[int], troubles: list[str]) -> None:
        self._journal, self._known, self._troubles = journal, set(known), troubles

    def first(self, kind: type[Kind], key: Callable[[Kind], Hashable]) -> list[Kind]:
        kept: dict[Hashable, Kind] = {}
        others: Mapping[Any, list[Any]] = self._journal.others
        for record in others.get(kind, ()):
            what = f"{kind.__name__.lower()} {key(record)}"
            if getattr(record, "incarnation", None) not in (None, *self._known):
                self._troubles.append(f"{what}: of an incarnation that was never ordered")
            elif kept.setdefault(key(record), record) is not record:
                self._troubles.append(f"{what}: reported before")
        return list(kept.values())

    def numbered(self, kind: type[Kind]) -> list[Kind]:
        return self.first(kind, lambda record: getattr(record, "number"))  # noqa: B009 - of three types


def _lives(subject: str, orders: Sequence[OrderedMember], records: _Records, *, is_lost: bool) -> Iterable[Row]:
    joined = {each.incarnation: each for each in records.first(Joined, lambda record: record.incarnation)}
    applied = records.numbered(Applied)
    left = {each.incarnation: each for each in records.first(Left, lambda record: record.incarnation)}
    for order in orders:
        if order.what != MemberChange.JOIN:
            continue
        begun, over = joined.get(order.incarnation), left.get(order.incarnation)
        own = [each for each in orders if each.incarnation == order.incarnation]
        killed_ns = next((each.ordered_ns for each in own if each.what == MemberChange.KILL), None)
        yield {
            "incarnation": order.incarnation,
            "subject": subject,
            "client_id": begun and begun.client_id,
            "join_planned_ns": order.at_ns or None,
            "join_start_ns": begun and begun.start_ns,
            "join_end_ns": begun and begun.end_ns,
            "leave_start_ns": over and over.start_ns,
            "leave_end_ns": over and over.end_ns,
            "ended": "left"
            if over and not over.has_died
            else "killed"
            if killed_ns is not None
            else "died"
            if is_lost or over
            else "alive",
            "error": begun and begun.error,
            "leave_error": over and over.error,
            "killed_ns": killed_ns,
            "pauses": list(_pauses(own)),
            "applied": [_applied(each) for each in applied if each.incarnation == order.incarnation] or None,
        }


def _applied(each: Applied) -> Row:
    return {
        "what": each.what.value,
        "broker": each.broker,
        "queue_id": each.queue_id,
        "start_ns": each.start_ns,
        "end_ns": each.end_ns,
        "offset": each.offset,
        "error": each.error,
    }


def _pauses(orders: Sequence[OrderedMember]) -> Iterable[Row]:
    """Yield each pause: from just before its signal was sent, until just before the signal that ended it was."""
    resumed_ns = [order.ordered_ns for order in orders if order.what == RESUME]
    for number, order in enumerate(order for order in orders if order.what == MemberChange.PAUSE):
        until_ns = resumed_ns[number] if number < len(resumed_ns) else None
        yield {"from_ns": order.ordered_ns, "proven_ns": order.proven_ns, "until_ns": until_ns}


def _call(call: Received, end: Consumed | None, topics: GroupTopics) -> Row:
    return {
        "call": call.call,
        "incarnation": call.incarnation,
        "thread": call.thread,
        "kind": topics.kind(call.topic).value,
        "broker": call.broker,
        "queue_id": call.queue_id,
        "start_ns": call.at_ns,
        "end_ns": end and end.at_ns,
        "result": end and end.result.value,
        "delay_level": end and end.delay_level,
        "suspend_ms": end and end.suspend_ms,
        "ack_index": end and end.ack_index,
        "messages": len(call.messages),
    }


def _delivery(message: DeliveredMessage, queue_topic: str, topics: GroupTopics) -> Row:
    return {
        "send": message.send,
        "queue_offset": message.offset,
        "times": message.times,
        "shown_topic": topics.kind(message.topic or queue_topic).value,
        "unique_key": message.key,
        "origin_id": message.origin,
        "store_timestamp_ms": message.store_ms,
        "body_ok": message.body_ok,
        "properties": message.properties,
    }


def _allocation(each: Allocated, topics: GroupTopics) -> Row:
    return {
        "number": each.number,
        "incarnation": each.incarnation,
        "at_ns": each.at_ns,
        "kind": topics.kind(each.topic).value,
        "strategy": each.strategy,
        "ids": list(each.ids),
        "queues": _queues(each.queues),
        "result": _queues(each.result),
        "error": each.error,
    }


def _owned(each: Owned, topics: GroupTopics) -> Row:
    return {
        "number": each.number,
        "incarnation": each.incarnation,
        "at_ns": each.at_ns,
        "queues": [
            {"kind": topics.kind(topic).value, "broker": broker, "queue_id": queue_id}
            for topic, broker, queue_id in each.queues
        ],
    }


def _offset(each: OffsetSeen, topics: GroupTopics) -> Row:
    return {
        "number": each.number,
        "incarnation": each.incarnation,
        "at_ns": each.at_ns,
        "what": each.what.value,
        "kind": topics.kind(each.topic).value,
        "broker": each.broker,
        "queue_id": each.queue_id,
        "value": each.value,
    }


def _queues(queues: Iterable[tuple[str, int]]) -> list[dict[str, object]]:
    return [{"broker": broker, "queue_id": queue_id} for broker, queue_id in queues]
