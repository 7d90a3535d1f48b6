"""
From what an arm said and what it was asked to do, to the rows of its sends, attempts and routes.

A record is taken once: a second answer to a send, an answer to a send that was never planned or was planned for another
thread, is a trouble and leaves the table as it was. Planned sends without an answer have no row; their attempts do.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rocketdiff.core.events import Arm
from rocketdiff.core.message import carried_text
from rocketdiff.core.outcome import Outcome, outcome_of_attempt, reason_of
from rocketdiff.core.plan import PlannedSend, SendMode
from rocketdiff.core.records import NEVER_CALLED_BACK, AttemptEnded, RouteSeen, SendEnded
from rocketdiff.traces.journal import ArmJournal
from rocketdiff.traces.schema import ARM_CODES, SCHEMAS, TableName

Told = TypeVar("Told", AttemptEnded, SendEnded)

_TROUBLES_TOLD = 20
"""A broken subject can be wrong a million times; twenty sentences are enough to understand how."""


_DAY_NS = 86_400 * 10**9
"""No case goes on for a day after its last send was due, nor is anything of it told a day before its first."""

_EARLY_TOLERANCE_NS = 1_000_000
"""As the conversation has it: timers of some clients round to whole milliseconds."""


@dataclass(frozen=True, slots=True)
class _Span:
    """When a case can have been; the clock of its machine is long gone when a journal is sealed late."""

    origin_ns: int
    last_ns: int

    @classmethod
    def of(cls, plan: Sequence[PlannedSend], origin_ns: int) -> "_Span":
        return cls(origin_ns, origin_ns + max((send.due_ns for send in plan), default=0) + _DAY_NS)

    def holds(self, told: AttemptEnded | SendEnded, asked: PlannedSend) -> bool:
        """Whether a record begins not before its send was due, ends after that, and returned in between or later."""
        due_ns = self.origin_ns + asked.due_ns - _EARLY_TOLERANCE_NS
        returned_ns = told.returned_ns if isinstance(told, SendEnded) else None
        return due_ns <= told.start_ns <= told.end_ns <= self.last_ns and (
            returned_ns is None or told.start_ns <= returned_ns <= self.last_ns
        )


@dataclass(frozen=True, slots=True)
class ArmRows:
    """Columns of the three tables of an arm, unsorted, and what was wrong with its journal."""

    sends: Mapping[str, Sequence[object]]
    attempts: Mapping[str, Sequence[object]]
    routes: Mapping[str, Sequence[object]]
    unanswered: int
    trouble_count: int
    troubles: tuple[str, ...]


def arm_rows(case: int, arm: Arm, plan: Sequence[PlannedSend], origin_ns: int, journal: ArmJournal) -> ArmRows:
    """Rows of one arm of one case; ``origin_ns`` is the monotonic time of the plan's offset 0."""
    planned = {send.send: send for send in plan}
    troubles = list(journal.troubles)
    span = _Span.of(plan, origin_ns)
    attempts = _once(journal.attempts, lambda told: (told.send, told.attempt), planned, span, troubles)
    sends = _once(journal.sends, lambda told: told.send, planned, span, troubles)
    routes = _first_of_each_route(journal.routes, span, troubles)
    again = Counter(told.send for told in journal.again)
    outcomes: dict[int, list[Outcome]] = defaultdict(list)
    for attempt in attempts:
        outcomes[attempt.send].append(_attempt_outcome(attempt, planned[attempt.send]))
    group = (case, ARM_CODES[arm])
    return ArmRows(
        sends=_columns(
            TableName.SENDS,
            (
                (*group, *_send_row(send, planned[send.send], origin_ns, outcomes[send.send], again[send.send]))
                for send in sends
            ),
        ),
        attempts=_columns(
            TableName.ATTEMPTS, ((*group, *_attempt_row(attempt, planned[attempt.send])) for attempt in attempts)
        ),
        routes=_columns(TableName.ROUTES, ((*group, *_route_row(route)) for route in routes)),
        unanswered=len(planned) - len(sends),
        trouble_count=len(troubles),
        troubles=tuple(troubles[:_TROUBLES_TOLD]),
    )


