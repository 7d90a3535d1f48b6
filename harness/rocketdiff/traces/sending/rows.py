"""
Makes the rows of an arm's sends, attempts and routes from its journal and its plan.

A second answer to a send, or an answer that contradicts the plan, is recorded as a trouble and adds no row. Planned sends without an answer
have no row in ``sends``, but their attempts have rows.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import attrgetter
from typing import TypeVar

import pyarrow as pa

from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import NEVER_CALLED_BACK, Attempt, RouteSeen, Send
from rocketdiff.core.sends.message import carried_text
from rocketdiff.core.sends.plan import PlannedSend, SendMode
from rocketdiff.traces.journal import ArmJournal
from rocketdiff.traces.schema import ARM_CODES
from rocketdiff.traces.sending.tables import ATTEMPTS, ROUTES, SENDS

Reported = TypeVar("Reported", Attempt, Send)

MAX_TROUBLES = 20
"""Troubles kept in words. A broken subject can cause a million; twenty are enough to understand the problem."""


_DAY_NS = 86_400 * 10**9
"""Tolerance of plausible times: records lie at most a day after the last send is due, routes at most a day before the origin."""

_EARLY_TOLERANCE_NS = 1_000_000
"""The timers of some clients round to whole milliseconds; the line protocol has the same tolerance."""


@dataclass(frozen=True, slots=True)
class _Span:
    """Plausible times of a case: a journal may be sealed after the machine's monotonic clock was reset."""

    origin_ns: int
    last_ns: int

    @classmethod
    def of(cls, plan: Sequence[PlannedSend], origin_ns: int) -> "_Span":
        return cls(origin_ns, origin_ns + max((send.due_ns for send in plan), default=0) + _DAY_NS)

    def holds(self, reported: Attempt | Send, asked: PlannedSend) -> bool:
        """True if a record begins no earlier than its send is due and its times are in order."""
        due_ns = self.origin_ns + asked.due_ns - _EARLY_TOLERANCE_NS
        returned_ns = reported.returned_ns if isinstance(reported, Send) else None
        return due_ns <= reported.start_ns <= reported.end_ns <= self.last_ns and (
            returned_ns is None or reported.start_ns <= returned_ns <= self.last_ns
        )


@dataclass(frozen=True, slots=True)
class ArmRows:
    """Unsorted columns of the three tables of an arm, and the troubles of its journal."""

    sends: Mapping[str, Sequence[object]]
    attempts: Mapping[str, Sequence[object]]
    routes: Mapping[str, Sequence[object]]
    unanswered: int
    trouble_count: int
    troubles: tuple[str, ...]


def arm_rows(case: int, arm: Arm, plan: Sequence[PlannedSend], origin_ns: int, journal: ArmJournal) -> ArmRows:
    """Return the rows of one arm; ``origin_ns``: monotonic time of the plan's offset 0."""
    planned = {send.send: send for send in plan}
    troubles = list(journal.troubles)
    span = _Span.of(plan, origin_ns)
    attempts = _once(journal.attempts, lambda attempt: (attempt.send, attempt.attempt), planned, span, troubles)
    sends = _once(journal.sends, lambda send: send.send, planned, span, troubles)
    routes = _first_of_each_route(journal.routes, span, troubles)
    again = Counter(again.send for again in journal.again)
    attempts = [_with_mode(attempt, planned[attempt.send]) for attempt in attempts]
    made: defaultdict[int, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        made[attempt.send].append(attempt)
    sends = [_with_plan(send, planned[send.send], origin_ns, made[send.send], again[send.send]) for send in sends]
    group = (case, ARM_CODES[arm])
    return ArmRows(
        sends=_columns(SENDS, group, sends),
        attempts=_columns(ATTEMPTS, group, attempts),
        routes=_route_columns(group, routes),
        unanswered=len(planned) - len(sends),
        trouble_count=len(troubles),
        troubles=tuple(troubles[:MAX_TROUBLES]),
    )


def _once(
    records: Sequence[Reported],
    key: Callable[[Reported], object],
    planned: Mapping[int, PlannedSend],
    span: _Span,
    troubles: list[str],
) -> list[Reported]:
    seen: set[object] = set()
    kept: list[Reported] = []
    for record in records:
        what = f"{_named(record)} send {record.send} in thread {record.thread}"
        asked = planned.get(record.send)
        if asked is None:
            troubles.append(f"{what}: no such send was planned")
        elif asked.thread != record.thread:
            troubles.append(f"{what}: planned for thread {asked.thread}")
        elif not span.holds(record, asked):
            troubles.append(f"{what}: impossible times")
        elif key(record) in seen:
            troubles.append(f"{what}: reported before")
        else:
            seen.add(key(record))
            kept.append(record)
    return kept


def _named(record: Attempt | Send) -> str:
    return "the answer to" if isinstance(record, Send) else f"attempt {record.attempt} of"


def _first_of_each_route(routes: Sequence[RouteSeen], span: _Span, troubles: list[str]) -> list[RouteSeen]:
    first: dict[int, RouteSeen] = {}
    possible = [route for route in routes if span.origin_ns - _DAY_NS <= route.at_ns <= span.last_ns]
    if lost := len(routes) - len(possible):
        troubles.append(f"{lost} routes: impossible times")
    again = [route for route in possible if first.setdefault(route.route, route) is not route]
    troubles.extend(f"route {route.route}: reported before" for route in again)
    return list(first.values())


def _with_mode(reported: Attempt, asked: PlannedSend) -> Attempt:
    is_oneway = asked.mode is SendMode.ONEWAY
    return reported if reported.oneway == is_oneway else replace(reported, oneway=is_oneway)


def _with_plan(reported: Send, asked: PlannedSend, origin_ns: int, attempts: Sequence[Attempt], again: int) -> Send:
    callbacks = again + (reported.error != NEVER_CALLED_BACK) if asked.mode is SendMode.ASYNC else None
    return replace(
        reported,
        due_ns=origin_ns + asked.due_ns,
        kind=asked.kind,
        argument=asked.argument,
        body_bytes=asked.body_bytes,
        mode=asked.mode,
        callbacks=callbacks,
        delay_level=asked.delay_level,
        properties=carried_text(asked),
        attempts=tuple(attempts),
        message=None if attempts else reported.message,
    )


def _route_columns(group: tuple[int, int], reported: Sequence[RouteSeen]) -> dict[str, list[object]]:
    columns: tuple[list[object], ...] = (
        [group[0]] * len(reported),
        [group[1]] * len(reported),
        [route.route for route in reported],
        [route.at_ns for route in reported],
        [[{"broker": broker, "queue_id": queue} for broker, queue in route.queues] for route in reported],
    )
    return dict(zip(ROUTES.names, columns, strict=True))


def _columns(schema: pa.Schema, group: tuple[int, int], records: Sequence[Attempt | Send]) -> dict[str, list[object]]:
    """Return columns in schema order; after case and arm they are the records' fields."""
    case, arm, *named = schema.names
    columns: dict[str, list[object]] = {case: [group[0]] * len(records), arm: [group[1]] * len(records)}
    return columns | {name: _plain(list(map(attrgetter(name), records))) for name in named}


def _plain(values: list[object]) -> list[object]:
    if not any(issubclass(kind, StrEnum) for kind in set(map(type, values))):
        return values
    return [value.value if isinstance(value, StrEnum) else value for value in values]
