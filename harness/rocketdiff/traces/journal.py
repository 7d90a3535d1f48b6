"""
Reading a journal back: raw lines to records, whatever the subject did.

A line that is no record is a trouble to be told, never a reason to stop: the journal of a lying or dying subject must
seal like any other. Only an unfinished last line is expected, after a crash, and it is left out.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import msgspec

from rocketdiff.core.errors import SubjectBroken, TraceError
from rocketdiff.core.sends.plan import PlannedSend
from rocketdiff.core.sends.records import (
    Attempt,
)
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.protocol.records import decode_record
from rocketdiff.protocol.transcript import Transcript

CLIENT, WIRE = "client", "wire"
"""Who saw an arm's attempts and routes."""

Kind = TypeVar("Kind")


@dataclass(slots=True)
class ArmJournal(Transcript):
    """Everything one arm said, and what else is known of it; troubles are sentences. witness: who saw attempts and routes."""

    troubles: list[str] = field(default_factory=list)
    witness: str = CLIENT


def whole_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Number (from 1) and content of every finished line; a last line without its end is not one."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.endswith(b"\n"):
                    yield number, line[:-1]
    except FileNotFoundError:
        return


def read_arm_journal(path: Path) -> ArmJournal:
    """Read the journal of one arm; a missing file is an empty journal."""
    journal = ArmJournal()
    for number, line in whole_lines(path):
        try:
            journal.keep(decode_record(line).record)
        except SubjectBroken as problem:
            journal.troubles.append(f"line {number} is no record, {problem.seen}")
    return journal


def read_witnessed_journal(path: Path, witnessed: Path) -> ArmJournal:
    """
    The journal of one arm, and what the wire saw of it where the client itself tells of no attempts, or only of their beginnings.

    Of the witness's copies of its sends only the numbers of routes are taken. A client that does tell is its own witness,
    except of the status of an answer: that is what the wire saw, where something of an attempt of it was recorded. Any other attempt
    of the witness is a request that the client did not tell: a trouble.
    """
    journal = read_arm_journal(path)
    if journal.hello is not None and journal.hello.tells_starts:
        journal.attempts = []  # the witness's copies of them have ends
    if not witnessed.exists():
        return journal
    seen = read_arm_journal(witnessed)
    if journal.attempts or (journal.hello is not None and journal.hello.tells_ends):
        places = {_place_of(attempt) for attempt in journal.attempts}
        hidden = [attempt for attempt in seen.attempts if _place_of(attempt) not in places]
        journal.attempts = with_statuses(journal.attempts, seen.attempts)
        journal.troubles += [*seen.troubles, *map(_untold, hidden)]
        return journal
    journal.attempts, journal.routes, journal.witness = seen.attempts, seen.routes, WIRE
    journal.troubles += seen.troubles
    routes = {send.send: (send.route, send.route_after) for send in seen.sends}
    told = ((send, *routes.get(send.send, (0, 0))) for send in journal.sends)
    journal.sends = [replace(send, route=before, route_after=after) for send, before, after in told]
    return journal


def with_statuses(told: Iterable[Attempt], seen: Iterable[Attempt]) -> list[Attempt]:
    """What a client told, with the statuses that were seen in place of its own where both have one of the same attempt."""
    statuses = {_place_of(attempt): attempt.status for attempt in seen if attempt.status is not None}
    return [
        attempt if attempt.status is None else replace(attempt, status=statuses.get(_place_of(attempt), attempt.status))
        for attempt in told
    ]


def _untold(seen: Attempt) -> str:
    what = f"a request for queue {seen.queue_id} of {seen.broker}"
    return f"send {seen.send} in thread {seen.thread}: {what} was on the wire, which the client did not tell"


def _place_of(attempt: Attempt) -> tuple[int, int, str, int]:
    return attempt.send, attempt.attempt, attempt.broker, attempt.queue_id


def read_fault_journal(path: Path) -> tuple[FaultRecord, ...]:
    """The last word on every (episode, node), in that order; a missing file is no faults."""
    latest: dict[tuple[int, str], FaultRecord] = {}
    for number, line in whole_lines(path):
        record = _ours(line, FaultRecord, path, number)
        latest[(record.episode, record.node)] = record
    return tuple(latest[key] for key in sorted(latest))


def read_plan_file(path: Path) -> tuple[PlannedSend, ...]:
    """The plan as it was given to both arms; a missing file is no plan."""
    return tuple(_ours(line, PlannedSend, path, number) for number, line in whole_lines(path))


def _ours(line: bytes, kind: type[Kind], path: Path, number: int) -> Kind:
    """Decode a line this program wrote itself: anything unreadable is damage, not a subject's doing."""
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
        raise TraceError(
            f"a {kind.__name__} in {path.name} line {number}", seen=str(problem), hint="the journal was damaged"
        ) from problem
