"""
The protocol's state machine, common to all roles. Pure: the clock is a parameter.

hello; after setup ready; after go, or the first order of a role, what the role reports; then done. ``RoleTalk`` checks the records
of a role.
"""

from collections.abc import Callable
from enum import IntEnum
from typing import Protocol

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.received import Record
from rocketdiff.core.records.session import PROTOCOL, Done, Hello, Ready, SubjectFailed
from rocketdiff.core.subject import SubjectId
from rocketdiff.protocol.records import type_of
from rocketdiff.protocol.transcript import Transcript, words_of
from rocketdiff.subjects.limits import OutputBounds

WRONG_SUBJECT = "protocol.wrong-subject"

_AHEAD_TOLERANCE_NS = 1_000_000
"""All processes of a host share a clock, so no time is in the future; some clocks have a resolution of 1 ms."""


class Stage(IntEnum):
    """Progress of the conversation; it only grows."""

    STARTED = 0
    HELLO = 1
    PREPARING = 2
    READY = 3
    RUNNING = 4
    DONE = 5


class RoleTalk(Protocol):
    """
    What a subject of one role is asked to do, and what it may report of it.

    bounds: of its output. secrets: texts that no line may show. ended: number of its operations that have ended; progress:
    the same in words, for a message.
    """

    @property
    def bounds(self) -> OutputBounds: ...
    @property
    def secrets(self) -> tuple[str, ...]: ...
    @property
    def ended(self) -> int: ...
    @property
    def progress(self) -> str: ...
    @property
    def is_finished(self) -> bool:
        """True if only done is missing."""

    def prepare(self, transcript: Transcript, heard_ns: int, margin_s: float) -> bytes:
        """
        Return the lines that ask for it; called once, after hello.

        transcript: all records so far; the talk adds those of its role. heard_ns: when hello came. margin_s: time of an
        operation beyond what the settings explain.
        """

    def go(self, start_ns: int) -> None:
        """Take note that the subject begins at this monotonic time."""

    def take(self, record: Record, stage: Stage, now_ns: int) -> None:
        """Check one record of the role against all earlier ones and keep it; raise SubjectBroken."""

    def require_complete(self, done: Done) -> None:
        """Raise SubjectBroken if done came too early or counts wrongly."""

    def overdue(self, now_ns: int) -> SubjectBroken | None:
        """Return the violation of a subject that has been silent for too long, or None."""


class Conversation:
    """State of one subject's conversation; ``take`` raises SubjectBroken on a violation."""

    def __init__(self, subject: SubjectId) -> None:
        self.stage = Stage.STARTED
        self.transcript = Transcript()
        self._subject = subject
        self._talk: RoleTalk | None = None
        self._heard_ns = 0

    def prepare(self, talk: RoleTalk, margin_s: float = 0.0) -> bytes:
        """Return the lines of setup, which the runner sends now."""
        self._talk = talk
        self.stage = Stage.PREPARING
        return talk.prepare(self.transcript, self._heard_ns, margin_s)

    def go(self, start_ns: int) -> None:
        assert self._talk is not None
        self._talk.go(start_ns)
        self.stage = Stage.RUNNING

    def order(self, note: Callable[[], bytes]) -> bytes:
        """Return the line of a command of the role, of which ``note`` makes the talk take note."""
        assert self.stage in (Stage.READY, Stage.RUNNING), f"an order in stage {self.stage.name}"
        line = note()
        self.stage = Stage.RUNNING
        return line

    @property
    def ended(self) -> int:
        return 0 if self._talk is None else self._talk.ended

    @property
    def progress(self) -> str:
        return "before its setup" if self._talk is None else self._talk.progress

    @property
    def is_finished(self) -> bool:
        """True if all operations have ended, and only done is missing."""
        return self._talk is not None and self._talk.is_finished

    def take(self, record: Record, now_ns: int) -> None:
        """Check one record against all earlier ones and keep it."""
        match record:
            case Hello():
                self._take_hello(record)
                self._heard_ns = now_ns
            case Ready():
                require_stage(self.stage, Stage.PREPARING, "ready")
                self.transcript.keep(record)
                self.stage = Stage.READY
            case Done():
                require_stage(self.stage, Stage.RUNNING, "done")
                assert self._talk is not None
                self._talk.require_complete(record)
                self.transcript.keep(record)
                self.stage = Stage.DONE
            case SubjectFailed():
                raise broken("failed", "the subject to go on", words_of(record))
            case _ if self._talk is None:
                word = type_of(record)
                raise broken("out-of-order", f"{word} after setup", f"{word} in stage {self.stage.name}")
            case _:
                self._talk.take(record, self.stage, now_ns)

    def overdue(self, now_ns: int) -> SubjectBroken | None:
        """Return the violation of a subject that has been silent for too long, or None."""
        return None if self._talk is None else self._talk.overdue(now_ns)

    def _take_hello(self, hello: Hello) -> None:
        require_stage(self.stage, Stage.STARTED, "hello")
        if hello.protocol != PROTOCOL:
            raise broken("version", f"protocol {PROTOCOL}", f"protocol {hello.protocol}")
        if (hello.client, hello.version) != (self._subject.client, self._subject.release):
            raise SubjectBroken(WRONG_SUBJECT, expected=f"{self._subject}", seen=f"{hello.client}:{hello.version}")
        self.transcript.keep(hello)
        self.stage = Stage.HELLO


def require_stage(now: Stage, stage: Stage, what: str) -> None:
    """Raise SubjectBroken for a record in another stage than its own."""
    if now is not stage:
        raise broken("out-of-order", f"{what} in stage {stage.name}", f"{what} in stage {now.name}")


def require_bound(count: int, most: int, what: str) -> None:
    """Raise SubjectBroken for more of something than any working client has."""
    if count > most:
        raise broken("too-much", f"at most {most} {what}", f"{count}")


def require_past(what: str, time_ns: int, now_ns: int) -> None:
    """Raise SubjectBroken for a time in the future."""
    if time_ns > now_ns + _AHEAD_TOLERANCE_NS:
        ahead_ms = (time_ns - now_ns) / 1e6
        raise broken("impossible-times", f"{what} reported after it happened", f"{ahead_ms:.1f} ms in the future")


def broken(signature: str, expected: str, seen: str) -> SubjectBroken:
    """Return a violation of the line protocol."""
    return SubjectBroken(f"protocol.{signature}", expected=expected, seen=seen)
