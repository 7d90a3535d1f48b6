"""
The part of a run directory that belongs to one case: where its journal grows and its tables are sealed.

Order of calls while a case runs: ``begin``, lines and faults as they happen, ``write_stored`` after read-back, ``seal``,
then ``complete`` or ``abort``. Whatever is missing after a crash is missing from the tables, and told.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import msgspec

from rocketdiff.core.errors import TraceError
from rocketdiff.core.events import Arm
from rocketdiff.core.fault import FaultRecord
from rocketdiff.core.plan import Plan, PlannedSend
from rocketdiff.core.run_info import Guard
from rocketdiff.traces.arm_tables import arm_rows
from rocketdiff.traces.connections import ConnectionSample
from rocketdiff.traces.journal import ArmJournal, read_fault_journal, read_plan_file, read_witnessed_journal
from rocketdiff.traces.layout import (
    fault_journal_file,
    journal_file,
    logs_folder,
    plan_file,
    table_file,
    wire_file,
    witnessed_file,
)
from rocketdiff.traces.manifest import ArmSummary, Breach, CaseEntry, CaseStatus, ClockAnchor
from rocketdiff.traces.recorder import Recorder, digest_of, encode_plan, write_whole
from rocketdiff.traces.schema import ARM_CODES, FAULTS, STORED, TableName
from rocketdiff.traces.sealed_file import Columns, sorted_table, write_sealed


class StoredMessage(Protocol):
    """One message as read back from a queue; ``send`` is None when it is not one of ours or unreadable."""

    @property
    def broker(self) -> str: ...
    @property
    def queue_id(self) -> int: ...
    @property
    def queue_offset(self) -> int: ...
    @property
    def send(self) -> int | None: ...
    @property
    def store_timestamp_ms(self) -> int: ...
    @property
    def born_timestamp_ms(self) -> int: ...
    @property
    def body_ok(self) -> bool: ...
    @property
    def flag(self) -> int | None: ...
    @property
    def sys_flag(self) -> int | None: ...
    @property
    def properties(self) -> str | None: ...
    @property
    def body_digest(self) -> str | None: ...


Change = Callable[[CaseEntry], CaseEntry]


class RunOfCase(Protocol):
    """What a case needs of its run."""

    @property
    def path(self) -> Path:
        """Top of the run directory."""

    @property
    def run(self) -> str:
        """The run's id."""

    def subject(self, arm: Arm) -> str:
        """``client:release`` of an arm."""

    def entry(self, number: int) -> CaseEntry:
        """The case as ``run.json`` has it now."""

    def change(self, number: int, change: Change) -> CaseEntry:
        """Replace a case's entry in ``run.json``."""


