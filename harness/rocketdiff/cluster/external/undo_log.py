"""
Write-ahead log of undo actions on an existing cluster: groups and topics to delete, nodes to resume or restart.

An entry is fsynced before its action, and marked as done after the undo. Each run has one file in the cache folder and locks it
for its lifetime; the kernel releases the lock of a killed run, so that its log is recognized. Entries hold addresses and
commands, so undoing needs no cluster file.

The format is stable: a later version cleans up after an earlier one.
"""

import contextlib
import fcntl
import os
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import msgspec

from rocketdiff.core.consuming.watched import DEAD_PREFIX, RETRY_PREFIX
from rocketdiff.core.errors import ClusterError
from rocketdiff.core.tables.topology import NodeKind
from rocketdiff.releases.cache import cache_dir

_SUFFIX = ".ndjson"


class DeleteTopic(msgspec.Struct, frozen=True, tag="topic"):
    """A topic that the run creates, to be deleted at these brokers and then at these name servers."""

    name: str
    brokers: tuple[str, ...]
    name_servers: tuple[str, ...]

    @property
    def key(self) -> str:
        return f"topic {self.name}"


class DeleteGroup(msgspec.Struct, frozen=True, tag="group"):
    """
    A group of consumers of the run, to be deleted at these brokers with its offsets.

    The topics that brokers make for it are deleted there, and then at these name servers.
    """

    name: str
    brokers: tuple[str, ...]
    name_servers: tuple[str, ...]

    @property
    def key(self) -> str:
        return f"group {self.name}"

    @property
    def topics(self) -> tuple[DeleteTopic, ...]:
        """Those of failed messages and of dead letters."""
        names = (prefix + self.name for prefix in (RETRY_PREFIX, DEAD_PREFIX))
        return tuple(DeleteTopic(name, self.brokers, self.name_servers) for name in names)


class RestoreNode(msgspec.Struct, frozen=True, tag="action"):
    """
    A node that the run pauses or kills, and the command that resumes or restarts it.

    verb: resume or restart. words: the command. address, probe_topic, security_file: for the probe that proves the node is
    back.
    """

    node: str
    role: NodeKind
    address: str
    probe_topic: str
    verb: str
    words: tuple[str, ...]
    folder: str
    timeout_s: float
    security_file: str = ""

    @property
    def key(self) -> str:
        return f"{self.verb} {self.node}"


class ActionStarted(msgspec.Struct, frozen=True, tag="begun"):
    """
    The pause or kill command of an entry was started.

    started_ticks: distinguishes its process from a later one with the same id.
    """

    key: str
    group: int
    started_ticks: int


class ActionSucceeded(msgspec.Struct, frozen=True, tag="ended"):
    """That command succeeded: it cannot take effect later."""

    key: str


class Undone(msgspec.Struct, frozen=True, tag="paid"):
    """The entry with that key was undone."""

    key: str


class LoggedRun(msgspec.Struct, frozen=True, tag="owner"):
    """
    First line: the run that owns the log.

    run_folder: for messages. security_file: what the servers require; empty without access control and TLS.
    """

    cluster: str
    name_servers: tuple[str, ...]
    run_folder: str
    security_file: str = ""


UndoEntry = DeleteTopic | DeleteGroup | RestoreNode
Line = LoggedRun | UndoEntry | ActionStarted | ActionSucceeded | Undone

_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""Decoding errors; the last two for text that is not UTF-8, numbers of thousands of digits, and deep nesting."""

_CUT_OFF = "Input data was truncated"
"""msgspec's message for an incomplete line. Zeros after a power failure and other damage give other messages."""

_LINE = msgspec.json.Decoder(Line)


