"""
The lives of a member whose client does not survive its shutdown: each in a process of its own, which is a member that joins once.

Rules, setup and orders pass to that process as they came, and its records pass back: its calls are counted on, its incarnation is the
next. When it dies while it is shut down, that is the end of this life; when it dies at any other time, so does the member.
"""

import contextlib
import os
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from signal import Signals
from typing import NoReturn, TypeVar

from rocketdiff.core.consuming.plan import ListenerRule
from rocketdiff.core.records.consuming import Consumed, Joined, Left, Received
from rocketdiff.core.records.received import Record
from rocketdiff.core.records.session import Done, Hello, Ready, SubjectFailed
from rocketdiff.drivers.python.consuming.runner import WARM_MESSAGES, DiedError, warm_setup
from rocketdiff.drivers.python.session import Speak
from rocketdiff.protocol.consuming import Join, Leave, MemberSetup, encode_member_setup, encode_order, encode_rules
from rocketdiff.protocol.records import decode_record

Kind = TypeVar("Kind")

_WARM_S = 30.0
"""Two rounds of ten seconds, and a busy machine."""

_READY_S = 30.0
_JOINED_S = 60.0
"""The runner's own deadline comes first."""

_LEFT_S = 60.0


class OwnProcesses:
    """
    The ``Lives`` of a member. command: starts a member of this protocol, which joins once.

    The next life's process is started in advance, so that a join is on time.
    """

    def __init__(self, command: Sequence[str], speak: Speak) -> None:
        self._command, self._speak = command, speak
        self._setup: MemberSetup | None = None
        self._rules: Sequence[ListenerRule] = ()
        self._next: _Process | None = None
        self._calls = 0
        self._last: OwnLife | None = None

    def prepare(self, setup: MemberSetup, rules: Sequence[ListenerRule]) -> None:
        """A member of the warm group gets the warm messages; the first life's process is ready."""
        self._setup, self._rules = setup, rules
        self._next = self._process(setup, rules)
        self._next.await_record(Ready, _READY_S)
        warm = self._process(warm_setup(setup), ())
        warm.await_record(Ready, _READY_S)
        warm.order(Join(0))
        warm.await_that(lambda: warm.messages >= WARM_MESSAGES, _WARM_S)
        seen = warm.messages
        warm.kill()
        if seen < WARM_MESSAGES:
            raise ValueError(f"expected {WARM_MESSAGES} messages of {setup.warm_topic} within {_WARM_S} s, saw {seen}")

    def begin(self, incarnation: int) -> "OwnLife":
        assert self._setup is not None, "orders come after prepare"
        process = self._next or self._process(self._setup, self._rules)
        process.await_record(Ready, _READY_S)
        self._next = None
        self._calls += 0 if self._last is None else self._last.calls
        self._last = OwnLife(process, incarnation, self._calls, self._speak, self._prepare_next)
        return self._last

    def await_calls(self) -> int:
        return self._calls + (0 if self._last is None else self._last.calls)

    def close(self) -> None:
        """End the process that no life needs any more."""
        if self._next is not None:
            self._next.kill()

    def _prepare_next(self) -> None:
        assert self._setup is not None, "orders come after prepare"
        self._next = self._process(self._setup, self._rules)

    def _process(self, setup: MemberSetup, rules: Sequence[ListenerRule]) -> "_Process":
        return _Process(self._command, b"".join([*encode_rules(rules), encode_member_setup(setup)]))


