"""
One run as one directory, which can be moved and judged again without a cluster.

The journal is appended live. Sealing turns it into the tables and can be repeated, even long after a crash. ``run.json`` is
replaced atomically at each change. Order of calls while a case runs: ``begin``; lines and faults as they happen;
``write_stored`` after read-back; ``seal``; ``complete`` or ``abort``. Data lost in a crash is missing from the tables and
reported.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, Self

import msgspec

from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.errors import TraceError, UsageError
from rocketdiff.core.files import regular_bytes
from rocketdiff.core.run_info import Guard
from rocketdiff.core.sends.plan import Plan, PlannedSend
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.traces.consuming.sealing import sealed_consumption
from rocketdiff.traces.journal import (
    ArmJournal,
    read_fault_journal,
    read_plan_file,
    read_witnessed_journal,
    whole_lines,
)
from rocketdiff.traces.layout import (
    JOURNAL,
    LOGS,
    MANIFEST,
    fault_journal_file,
    journal_file,
    logs_folder,
    plan_file,
    table_file,
    watched_file,
    wire_file,
    witnessed_file,
)
from rocketdiff.traces.links import require_no_links
from rocketdiff.traces.manifest import (
    Breach,
    CaseEntry,
    CaseStatus,
    ConnectionSample,
    GroupEntry,
    ResourceSample,
    RunManifest,
    decode_manifest,
    encode_manifest,
)
from rocketdiff.traces.recorder import Recorder, digest_of, encode_plan, write_whole, writing
from rocketdiff.traces.schema import ARM_CODES, Columns, TableName
from rocketdiff.traces.sealed_case import CaseJournals, SealedCase
from rocketdiff.traces.sealed_file import sorted_table, write_sealed
from rocketdiff.traces.sending.sealing import sealed_sends
from rocketdiff.traces.tables import FAULTS, TABLES


class StoredMessage(Protocol):
    """One message read back from a queue; ``send`` is None if it is not ours or its id is unreadable."""

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

SEALERS: Mapping[ClientRole, Callable[[CaseJournals], SealedCase]] = {
    ClientRole.PRODUCER: sealed_sends,
    ClientRole.CONSUMER: sealed_consumption,
}
"""Turn the journals of a case into its tables, by the role of the case."""


class CaseDirectory:
    """Files of one case; the recorders of its arms may write from different threads."""

    def __init__(self, run: "RunDirectory", number: int) -> None:
        self._run = run
        self.number = number
        self._faults: Recorder | None = None
        self._digests: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def entry(self) -> CaseEntry:
        return self._run.entry(self.number)

    @property
    def run(self) -> str:
        return self._run.run

    @property
    def logs(self) -> Path:
        """Folder for the logs of this case; the writer creates it."""
        return self._run.path / logs_folder(self.number)

    @property
    def started(self) -> bool:
        return (self._run.path / plan_file(self.number)).exists()

    def form(self, topics: Mapping[Arm, str], groups: Mapping[Arm, GroupEntry]) -> None:
        """Record the topic and the group of each arm, before any member joins."""
        self._run.change(self.number, lambda entry: replace(entry, topics=dict(topics), groups=dict(groups)))

    def begin(self, plan: Plan, *, clock: ClockAnchor, origin_ns: int) -> None:
        """
        Record the plan and its start, before the arms start.

        Raises TraceError if the plan is not the one announced in ``run.json``.
        """
        require_no_links(self._run.path)
        content = encode_plan(plan)
        self._require_announced(content)
        write_whole(self._run.path / plan_file(self.number), content)
        self._run.change(self.number, lambda entry: replace(entry, clock=clock, origin_ns=origin_ns))

    def recorder(self, member: Member) -> Recorder:
        """Open the journal of one member; the caller closes it."""
        return Recorder(self._run.path / journal_file(self.number, member))

    def watched(self, name: str) -> Recorder:
        """Open a journal of what the runner itself orders or sees (``layout``); the caller closes it."""
        return Recorder(self._run.path / watched_file(self.number, name))

    def wire_file(self, member: Member) -> Path:
        return self._run.path / wire_file(self.number, member)

    def witnessed(self, member: Member) -> Recorder:
        """Open the journal ``layout.witnessed_file``; the caller closes it."""
        return Recorder(self._run.path / witnessed_file(self.number, member))

    def write_fault(self, record: FaultRecord) -> None:
        """Record a fault; a later record of the same episode and node replaces it."""
        with self._lock:
            if self._faults is None:
                self._faults = Recorder(self._run.path / fault_journal_file(self.number))
            self._faults.line(msgspec.json.encode(record))

    def write_stored(self, arm: Arm, rows: Iterable[StoredMessage], *, table: TableName = TableName.STORED) -> int:
        """
        Seal the messages of one arm's topic, after every queue was read to its end; returns their number.

        table: SCHEDULED for the delayed messages that brokers held back.
        """
        return self.write_read_back(table, arm, rows)

    def write_read_back(self, table: TableName, arm: Arm | None, rows: Iterable[object]) -> int:
        """Seal rows read back from the servers, objects with the columns of a table; returns their number."""
        require_no_links(self._run.path)
        names = TABLES[table].schema.names
        columns: dict[str, list[object]] = {name: [] for name in names}
        head: dict[str, object] = {"case": self.number} if arm is None else {"case": self.number, "arm": ARM_CODES[arm]}
        for row in rows:
            for name in names:
                columns[name].append(head[name] if name in head else getattr(row, name))
        count = self._write(table, columns, arm)
        self._run.change(self.number, self._with_digests)
        return count

    def seal(self) -> CaseEntry:
        """
        Turn the journal into tables. May be repeated, and works after a crash.

        Raises TraceError if the case was not started or the plan on disk is not the announced one, EnvironmentMissing if the disk
        is full.
        """
        if not self.started:
            raise TraceError(f"a started case {self.number}", seen="no plan in its journal", hint="run the case")
        require_no_links(self._run.path)
        self._close_faults()
        self._require_announced(_content_of(self._run.path / plan_file(self.number)))
        plan = read_plan_file(self._run.path / plan_file(self.number))
        self._write(TableName.FAULTS, self._fault_columns(), None)
        sealed = SEALERS[self.entry.role](self._journals(plan))
        for (table, arm), columns in sealed.tables.items():
            self._write(table, columns, arm)
        arms = dict(sealed.arms)
        return self._run.change(self.number, lambda entry: self._with_digests(replace(entry, arms=arms)))

    def lost(self, member: Member, breach: Breach) -> CaseEntry:
        return self._run.change(
            self.number, lambda entry: replace(entry, breaches=entry.breaches | {str(member): breach})
        )

    def guard(self, guard: Guard) -> CaseEntry:
        return self._run.change(self.number, lambda entry: replace(entry, guards=(*entry.guards, guard)))

    def complete(
        self,
        *,
        guards: Sequence[Guard] = (),
        measured: dict[str, int | float] | None = None,
        connections: Mapping[Member, tuple[ConnectionSample, ...]] | None = None,
        resources: Mapping[Member, tuple[ResourceSample, ...]] | None = None,
        clock: ClockAnchor | None = None,
    ) -> CaseEntry:
        """Declare this case done and its tables sealed; clock: with what was sampled of it."""
        held = {str(member): seen for member, seen in (connections or {}).items()}
        used = {str(member): seen for member, seen in (resources or {}).items()}
        self._run.change(
            self.number,
            lambda entry: replace(entry, connections=held, resources=used, clock=clock or entry.clock),
        )
        return self._end(CaseStatus.COMPLETE, "", guards, measured or {})

    def abort(
        self, reason: str, *, guards: Sequence[Guard] = (), measured: dict[str, int | float] | None = None
    ) -> CaseEntry:
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

    def _journals(self, plan: Sequence[PlannedSend]) -> CaseJournals:
        entry = self.entry
        return CaseJournals(
            number=self.number,
            plan=plan,
            origin_ns=entry.origin_ns or 0,
            of=self._journal,
            lines=lambda name: (line for _, line in whole_lines(self._run.path / watched_file(self.number, name))),
            subjects=self._run.manifest.subjects,
            topics=entry.topics,
            groups=entry.groups,
            lost=entry.breaches.keys(),
        )

    def _journal(self, member: Member) -> ArmJournal:
        reported, seen = journal_file(self.number, member), witnessed_file(self.number, member)
        return read_witnessed_journal(self._run.path / reported, self._run.path / seen)

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


def _content_of(plan: Path) -> bytes:
    try:
        return regular_bytes(plan)
    except OSError as problem:
        seen = problem.strerror or str(problem)
        raise TraceError(f"a readable plan {plan.name}", seen=seen, hint="the run directory was altered") from problem


class RunDirectory:
    """A run on disk, with ``run.json`` in memory and on disk kept in sync."""

    def __init__(self, path: Path, manifest: RunManifest, *, is_part: bool = False) -> None:
        """is_part: the directory also has files of cases that the manifest omits."""
        self.path = path
        self.is_part = is_part
        self._manifest = manifest
        self._cases: dict[int, CaseDirectory] = {}
        self._lock = threading.Lock()

    @classmethod
    def create(cls, root: Path, manifest: RunManifest) -> Self:
        """
        Make ``root/<run id>`` with its ``run.json``.

        Raises UsageError if that run exists, EnvironmentMissing if the disk is full or not writable.
        """
        path = root / manifest.run
        with writing(path):
            try:
                path.mkdir(parents=True)
            except FileExistsError as problem:
                raise UsageError("a new run id", seen=f"{path} exists", hint="choose another --out") from problem
            (path / JOURNAL).mkdir()
            (path / LOGS).mkdir()
        write_whole(path / MANIFEST, encode_manifest(manifest))
        return cls(path, manifest)

    @classmethod
    def open(cls, path: Path) -> Self:
        """
        Open a run.

        Raises TraceError if ``run.json`` is missing, invalid or of an unknown major version, or a file is a link.
        """
        require_no_links(path)
        try:
            content = regular_bytes(path / MANIFEST)
        except OSError as problem:
            raise TraceError(
                f"a run directory at {path}",
                seen=f"{MANIFEST}: {problem.strerror}",
                hint="name the folder that holds run.json",
            ) from problem
        return cls(path, decode_manifest(content, where=f"{path.name}/{MANIFEST}"))

    @property
    def manifest(self) -> RunManifest:
        return self._manifest

    @property
    def run(self) -> str:
        """Id of the run; a moved directory may have another name."""
        return self._manifest.run

    def subject(self, arm: Arm) -> str:
        return self._manifest.subjects[arm]

    def entry(self, number: int) -> CaseEntry:
        """Current entry of a case; raises TraceError if there is no such case."""
        return self._manifest.case(number)

    def case(self, number: int) -> CaseDirectory:
        """The directory of a case; always the same object."""
        self.entry(number)
        with self._lock:
            return self._cases.setdefault(number, CaseDirectory(self, number))

    def cases(self) -> tuple[CaseDirectory, ...]:
        return tuple(self.case(entry.number) for entry in self._manifest.cases)

    def add(self, make: Callable[[int], CaseEntry]) -> CaseDirectory:
        """Add a planned case; ``make`` is called with its number."""
        with self._lock:
            entry = make(len(self._manifest.kept) + 1)
            self._write(replace(self._manifest, cases=(*self._manifest.cases, entry)))
        return self.case(entry.number)

    def repeat(self, number: int, make: Callable[[int], CaseEntry]) -> CaseDirectory:
        """Plan a case anew in the place of one that is judged no more; ``make`` is called with its number."""
        with self._lock:
            manifest, repeated = self._manifest, self.entry(number)
            entry = make(len(manifest.kept) + 1)
            cases = tuple(entry if each.number == number else each for each in manifest.cases)
            self._write(replace(manifest, cases=cases, repeated=(*manifest.repeated, repeated)))
        return self.case(entry.number)

    def only(self, number: int) -> "RunDirectory":
        """View with a single case, for reading it while the run goes on."""
        return RunDirectory(self.path, replace(self._manifest, cases=(self.entry(number),)), is_part=True)

    def change(self, number: int, change: Change) -> CaseEntry:
        with self._lock:
            changed = change(self.entry(number))
            cases = tuple(changed if entry.number == number else entry for entry in self._manifest.cases)
            self._write(replace(self._manifest, cases=cases))
            return changed

    def end(self, *, wall_ms: int) -> None:
        with self._lock:
            self._write(replace(self._manifest, ended_wall_ms=wall_ms))

    def seal(self) -> None:
        """
        Seal a run whose runner has ended, normally or by a crash.

        A started case that was not declared complete or aborted gets its tables and becomes aborted. A declared case keeps
        what was sealed; a case that never started stays planned. Never call it while the run goes on.
        """
        for case in self._open_cases():
            case.seal()
            case.abort("the run ended before this case did")

    def require_ended(self, of_broken_off: str) -> None:
        """Raise TraceError if a case has started and was neither completed nor aborted. of_broken_off: what helps with such a run."""
        if self._open_cases():
            raise TraceError(
                f"a run that has ended, with all its cases sealed ({self.run})",
                seen="a case that is still going on, or broke off",
                hint=f"wait for its end; of a run that broke off, {of_broken_off}",
            )

    def _open_cases(self) -> list[CaseDirectory]:
        return [case for case in self.cases() if case.started and case.entry.status is CaseStatus.PLANNED]

    def _write(self, manifest: RunManifest) -> None:
        write_whole(self.path / MANIFEST, encode_manifest(manifest))
        self._manifest = manifest
