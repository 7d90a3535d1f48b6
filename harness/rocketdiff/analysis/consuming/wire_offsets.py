"""
The offset events of members that report none, from what their relays saw.

A query is dated by its answer, a commit by its request; a pull that its broker refused for its offset stands for the freeze after it.
What a client remembers between two commits (``update``) does not pass the wire, nor what it forgets.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator

from rocketdiff.analysis.case_trace import Row
from rocketdiff.core.consuming.watched import TopicKind, WireEvent
from rocketdiff.core.records.consuming import OffsetEvent

_NO_OFFSET = -1

_SUCCESS, _OFFSET_MOVED, _QUERY_NOT_FOUND = 0, 21, 22
"""Codes of answers; the second one to a pull, the third to a query."""

_OWN = frozenset({TopicKind.FED, TopicKind.RETRY})


def offsets_on_the_wire(wire: Collection[Row], lives: Collection[Row], reporting: Collection[int]) -> Iterator[Row]:
    """
    Yield rows as the table of offset events has them.

    wire, lives: rows of the tables of exchanges and members. reporting: members with events of their own.
    """
    joins: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for life in lives:
        if life["join_start_ns"] is not None:
            joins[life["member"]].append((life["join_start_ns"], life["incarnation"]))
    for row in wire:
        seen = None if row["member"] in reporting else _seen(row)
        if seen is None or row["kind"] not in _OWN or None in (row["broker"], row["queue_id"]):
            continue
        what, at_ns, value = seen
        own = sorted(joins[row["member"]])
        place = bisect_right(own, at_ns, key=lambda joined: joined[0])
        if place:
            place_of = {name: row[name] for name in ("member", "kind", "broker", "queue_id")}
            yield place_of | {"incarnation": own[place - 1][1], "what": what, "at_ns": at_ns, "value": value}


def _seen(row: Row) -> tuple[OffsetEvent, int, int] | None:
    """Return what happened, when, and the offset; None for an exchange that says nothing of the member's offset."""
    answered_ns, code = row["answered_ns"], row["code"]
    match row["what"]:
        case WireEvent.COMMIT if row["offset"] is not None:
            return OffsetEvent.COMMIT, row["in_ns"], row["offset"]
        case WireEvent.QUERY if answered_ns is not None and code == _QUERY_NOT_FOUND:
            return OffsetEvent.QUERY, answered_ns, _NO_OFFSET
        case WireEvent.QUERY if answered_ns is not None and code == _SUCCESS and row["offset"] is not None:
            return OffsetEvent.QUERY, answered_ns, row["offset"]
        case WireEvent.PULL if answered_ns is not None and code == _OFFSET_MOVED:
            return OffsetEvent.FREEZE, answered_ns, row["next_offset"] or 0
        case _:
            return None