class OwnLife:
    """One incarnation. calls: of its listener, so far."""

    def __init__(
        self, process: "_Process", incarnation: int, calls_before: int, speak: Speak, is_over: Callable[[], None]
    ) -> None:
        self._process, self._is_over = process, is_over
        self.client_id: str | None = None

        def counted_on(record: Record) -> None:
            match record:
                case Received():
                    speak(replace(record, call=record.call + calls_before, incarnation=incarnation))
                case Consumed():
                    speak(replace(record, call=record.call + calls_before))
                case SubjectFailed():
                    speak(record)
                case _:
                    pass  # the runner of this process says when it joined and left

        process.hear(counted_on)

    @property
    def calls(self) -> int:
        return self._process.calls

    def start(self) -> None:
        self._process.order(Join(0))
        joined = self._process.await_record(Joined, _JOINED_S)
        self.client_id = joined.client_id
        if joined.error is not None:
            raise StartError(joined.error, joined.message or "")

    def await_end(self, within_s: float) -> bool:
        """Wait until its process has ended."""
        return self._process.await_that(lambda: self._process.status is not None, within_s)

    def shutdown(self) -> None:
        """Raise DiedError if the process did not survive it."""
        self._process.order(Leave(0, last=True))
        try:
            self._process.await_that(lambda: self._process.has(Done), _LEFT_S)
            status = self._process.status
        finally:
            self._process.kill()
            self._is_over()
        if status is not None and status < 0:
            raise DiedError(Signals(-status).name)
        left = self._process.last(Left)
        if left is not None and left.error is not None:
            raise DiedError(left.error)


class StartError(Exception):
    """The client threw at its start. name: of what it threw."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class _Process:
    """
    A member in a process of its own. calls, messages: that its listener got. status: None while it runs.

    Its death before its leave is the death of this process.
    """

    def __init__(self, command: Sequence[str], lines: bytes) -> None:
        self.calls = self.messages = 0
        self._hear: Callable[[Record], None] = lambda _record: None
        self._heard: list[Record] = []  # but for those that come with each message
        self._is_ending = False
        self._changed = threading.Condition()
        self.status: int | None = None
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None, "a pipe"
        self._input = self._process.stdin
        self._write(lines)
        self._listener = threading.Thread(target=self._listen, name="own-process", daemon=True)
        self._listener.start()

    def hear(self, listener: Callable[[Record], None]) -> None:
        """Pass its records on from now on."""
        self._hear = listener

    def order(self, order: Join | Leave) -> None:
        self._is_ending |= isinstance(order, Leave)
        self._write(encode_order(order))

    def has(self, kind: type[object]) -> bool:
        return self.last(kind) is not None

    def last(self, kind: type[Kind]) -> Kind | None:
        return next((each for each in reversed(self._heard) if isinstance(each, kind)), None)

    def await_that(self, condition: Callable[[], bool], within_s: float) -> bool:
        """Wait until it holds, or the process has ended."""
        with self._changed:
            self._changed.wait_for(lambda: condition() or self.status is not None, within_s)
            return condition()

    def await_record(self, kind: type[Kind], within_s: float) -> Kind:
        """Raise TimeoutError, or ValueError with what it said instead."""
        self.await_that(lambda: self.has(kind) or self.has(SubjectFailed), within_s)
        found, failed = self.last(kind), self.last(SubjectFailed)
        if found is None and failed is not None:
            raise ValueError(failed.message.removeprefix("ValueError: "))
        if found is None:
            raise TimeoutError(f"expected {kind.__name__.lower()} within {within_s} s, saw nothing")
        return found

    def kill(self) -> None:
        self._is_ending = True
        self._process.kill()
        self._listener.join()

    def _write(self, lines: bytes) -> None:
        self._input.write(lines)
        self._input.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None, "a pipe"
        for line in self._process.stdout:
            record = decode_record(line.rstrip(b"\n")).record
            self._hear(record)
            with self._changed:
                if isinstance(record, Received):
                    self.calls += 1
                    self.messages += len(record.messages)
                elif not isinstance(record, Hello | Consumed):
                    self._heard.append(record)
                self._changed.notify_all()
        status = self._process.wait()
        self._process.stdout.close()
        with contextlib.suppress(OSError):  # what it did not read
            self._input.close()
        if not self._is_ending:
            _die_of(status)
        with self._changed:
            self.status = status
            self._changed.notify_all()


def _die_of(status: int) -> NoReturn:
    """End as the client did, so that it is reported as it is."""
    if status < 0:
        os.kill(os.getpid(), Signals(-status))
    os._exit(max(1, status))
