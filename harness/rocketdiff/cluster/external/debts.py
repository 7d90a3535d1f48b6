"""
What a run owes somebody's cluster: topics to remove, nodes to resume. On disk before it is done, struck out when paid.

One file a run, in the cache folder, so that whoever comes after a killed run can pay. It is locked by its run for as long
as that lives, which the kernel ends with it, and it holds addresses and commands: nobody needs the cluster file again.
"""

import contextlib
import fcntl
import os
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import msgspec

from rocketdiff.cluster.interface import Role
from rocketdiff.core.errors import ClusterError
from rocketdiff.releases.cache import cache_dir

_SUFFIX = ".ndjson"


class TopicOwed(msgspec.Struct, frozen=True, tag="topic"):
    """A topic that this run creates, to be deleted at these brokers and then at these name servers."""

    name: str
    brokers: tuple[str, ...]
    name_servers: tuple[str, ...]

    @property
    def key(self) -> str:
        """What strikes it out."""
        return f"topic {self.name}"


class ActionOwed(msgspec.Struct, frozen=True, tag="action"):
    """A node that this run pauses or kills, and the command that ends that; address and topic are for a probe."""

    node: str
    role: Role
    address: str
    probe_topic: str
    verb: str
    words: tuple[str, ...]
    folder: str
    timeout_s: float

    @property
    def key(self) -> str:
        """What strikes it out."""
        return f"{self.verb} {self.node}"


class ActBegun(msgspec.Struct, frozen=True, tag="begun"):
    """The command that makes a debt due runs, or ran and did not end well; told from a later process by its start."""

    key: str
    group: int
    started_ticks: int


class ActEnded(msgspec.Struct, frozen=True, tag="ended"):
    """That command ended well: nothing of it can still be under way."""

    key: str


class Paid(msgspec.Struct, frozen=True, tag="paid"):
    """The debt with that key is no more."""

    key: str


class Owner(msgspec.Struct, frozen=True, tag="owner"):
    """First line: whose cluster it is, and the run's folder, for messages."""

    cluster: str
    name_servers: tuple[str, ...]
    run_folder: str