def send_outcome(
    error: str | None, code: int | None, attempts: Sequence[Outcome], *, is_acknowledged: bool = True
) -> Outcome:
    """
    What is known about a message after its send returned.

    A failed send is only certainly not stored when every one of its attempts certainly was not; the exception alone
    cannot say that (it names the last cause, and an earlier attempt may have timed out). Without a witness of the
    attempts the exception has to do. That a one-way call returned says nothing about its message.
    """
    if error is None:
        return Outcome.OK if is_acknowledged else Outcome.UNKNOWN
    if not attempts:
        return outcome_of_attempt(error, code)
    return Outcome.FAILED if all(attempt is Outcome.FAILED for attempt in attempts) else Outcome.UNKNOWN


def _once(
    records: Sequence[Told],
    key: Callable[[Told], object],
    planned: Mapping[int, PlannedSend],
    span: _Span,
    troubles: list[str],
) -> list[Told]:
    """The records that fit the plan, the first of each key; the others become troubles."""
    seen: set[object] = set()
    kept: list[Told] = []
    for record in records:
        what = f"{type(record).__name__} of send {record.send} in thread {record.thread}"
        asked = planned.get(record.send)
        if asked is None:
            troubles.append(f"{what}: no such send was planned")
        elif asked.thread != record.thread:
            troubles.append(f"{what}: planned for thread {asked.thread}")
        elif not span.holds(record, asked):
            troubles.append(f"{what}: impossible times")
        elif key(record) in seen:
            troubles.append(f"{what}: told before")
        else:
            seen.add(key(record))
            kept.append(record)
    return kept


def _first_of_each_route(routes: Sequence[RouteSeen], span: _Span, troubles: list[str]) -> list[RouteSeen]:
    first: dict[int, RouteSeen] = {}
    possible = [route for route in routes if span.origin_ns - _DAY_NS <= route.at_ns <= span.last_ns]
    if lost := len(routes) - len(possible):
        troubles.append(f"{lost} routes: impossible times")
    again = [route for route in possible if first.setdefault(route.route, route) is not route]
    troubles.extend(f"route {route.route}: told before" for route in again)
    return list(first.values())


def _send_row(
    told: SendEnded, asked: PlannedSend, origin_ns: int, attempts: Sequence[Outcome], again: int
) -> tuple[object, ...]:
    """Values of a row of ``sends`` after case and arm, in the order of the schema."""
    outcome = send_outcome(told.error, told.code, attempts, is_acknowledged=asked.mode is not SendMode.ONEWAY)
    callbacks = None
    if asked.mode is SendMode.ASYNC:
        callbacks = again + (told.error != NEVER_CALLED_BACK)
    return (
        told.thread,
        told.send,
        origin_ns + asked.due_ns,
        told.start_ns,
        told.end_ns,
        str(outcome),
        str(reason_of(told.error, told.code, told.status)),
        told.error,
        told.cause,
        told.code,
        told.status,
        told.broker,
        told.queue_id,
        told.queue_offset,
        told.route,
        told.route_after,
        str(asked.kind),
        asked.argument,
        asked.body_bytes,
        str(asked.mode),
        told.returned_ns,
        callbacks,
        asked.delay_level,
        carried_text(asked),
    )


def _attempt_outcome(told: AttemptEnded, asked: PlannedSend) -> Outcome:
    if asked.mode is SendMode.ONEWAY and told.error is None:
        return Outcome.UNKNOWN
    return outcome_of_attempt(told.error, told.code)


def _attempt_row(told: AttemptEnded, asked: PlannedSend) -> tuple[object, ...]:
    """Values of a row of ``attempts`` after case and arm, in the order of the schema."""
    return (
        told.thread,
        told.send,
        told.attempt,
        told.broker,
        told.queue_id,
        told.start_ns,
        told.end_ns,
        str(_attempt_outcome(told, asked)),
        str(reason_of(told.error, told.code, told.status)),
        told.error,
        told.code,
        told.status,
        told.chooser,
    )


def _route_row(told: RouteSeen) -> tuple[object, ...]:
    """Values of a row of ``routes`` after case and arm, in the order of the schema."""
    return (told.route, told.at_ns, [{"broker": broker, "queue_id": queue} for broker, queue in told.queues])


def _columns(table: TableName, rows: Iterable[tuple[object, ...]]) -> dict[str, list[object]]:
    names = SCHEMAS[table].names
    columns: dict[str, list[object]] = {name: [] for name in names}
    for row in rows:
        for name, value in zip(names, row, strict=True):
            columns[name].append(value)
    return columns