class UndoLog:
    """
    The undo log of one run, living or killed. Thread-safe. The file is locked until close().

    damage: why the file is not fully readable; empty if it is. Nothing is undone from a damaged log, which stays: a lost line
    may have marked an entry as done.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        """Use UndoLog.create, take_over or abandoned_logs."""
        self.path = path
        self._file = os.fdopen(descriptor, "r+b")
        self._lock = threading.Lock()
        self._pending: dict[str, UndoEntry] = {}
        self._actions: dict[str, ActionStarted] = {}
        self.run: LoggedRun | None = None
        self.damage = ""
        *complete, partial = self._file.read().split(b"\n")
        # The next line must not continue a partial one.
        self._separator = b"\n" if partial else b""
        self._read([*complete, *([partial] if partial else [])])

    def _read(self, lines: list[bytes]) -> None:
        for number, line in enumerate(lines, start=1):
            try:
                self._apply(_LINE.decode(line))
            except _UNREADABLE as problem:
                # A kill may cut a line off; its action had not started yet.
                if str(problem) != _CUT_OFF or not line:
                    self.damage = f"line {number} cannot be read"
                    return
        if self.run is None and self.path.exists():
            self.damage = "it names no cluster"

    @classmethod
    def create(cls, run: LoggedRun) -> "UndoLog":
        folder = logs_folder()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / f"{run.cluster}-{os.getpid()}-{uuid.uuid4().hex[:8]}{_SUFFIX}"
        # Rename only after the lock and the first line, so that other runs never see an incomplete file.
        draft = path.with_suffix(".draft")
        log = cls(path, os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        fcntl.flock(log._file, fcntl.LOCK_EX)
        log._write(run)
        draft.rename(path)
        return log

    @property
    def pending(self) -> tuple[UndoEntry, ...]:
        """Entries not undone yet: nodes first, because a paused broker deletes nothing."""
        with self._lock:
            entries = tuple(self._pending.values())
        return tuple(sorted(entries, key=lambda entry: not isinstance(entry, RestoreNode)))

    def record(self, entry: UndoEntry) -> None:
        """Write an entry before its action; return when it would survive a crash of the machine."""
        self._write(entry)

    def action_started(self, entry: RestoreNode, group: int, started_ticks: int) -> None:
        """Write the process group of a pause or kill command before it runs."""
        self._write(ActionStarted(entry.key, group, started_ticks))

    def action_succeeded(self, entry: RestoreNode) -> None:
        self._write(ActionSucceeded(entry.key))

    def unfinished_action(self, entry: UndoEntry) -> ActionStarted | None:
        """The pause or kill command, if it may still take effect because its success is not known; else None."""
        with self._lock:
            return self._actions.get(entry.key)

    def done(self, entry: UndoEntry) -> None:
        self._write(Undone(entry.key))

    def close(self) -> None:
        """Release the file; remove it unless entries are pending or it is damaged. A second call does nothing."""
        if self._file.closed:
            return
        if not self._pending and not self.damage:
            self.path.unlink(missing_ok=True)
        self._file.close()

    def _write(self, line: Line) -> None:
        with self._lock:
            self._file.write(self._separator + msgspec.json.encode(line) + b"\n")
            self._separator = b""
            self._file.flush()
            os.fsync(self._file.fileno())
            self._apply(line)

    def _apply(self, line: Line) -> None:
        match line:
            case LoggedRun():
                self.run = line
            case ActionStarted(key):
                self._actions[key] = line
            case ActionSucceeded(key):
                self._actions.pop(key, None)
            case Undone(key):
                self._pending.pop(key, None)
                self._actions.pop(key, None)
            case entry:
                self._pending[entry.key] = entry


def logs_folder() -> Path:
    """Folder of the undo logs of all runs of this user."""
    return cache_dir() / "external"


def abandoned_logs() -> Iterator[UndoLog]:
    """
    Yield the logs of killed runs; each is locked while the caller has it.

    Raises ClusterError, after the others, for one that cannot be opened.
    """
    unopened: ClusterError | None = None
    for path in sorted(logs_folder().glob(f"*{_SUFFIX}")):
        try:
            log = take_over(path, wait=False)
        except ClusterError as problem:
            unopened = unopened or problem
            continue
        if log is not None:
            try:
                yield log
            finally:
                log.close()
    if unopened is not None:
        raise unopened


def active_runs(besides: Path | None = None) -> Iterator[LoggedRun]:
    """Yield runs whose logs are locked: living ones, and killed ones whose guardian works. besides: a log to skip."""
    for path in sorted(set(logs_folder().glob(f"*{_SUFFIX}")) - {besides}):
        with contextlib.suppress(ClusterError):
            log = take_over(path, wait=False)
            if log is not None:
                log.close()
                continue
        with contextlib.suppress(OSError, *_UNREADABLE), path.open("rb") as file:
            first = _LINE.decode(file.readline())
            if isinstance(first, LoggedRun):
                yield first


def take_over(path: Path, *, wait: bool) -> UndoLog | None:
    """
    Return the log in a file, locked; None if the file is gone or another process has the lock. wait: wait for the lock.

    Raises ClusterError for a file that cannot be opened.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise unreadable_log(path, problem.strerror or str(problem)) from problem
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        if path.exists() and os.fstat(descriptor).st_ino == path.stat().st_ino:
            return UndoLog(path, descriptor)
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None


def unreadable_log(path: Path, seen: str) -> ClusterError:
    """Return the error for a log whose pending entries are unknown."""
    return ClusterError(
        f"a readable undo log {path}",
        seen=seen,
        hint="check by hand that no broker is paused and no topic of rocketdiff is left there, then delete the file",
    )
