"""
Reads journals: raw lines to records.

A line that is not a record becomes a trouble, because the journal of a faulty subject must be sealed too. An unfinished last
line, normal after a crash, is ignored.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import msgspec

from rocketdiff.core.errors import SubjectBroken, TraceError
from rocketdiff.core.files import open_regular
from rocketdiff.core.records.sending import Attempt, reports_ends, reports_starts
from rocketdiff.core.sends.plan import PlannedSend
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.protocol.records import decode_record
from rocketdiff.protocol.transcript import Transcript

CLIENT, WIRE = "client", "wire"
"""Witness of an arm's attempts and routes."""

Kind = TypeVar("Kind")


@dataclass(slots=True)
class ArmJournal(Transcript):
    """The records of one arm. troubles: in words; witness: of attempts and routes."""

    troubles: list[str] = field(default_factory=list)
    witness: str = CLIENT


def whole_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield number (from 1) and content of every line that has its line end; none for a missing file."""
    try:
        with open_regular(path) as file:
            for number, line in enumerate(file, start=1):
                if line.endswith(b"\n"):
                    yield number, line[:-1]
    except FileNotFoundError:
        return
    except OSError as problem:
        raise TraceError(
            f"a readable journal {path.name}",
            seen=problem.strerror or str(problem),
            hint="the run directory was altered",
        ) from problem


def read_arm_journal(path: Path) -> ArmJournal:
    """Read the journal of one arm; a missing file is an empty journal."""
    journal = ArmJournal()
    for number, line in whole_lines(path):
        try:
            journal.keep(decode_record(line).record)
        except SubjectBroken as problem:
            journal.troubles.append(f"line {number} is not a record, {problem.seen}")
    return journal


def read_witnessed_journal(path: Path, witnessed: Path) -> ArmJournal:
    """
    Read the journal of one arm and merge the records of the wire witness.

    If the client reports no attempts, or only their starts, the witness's attempts, routes and route numbers of sends are used.
    Otherwise the client is its own witness, but a status that the wire witness saw replaces the reported one, and an attempt that
    only the wire witness saw is a trouble.
    """
    journal = read_arm_journal(path)
    if reports_starts(journal.hello):
        journal.attempts = []  # the witness's copies are complete
    if not witnessed.exists():
        return journal
    seen = read_arm_journal(witnessed)
    if journal.attempts or reports_ends(journal.hello):
        places = {_place_of(attempt) for attempt in journal.attempts}
        hidden = [attempt for attempt in seen.attempts if _place_of(attempt) not in places]
        journal.attempts = with_statuses(journal.attempts, seen.attempts)
        journal.troubles += [*seen.troubles, *map(_untold, hidden)]
        return journal
    journal.attempts, journal.routes, journal.witness = seen.attempts, seen.routes, WIRE
    journal.troubles += seen.troubles
    routes = {send.send: (send.route, send.route_after) for send in seen.sends}
    numbered = ((send, *routes.get(send.send, (0, 0))) for send in journal.sends)
    journal.sends = [replace(send, route=before, route_after=after) for send, before, after in numbered]
    return journal


def with_statuses(reported: Iterable[Attempt], seen: Iterable[Attempt]) -> list[Attempt]:
    """Return the reported attempts; where report and witness both have a status, that of the witness is used."""
    statuses = {_place_of(attempt): attempt.status for attempt in seen if attempt.status is not None}
    return [
        attempt if attempt.status is None else replace(attempt, status=statuses.get(_place_of(attempt), attempt.status))
        for attempt in reported
    ]


def _untold(seen: Attempt) -> str:
    what = f"a request for queue {seen.queue_id} of {seen.broker}"
    return f"send {seen.send} in thread {seen.thread}: {what} was on the wire but not reported by the client"


def _place_of(attempt: Attempt) -> tuple[int, int, str, int]:
    return attempt.send, attempt.attempt, attempt.broker, attempt.queue_id


def read_fault_journal(path: Path) -> tuple[FaultRecord, ...]:
    """Return the last record of every (episode, node), sorted; none if the file is missing."""
    latest: dict[tuple[int, str], FaultRecord] = {}
    for number, line in whole_lines(path):
        record = _ours(line, FaultRecord, path, number)
        latest[(record.episode, record.node)] = record
    return tuple(latest[key] for key in sorted(latest))


def read_plan_file(path: Path) -> tuple[PlannedSend, ...]:
    """Return the plan that both arms received; empty if the file is missing."""
    return tuple(_ours(line, PlannedSend, path, number) for number, line in whole_lines(path))


def _ours(line: bytes, kind: type[Kind], path: Path, number: int) -> Kind:
    """Decode a line that this program wrote: an unreadable one is damage, not a subject's fault."""
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
        raise TraceError(
            f"a {kind.__name__} in {path.name} line {number}", seen=str(problem), hint="the journal was damaged"
        ) from problem
