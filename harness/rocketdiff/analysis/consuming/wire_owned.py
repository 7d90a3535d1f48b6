"""
The queues that members work on who do not report it, from what their relays saw and what their listeners got.

Work on a queue begins with the answer to the question for its offset, or with the first pull. It ends with the last of what the member
does for it: a pull is over, a commit is sent, a call ends. So it begins as it does in the client, and ends later: a broker holds the last
pull of a queue that was given up for another 15 s. Until a member asks for the offset again, it has not begun anew.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from rocketdiff.analysis.case_trace import Row
from rocketdiff.core.consuming.watched import TopicKind, WireEvent

_SUCCESS, _QUERY_NOT_FOUND = 0, 22

_OWN = frozenset({TopicKind.FED, TopicKind.RETRY})

Queue = tuple[str, str, int]
"""Kind, broker and queue id."""


@dataclass(slots=True)
class _Work:
    """A member's dealings with one queue in one life: when it was told an offset; when it began something, and was done with it."""

    told_ns: list[int] = field(default_factory=list)
    done: list[tuple[int, float]] = field(default_factory=list)

    def spans(self) -> Iterator[tuple[int, float]]:
        """Yield from when until when it worked on the queue; it does nothing but ask where an answer is followed by nothing."""
        first_ns = min((from_ns for from_ns, _ in self.done), default=None)
        if first_ns is None:
            return
        begins = sorted({*self.told_ns, min([first_ns, *self.told_ns])})
        for begin_ns, next_ns in zip(begins, [*begins[1:], inf], strict=True):
            ends = [until_ns for from_ns, until_ns in self.done if begin_ns <= from_ns < next_ns]
            if ends:
                yield begin_ns, min(max(ends), next_ns)


def owned_on_the_wire(
    wire: Collection[Row], calls: Iterable[Row], lives: Collection[Row], reporting: Collection[int]
) -> Iterator[Row]:
    """
    Yield rows as the table of owned queues has them.

    wire, calls, lives: rows of the tables of exchanges, calls and members. reporting: members with owned queues of their own.
    """
    joins: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for life in lives:
        if life["join_start_ns"] is not None:
            joins[life["member"]].append((life["join_start_ns"], life["incarnation"]))
    work: defaultdict[tuple[int, int], defaultdict[Queue, _Work]] = defaultdict(lambda: defaultdict(_Work))
    silent = pulling_members(wire) - set(reporting)
    ends = _ends(wire)
    for row in wire:
        if row["member"] not in silent or row["kind"] not in _OWN or None in (row["broker"], row["queue_id"]):
            continue
        own = sorted(joins[row["member"]])
        place = bisect_right(own, row["in_ns"], key=lambda joined: joined[0])
        if place:
            one = work[row["member"], own[place - 1][1]][row["kind"], row["broker"], row["queue_id"]]
            _note(one, row, ends)
    for call in calls:
        if call["member"] in silent:
            one = work[call["member"], call["incarnation"]][call["kind"], call["broker"], call["queue_id"]]
            one.done.append((call["start_ns"], call["end_ns"] or call["start_ns"]))
    for (member, incarnation), queues in sorted(work.items()):
        yield from _rows(member, incarnation, {queue: list(one.spans()) for queue, one in queues.items()})


def pulling_members(wire: Iterable[Row]) -> frozenset[int]:
    """Return the members that a relay saw to pull."""
    return frozenset(row["member"] for row in wire if row["what"] == WireEvent.PULL)


def ids_on_the_wire(wire: Iterable[Row]) -> Mapping[int, Sequence[tuple[int, str]]]:
    """Return by member when, and by which id, its heartbeats named it, in order."""
    found: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for row in wire:
        if row["what"] == WireEvent.HEARTBEAT:
            found[row["member"]].extend((row["in_ns"], one) for one in row["ids"] or ())
    return {member: sorted(own) for member, own in found.items()}


def _note(work: _Work, row: Row, ends: Mapping[tuple[int, int], Sequence[int]]) -> None:
    answered_ns = row["answered_ns"]
    match row["what"]:
        case WireEvent.QUERY if answered_ns is not None and row["code"] in (_SUCCESS, _QUERY_NOT_FOUND):
            work.told_ns.append(answered_ns)
        case WireEvent.COMMIT:  # a member that leaves may commit what it has just taken, and has never pulled
            work.done.append((row["in_ns"], row["in_ns"]))
        case WireEvent.PULL:
            lost_ns = (at_ns for at_ns in ends.get((row["member"], row["connection"]), ()) if at_ns >= row["in_ns"])
            work.done.append((row["in_ns"], min(lost_ns, default=inf) if answered_ns is None else answered_ns))


def _ends(wire: Iterable[Row]) -> Mapping[tuple[int, int], Sequence[int]]:
    """Return when each connection of each member ended."""
    found: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for row in wire:
        if row["what"] == WireEvent.END:
            found[row["member"], row["connection"]].append(row["in_ns"])
    return found


def _rows(member: int, incarnation: int, spans: Mapping[Queue, Sequence[tuple[int, float]]]) -> Iterator[Row]:
    """Yield a row for each instant at which a queue comes or goes."""
    instants = sorted({int(at_ns) for own in spans.values() for span in own for at_ns in span if at_ns != inf})
    for number, at_ns in enumerate(instants, start=1):
        now = [
            {"kind": kind, "broker": broker, "queue_id": queue_id}
            for (kind, broker, queue_id), own in spans.items()
            if any(from_ns <= at_ns < until_ns for from_ns, until_ns in own)
        ]
        yield {"member": member, "incarnation": incarnation, "number": number, "at_ns": at_ns, "queues": now}