Debt = TopicOwed | ActionOwed
Line = Owner | Debt | ActBegun | ActEnded | Paid
_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""What decoding can raise; the last two for what is not UTF-8, numbers of thousands of digits, and nesting."""

_CUT_OFF = "Input data was truncated"
"""What msgspec says of the beginning of a line; zeros, which a power cut leaves, and other damage are something else."""

_LINE = msgspec.json.Decoder(Owner | TopicOwed | ActionOwed | ActBegun | ActEnded | Paid)


class Debts:
    """
    The debts of one run, or of one that has died; safe for threads. The file is locked until close().

    damage: why the file cannot be read to its end, empty where it can. Then nobody knows what is owed: nothing is paid, since
    what a lost line struck out would be done again, and the file stays.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        """Use Debts.begin or debts_of_the_dead."""
        self.path = path
        self._file = os.fdopen(descriptor, "r+b")
        self._lock = threading.Lock()
        self._owed: dict[str, Debt] = {}
        self._acts: dict[str, ActBegun] = {}
        self.owner: Owner | None = None
        self.damage = ""
        *whole, torn = self._file.read().split(b"\n")
        # What is written next must not become part of it.
        self._separator = b"\n" if torn else b""
        self._read(whole, torn)

    def _read(self, whole: list[bytes], torn: bytes) -> None:
        for number, line in enumerate((*whole, *([torn] if torn else [])), start=1):
            try:
                self._take(_LINE.decode(line))
            except _UNREADABLE as problem:
                # A line may be cut off where a run was killed; what it was about had not been done yet.
                if str(problem) != _CUT_OFF or not line:
                    self.damage = f"line {number} cannot be read"
                    return
        if self.owner is None and self.path.exists():
            self.damage = "it does not say whose cluster it is about"

    @classmethod
    def begin(cls, owner: Owner) -> "Debts":
        """A new file, locked."""
        folder = home()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / f"{owner.cluster}-{os.getpid()}-{uuid.uuid4().hex[:8]}{_SUFFIX}"
        # Others see it when it is locked and has its first line, or not at all.
        draft = path.with_suffix(".draft")
        debts = cls(path, os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        fcntl.flock(debts._file, fcntl.LOCK_EX)
        debts._write(owner)
        draft.rename(path)
        return debts

    @property
    def owed(self) -> tuple[Debt, ...]:
        """What is not paid yet: actions before topics, for a paused broker deletes nothing."""
        with self._lock:
            owed = tuple(self._owed.values())
        return tuple(sorted(owed, key=lambda debt: isinstance(debt, TopicOwed)))

    def owe(self, debt: Debt) -> None:
        """Write down what is about to be owed; returns when it would survive the machine."""
        self._write(debt)

    def begun(self, debt: ActionOwed, group: int, started_ticks: int) -> None:
        """Write down the process group of the command that makes a debt due, before that does anything."""
        self._write(ActBegun(debt.key, group, started_ticks))

    def ended(self, debt: ActionOwed) -> None:
        """That command ended well."""
        self._write(ActEnded(debt.key))

    def unsure(self, debt: Debt) -> ActBegun | None:
        """The command of which it is not known that it ended well, so that it may still take effect; None if it did."""
        with self._lock:
            return self._acts.get(debt.key)

    def paid(self, debt: Debt) -> None:
        """Strike out what has been paid."""
        self._write(Paid(debt.key))

    def close(self) -> None:
        """Let go of the file; it is removed unless something is still owed."""
        if self._file.closed:
            return
        if not self._owed and not self.damage:
            self.path.unlink(missing_ok=True)
        self._file.close()

    def _write(self, line: Line) -> None:
        with self._lock:
            self._file.write(self._separator + msgspec.json.encode(line) + b"\n")
            self._separator = b""
            self._file.flush()
            os.fsync(self._file.fileno())
            self._take(line)

    def _take(self, line: Line) -> None:
        match line:
            case Owner():
                self.owner = line
            case ActBegun(key):
                self._acts[key] = line
            case ActEnded(key):
                self._acts.pop(key, None)
            case Paid(key):
                self._owed.pop(key, None)
                self._acts.pop(key, None)
            case debt:
                self._owed[debt.key] = debt


def home() -> Path:
    """Folder of the debts of all runs of this user."""
    return cache_dir() / "external"


def debts_of_the_dead() -> Iterator[Debts]:
    """
    Debts of runs that are gone, one after the other; each is locked while the caller has it. Those of the living are not told.

    Raises ClusterError, after the others, for one that cannot be opened.
    """
    unopened: ClusterError | None = None
    for path in sorted(home().glob(f"*{_SUFFIX}")):
        try:
            debts = taken_over(path, wait=False)
        except ClusterError as problem:
            unopened = unopened or problem
            continue
        if debts is not None:
            try:
                yield debts
            finally:
                debts.close()
    if unopened is not None:
        raise unopened


def owners_at_work(besides: Path | None = None) -> Iterator[Owner]:
    """Runs that live, or guardians that are paying for dead ones: whoever holds the lock of a file but ``besides``."""
    for path in sorted(set(home().glob(f"*{_SUFFIX}")) - {besides}):
        with contextlib.suppress(ClusterError):
            debts = taken_over(path, wait=False)
            if debts is not None:
                debts.close()
                continue
        with contextlib.suppress(OSError, *_UNREADABLE), path.open("rb") as file:
            first = _LINE.decode(file.readline())
            if isinstance(first, Owner):
                yield first


def damaged(path: Path, seen: str) -> ClusterError:
    """For a file of which nobody can tell what is owed."""
    return ClusterError(
        f"a readable undo log {path}",
        seen=seen,
        hint="see by hand that no broker is paused and no topic of rocketdiff is left there, then delete the file",
    )


def taken_over(path: Path, *, wait: bool) -> Debts | None:
    """The debts in a file, locked; None where a living run, or somebody who is paying, has it, or where it is gone."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise damaged(path, problem.strerror or str(problem)) from problem
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        if path.exists() and os.fstat(descriptor).st_ino == path.stat().st_ino:
            return Debts(path, descriptor)
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None