class CaseDirectory:
    """Files of one case; recorders of its two arms may write from different threads."""

    def __init__(self, run: RunOfCase, number: int) -> None:
        self._run = run
        self.number = number
        self._faults: Recorder | None = None
        self._digests: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def entry(self) -> CaseEntry:
        """What ``run.json`` says about this case now."""
        return self._run.entry(self.number)

    @property
    def run(self) -> str:
        """Id of the run this case belongs to."""
        return self._run.run

    @property
    def logs(self) -> Path:
        """Folder for the logs of this case; made by whoever writes into it."""
        return self._run.path / logs_folder(self.number)

    @property
    def started(self) -> bool:
        """Whether this case ever got as far as its plan."""
        return (self._run.path / plan_file(self.number)).exists()

    def begin(self, plan: Plan, *, clock: ClockAnchor, origin_ns: int) -> None:
        """
        Put down the plan and when it starts, before the arms are told to go.

        Raises TraceError when the plan is not the one announced in ``run.json``.
        """
        content = encode_plan(plan)
        self._require_announced(content)
        write_whole(self._run.path / plan_file(self.number), content)
        self._run.change(self.number, lambda entry: replace(entry, clock=clock, origin_ns=origin_ns))

    def recorder(self, arm: Arm) -> Recorder:
        """Open the journal of one arm; the caller closes it."""
        return Recorder(self._run.path / journal_file(self.number, arm))

    def wire_file(self, arm: Arm) -> Path:
        """Where a recording relay of this arm writes."""
        return self._run.path / wire_file(self.number, arm)

    def witnessed(self, arm: Arm) -> Recorder:
        """Open the journal of what the wire saw and a client did not tell, or told otherwise; the caller closes it."""
        return Recorder(self._run.path / witnessed_file(self.number, arm))

    def write_fault(self, record: FaultRecord) -> None:
        """Put down a fault as known now; a later record of the same episode and node replaces it."""
        with self._lock:
            if self._faults is None:
                self._faults = Recorder(self._run.path / fault_journal_file(self.number))
            self._faults.line(msgspec.json.encode(record))

    def write_stored(self, arm: Arm, rows: Iterable[StoredMessage], *, table: TableName = TableName.STORED) -> int:
        """
        Seal what the brokers hold of one arm's topic, every queue read to its end; returns how many messages.

        table: SCHEDULED for what they kept back of it.
        """
        group = (self.number, ARM_CODES[arm])
        columns: dict[str, list[object]] = {name: [] for name in STORED.names}
        for row in rows:
            columns["case"].append(group[0])
            columns["arm"].append(group[1])
            for name in STORED.names[2:]:
                columns[name].append(getattr(row, name))
        messages = self._write(table, columns, arm)
        self._run.change(self.number, self._with_digests)
        return messages

    def seal(self) -> CaseEntry:
        """
        Turn the journal into tables; may be repeated, and works on what a crash left.

        Raises TraceError when nothing was started or the plan on disk is not the announced one, EnvironmentMissing when
        the disk is full.
        """
        if not self.started:
            raise TraceError(f"a started case {self.number}", seen="no plan in its journal", hint="run the case")
        self._close_faults()
        content = (self._run.path / plan_file(self.number)).read_bytes()
        self._require_announced(content)
        plan = read_plan_file(self._run.path / plan_file(self.number))
        self._write(TableName.FAULTS, self._fault_columns(), None)
        arms = {arm: self._seal_arm(arm, plan) for arm in Arm}
        return self._run.change(self.number, lambda entry: self._with_digests(replace(entry, arms=arms)))

    def lost(self, arm: Arm, breach: Breach) -> CaseEntry:
        """Put down that a subject broke the line protocol."""
        return self._run.change(self.number, lambda entry: replace(entry, breaches=entry.breaches | {arm: breach}))

    def guard(self, guard: Guard) -> CaseEntry:
        """Add a condition that was measured after this case was complete."""
        return self._run.change(self.number, lambda entry: replace(entry, guards=(*entry.guards, guard)))

    def complete(
        self,
        *,
        guards: Sequence[Guard] = (),
        measured: dict[str, int | float] | None = None,
        connections: Mapping[Arm, tuple[ConnectionSample, ...]] | None = None,
    ) -> CaseEntry:
        """Declare that everything planned for this case was done and its tables are sealed."""
        self._run.change(self.number, lambda entry: replace(entry, connections=dict(connections or {})))
        return self._end(CaseStatus.COMPLETE, "", guards, measured or {})

    def abort(
        self, reason: str, *, guards: Sequence[Guard] = (), measured: dict[str, int | float] | None = None
    ) -> CaseEntry:
        """Declare that this case did not come to its end, and why."""
        return self._end(CaseStatus.ABORTED, reason, guards, measured or {})

    def _end(
        self, status: CaseStatus, reason: str, guards: Sequence[Guard], measured: dict[str, int | float]
    ) -> CaseEntry:
        self._close_faults()
        return self._run.change(
            self.number,
            lambda entry: replace(entry, status=status, reason=reason, guards=tuple(guards), measured=measured),
        )

    def _close_faults(self) -> None:
        with self._lock:
            if self._faults is not None:
                self._faults.close()
                self._faults = None

    def _require_announced(self, content: bytes) -> None:
        announced, seen = self.entry.plan_digest, digest_of(content)
        if announced != seen:
            raise TraceError(
                f"the announced plan {announced} of case {self.number}", seen=seen, hint="the run directory was altered"
            )

    def _fault_columns(self) -> Columns:
        columns: dict[str, list[object]] = {name: [] for name in FAULTS.names}
        for record in read_fault_journal(self._run.path / fault_journal_file(self.number)):
            columns["case"].append(self.number)
            for name in FAULTS.names[1:]:
                columns[name].append(getattr(record, name))
        return columns

    def _seal_arm(self, arm: Arm, plan: Sequence[PlannedSend]) -> ArmSummary:
        told, seen = journal_file(self.number, arm), witnessed_file(self.number, arm)
        journal = read_witnessed_journal(self._run.path / told, self._run.path / seen)
        rows = arm_rows(self.number, arm, plan, self.entry.origin_ns or 0, journal)
        sends = self._write(TableName.SENDS, rows.sends, arm)
        attempts = self._write(TableName.ATTEMPTS, rows.attempts, arm)
        self._write(TableName.ROUTES, rows.routes, arm)
        summary = ArmSummary(
            sends=sends,
            attempts=attempts,
            unanswered=rows.unanswered,
            done=journal.done is not None,
            failure=journal.failure,
            trouble_count=rows.trouble_count,
            troubles=rows.troubles,
            witness=journal.witness,
        )
        return _introduced(summary, journal)

    def _write(self, table: TableName, columns: Columns, arm: Arm | None) -> int:
        file = table_file(table, self.number, arm)
        statement, digest = write_sealed(
            self._run.path / file,
            sorted_table(table, columns),
            run=self._run.run,
            name=table,
            case=self.number,
            arm=arm,
            subject=None if arm is None else self._run.subject(arm),
        )
        self._digests[str(file)] = digest
        return statement.rows

    def _with_digests(self, entry: CaseEntry) -> CaseEntry:
        return replace(entry, files=entry.files | self._digests)


def _introduced(summary: ArmSummary, journal: ArmJournal) -> ArmSummary:
    """The summary with the subject's own words about itself, if it ever spoke."""
    hello = journal.hello
    if hello is None:
        return summary
    return replace(summary, client=hello.client, version=hello.version, capabilities=hello.capabilities)
