"""
A subject as a child process: started under a supervisor, read, checked against its deadlines, and ended.

A listener thread per subject reads, journals, checks and detects silence, so two subjects never wait for each other. The first
violation is kept in ``broken`` and raised by the await methods; an error on our side (a full disk) is raised as it is.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from signal import Signals

from rocketdiff.core.arm import Member
from rocketdiff.core.closing import Closing
from rocketdiff.core.errors import EnvironmentMissing, SubjectBroken
from rocketdiff.core.records.session import Hello, Ready
from rocketdiff.core.security import hidden
from rocketdiff.process.attached import Connection
from rocketdiff.process.child import Child
from rocketdiff.protocol.commands import STOP, encode_go, encode_stop
from rocketdiff.protocol.records import decode_record
from rocketdiff.protocol.redaction import without_secrets
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.subjects.conversation import Conversation, RoleTalk, Stage
from rocketdiff.subjects.limits import LIFTED, Deadlines, OutputBounds
from rocketdiff.subjects.program import Launch, SubjectProgram
from rocketdiff.subjects.secret_removal import SecretRemoval

_STDERR = "stderr.log"

_CHECK_INTERVAL_S = 0.05
"""Interval between checks of the deadlines."""

_MAX_LINE_BYTES = 1 << 20
"""A route of thousands of queues fits; an endless line must not fill the memory."""

_EXIT_AFTER_EOF_S = 2.0
"""A process that has closed its output only has to release memory."""


class SubjectProcess(Closing):
    """
    One running subject; a context manager that ends it in any state.

    on_line: called on the listener thread with every complete line, without its line end and secrets. On close, secrets of the
    setup are removed from all files in ``folder``. has_stopped: after close, True if it exited on the command stop. is_attached: its
    author started it, and no deadline applies. began_ns: monotonic time, not after it could first read its clock. The await methods
    raise SubjectBroken at the first violation or at their deadline.
    """

    def __init__(
        self,
        program: SubjectProgram,
        member: Member,
        folder: Path,
        *,
        on_line: Callable[[bytes], None],
        deadlines: Deadlines | None = None,
    ) -> None:
        """Start the program in ``folder``; its stderr is ``stderr.log`` there."""
        self.member = member
        self.subject = program.subject
        self.folder = folder
        launch = program.launch(folder)
        self.is_attached = launch.attach is not None
        self.began_ns = time.monotonic_ns() if launch.attach is None else launch.attach.began_ns
        self._deadlines = LIFTED if self.is_attached else deadlines or Deadlines()
        self._on_line = on_line
        self._conversation = Conversation(program.subject)
        self._changed = threading.Condition()
        self._broken: SubjectBroken | None = None
        self._own_error: Exception | None = None
        self._is_closing = False
        self._is_killed = False
        self.has_stopped = False
        self._bounds = OutputBounds()
        self._secrets: tuple[str, ...] = ()
        self._removal: SecretRemoval | None = None
        self._process = _started(launch, folder)
        self._stage_deadline = time.monotonic() + self._deadlines.hello_s
        self._listener = threading.Thread(target=self._listen, name=f"subject-{member}", daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        """Process id of the supervisor, the parent of the program."""
        return self._process.pid

    @property
    def broken(self) -> SubjectBroken | None:
        return self._broken

    @property
    def stage(self) -> Stage:
        return self._conversation.stage

    @property
    def transcript(self) -> Transcript:
        return self._conversation.transcript

    @property
    def is_over(self) -> bool:
        """True if done, killed, broken, or stopped by an error on our side, which ``await_done`` raises."""
        return self._is_lost() or self._is_killed or self.stage is Stage.DONE

    @property
    def is_killed(self) -> bool:
        """True if ``signal`` killed it."""
        return self._is_killed

    @property
    def ended(self) -> int:
        return self._conversation.ended

    def await_hello(self, deadline_s: float | None = None) -> Hello:
        """Wait for the first line. deadline_s: from now; by default the deadline counts from the start of the process."""
        self._await(Stage.HELLO, deadline_s)
        assert self.transcript.hello is not None
        return self.transcript.hello

    def prepare(self, talk: RoleTalk) -> None:
        self._secrets = talk.secrets
        if self._secrets:
            self._removal = SecretRemoval(self.folder, self._secrets)
        with self._changed:
            self._bounds = talk.bounds
            lines = self._conversation.prepare(talk, self._deadlines.margin_s)
            self._stage_deadline = time.monotonic() + self._deadlines.ready_s
        self._write(lines)

    def await_ready(self, deadline_s: float | None = None) -> Ready:
        self._await(Stage.READY, deadline_s)
        assert self.transcript.ready is not None
        return self.transcript.ready

    def go(self, start_ns: int) -> None:
        """Start the operations; offset 0 of the plan is due at ``start_ns`` of the monotonic clock."""
        with self._changed:
            self._conversation.go(start_ns)
            self._stage_deadline = max(time.monotonic(), start_ns / 1e9) + self._deadlines.done_s
        self._write(encode_go(start_ns))

    def order(self, note: Callable[[], bytes]) -> None:
        """Send a command of the role; ``note`` makes the talk take note of it and returns its line."""
        with self._changed:
            line = self._conversation.order(note)
        self._write(line)

    def take_note(self, note: Callable[[], None]) -> None:
        """Make the talk take note of something that is no command."""
        with self._changed:
            note()

    def processes(self) -> tuple[int, ...]:
        """Return the processes of the program, without its supervisor."""
        return tuple(self._process.below())

    def signal(self, number: Signals, processes: Sequence[int]) -> None:
        """Send a signal to its processes, as an event of the scenario. A death by it is no violation."""
        if number is Signals.SIGKILL:
            with self._changed:
                self._is_killed = True
                self._changed.notify_all()
        self._process.send(processes, number)

    def suspend(self) -> None:
        """Stop its processes until ``go_on``, unnoticed by its deadlines; it must not have been asked for anything."""
        self._process.stop()

    def go_on(self) -> None:
        self._process.go_on()

    def end_status(self) -> int | None:
        """Return how the program has ended, negative for a signal; None while it runs."""
        return self._process.status() if self._process.await_end(0) else None

    def await_that(self, condition: Callable[[], bool], deadline_s: float) -> bool:
        """Wait at most this long until a condition over its records holds; return it. Raises SubjectBroken."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_lost() or self._is_killed or condition(), deadline_s)
        self._raise_if_lost()
        return condition()

    def await_done(self, deadline_s: float | None = None) -> Transcript:
        """Wait until every operation has ended, or it was killed. Without ``deadline_s`` only a silent thread ends the wait."""
        self._await(Stage.DONE, deadline_s)
        return self.transcript

    def await_over(self, most_s: float) -> bool:
        """Wait at most ``most_s`` for ``is_over`` and return it."""
        with self._changed:
            return self._changed.wait_for(lambda: self.is_over, most_s)

    def break_off(self, violation: SubjectBroken) -> None:
        """Take it as broken, for what the runner saw of it, and end it."""
        self._break(violation)

    def stop(self, limit_s: float | None = None) -> bool:
        """Send stop, and return True, if it can still read. limit_s: it may take so long to end as applications do."""
        with self._changed:
            may_read = not self._is_lost() and not self._is_killed and not self._is_closing
            self._is_closing = True
        if may_read:
            line = STOP if limit_s is None else encode_stop(round(1_000 * limit_s))
            self._process.write(line, timeout_s=self._deadlines.exit_s)
            self._process.close_input()
        return may_read

    def await_end(self, most_s: float) -> bool:
        """Wait at most ``most_s`` for the end of its process and return whether it has ended."""
        return self._process.await_end(most_s)

    def close(self) -> None:
        """End the subject: by the command stop if it can still read, then by a kill. Idempotent."""
        if self.stop():
            self.has_stopped = self._process.await_end(self._deadlines.exit_s)
        self._process.kill()
        self._listener.join()
        self._process.close()
        if self._removal is not None:
            self._removal.close()

    def _write(self, data: bytes) -> None:
        if not self._process.write(data, timeout_s=self._deadlines.read_s):
            self._break(
                SubjectBroken(
                    "protocol.stalled",
                    expected=f"{self.subject} to read its commands within {self._deadlines.read_s:g} s",
                    seen="its input pipe stayed full",
                )
            )

    def _await(self, stage: Stage, deadline_s: float | None) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_lost() or self._is_killed or self.stage >= stage, deadline_s)
            if not self._is_lost() and not self._is_killed and self.stage < stage:
                self._break(self._stalled(f"{stage.name.lower()} within {deadline_s:g} s"))
        self._raise_if_lost()

    def _raise_if_lost(self) -> None:
        if self._own_error is not None:
            raise self._own_error
        if self._broken is not None:
            raise self._broken

    def _is_lost(self) -> bool:
        return self._broken is not None or self._own_error is not None

    def _listen(self) -> None:
        try:
            while True:
                lines = self._process.hear(_CHECK_INTERVAL_S)
                if lines is not None:
                    self._receive(lines)
                elif self._is_closing and self._process.await_end(0):
                    return  # a child of the subject still holds the pipe
                if not self._is_lost():
                    self._check_deadlines()
        except EOFError:
            self._output_ended()
        except Exception as error:  # noqa: BLE001 - such as an unwritable journal; the await methods raise it
            with self._changed:
                self._own_error = error
                self._changed.notify_all()
            self._process.kill()

    def _receive(self, lines: list[bytes]) -> None:
        if self._process.heard_bytes > self._bounds.output_bytes:
            self._break(_too_much("bytes on its output", self._bounds.output_bytes))
            return  # not journalled either, to save the disk
        for received in lines:
            line = without_secrets(received, self._secrets)
            self._on_line(line)
            if not self._is_lost():
                self._take(line)
        with self._changed:
            self._changed.notify_all()
        if self._process.unfinished_bytes > _MAX_LINE_BYTES:
            self._break(
                SubjectBroken(
                    "protocol.bad-line",
                    expected="one JSON record a line of stdout (all else goes to stderr)",
                    seen=f"a line over {_MAX_LINE_BYTES} bytes",
                )
            )

    def _take(self, line: bytes) -> None:
        try:
            received = decode_record(line)
            with self._changed:
                self._conversation.take(received.record, time.monotonic_ns())
                if self.stage is Stage.RUNNING and self._conversation.is_finished:
                    self._stage_deadline = time.monotonic() + self._deadlines.done_s
        except SubjectBroken as violation:
            self._break(violation)

    def _check_deadlines(self) -> None:
        with self._changed:
            stage, is_late = self.stage, time.monotonic() > self._stage_deadline
            is_watched = stage is Stage.RUNNING and not self.is_attached
            overdue = self._conversation.overdue(time.monotonic_ns()) if is_watched else None
        if self._process.stderr_bytes() > self._bounds.stderr_bytes:
            self._break(_too_much("bytes on its stderr", self._bounds.stderr_bytes))
        elif stage is Stage.STARTED and is_late:
            self._break(self._stalled(f"hello within {self._deadlines.hello_s:g} s"))
        elif stage is Stage.PREPARING and is_late:
            self._break(self._stalled(f"ready within {self._deadlines.ready_s:g} s"))
        elif stage is Stage.RUNNING and self._conversation.is_finished and is_late:
            self._break(self._stalled(f"done within {self._deadlines.done_s:g} s of the last answer"))
        elif overdue is not None:
            self._break(overdue)

    def _stalled(self, expected: str) -> SubjectBroken:
        return SubjectBroken("protocol.stalled", expected=expected, seen=f"silence in stage {self.stage.name}")

    def _output_ended(self) -> None:
        if self._is_closing or self._is_lost() or self._is_killed or self.stage is Stage.DONE:
            return
        seen = (
            f"{self._process.how_it_ended(_EXIT_AFTER_EOF_S)} in stage {self.stage.name}, {self._conversation.progress}"
        )
        last_words = self._process.last_words()
        if last_words:
            seen += f"; its last words: {hidden(last_words, self._secrets)}"
        self._break(
            SubjectBroken(
                "protocol.died",
                expected=f"{self.subject} to run until it receives stop",
                seen=seen,
                hint=f"read {os.fspath(self.folder / _STDERR)}",
            )
        )

    def _break(self, violation: SubjectBroken) -> None:
        """Keep the first violation and end the subject; its later output proves nothing."""
        with self._changed:
            if self._broken is None:
                self._broken = violation
            self._changed.notify_all()
        self._process.kill()


def _started(launch: Launch, folder: Path) -> Child | Connection:
    """Create the folder and start the program there, or await its connection; raises EnvironmentMissing if that fails."""
    if launch.attach is not None:
        return launch.attach.connection()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stderr = (folder / _STDERR).open("a+b")
    except OSError as error:
        raise EnvironmentMissing(f"to be able to start {launch.command[0]}", seen=str(error)) from error
    return Child(launch.command, stderr=stderr, environment=launch.environment, folder=launch.here or folder)


def _too_much(what: str, most: int) -> SubjectBroken:
    return SubjectBroken("protocol.too-much", expected=f"at most {most:,} {what}", seen="more")
