"""One run of a Python driver: obey commands, prepare, wait for go, send, report done."""

import contextlib
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Sequence

from rocketdiff.core.records.session import PROTOCOL, Done, Hello, Ready, SubjectFailed
from rocketdiff.core.sends.plan import PlannedSend
from rocketdiff.core.subject import SubjectId
from rocketdiff.drivers.python.async_sends import AsyncSends
from rocketdiff.drivers.python.client import Client, ClientFactory, Speak
from rocketdiff.drivers.python.sender import Sender
from rocketdiff.drivers.python.writer import RecordWriter
from rocketdiff.protocol.commands import Go, Prepare, Stop, decode_command

_SHUTDOWN_S = 0.7
"""Time limit of the shutdown, because unregistering from a paused broker blocks for seconds."""

_SHOWN_CHARACTERS = 500


def run_subject(
    subject: SubjectId,
    capabilities: Sequence[str],
    make_client: ClientFactory,
    writer: RecordWriter,
    speak: Speak,
    attempt_timeout_ms: int | None = None,
) -> None:
    """Write hello and obey stdin until stop or its end, then exit the process; never returns."""
    writer.start()
    pid, now_ns = os.getpid(), time.monotonic_ns()
    speak(Hello(PROTOCOL, subject.client, subject.release, tuple(capabilities), pid, now_ns, attempt_timeout_ms))
    session = Session(make_client, speak)
    status = 0
    try:
        obey(sys.stdin.buffer, session)
    except ValueError as error:
        status = 1
        speak(_failed("command", error))
    leave(session, writer, status)


def own_stdout() -> int:
    """Return a descriptor for records only; all other output of this process goes to stderr."""
    records = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return records


def obey(commands: Iterable[bytes], session: "Session") -> None:
    """Execute one command per line until stop or the end; raises ValueError for an invalid one."""
    for line in commands:
        match decode_command(line):
            case PlannedSend() as send:
                session.plan(send)
            case Prepare() as prepare:
                session.prepare(prepare)
            case Go(start_ns):
                session.go(start_ns)
            case Stop():
                return


def leave(session: "Session", writer: RecordWriter, status: int) -> None:
    """Flush, shut the client down within the time limit, and exit with this status."""
    writer.flush()
    ending = threading.Thread(target=session.shutdown, daemon=True)
    ending.start()
    ending.join(_SHUTDOWN_S)
    os._exit(status)


class Session:
    """State of a run; commands arrive on the reader's thread, a separate thread does the work."""

    def __init__(self, make_client: ClientFactory, speak: Speak) -> None:
        self._make_client = make_client
        self._speak = speak
        self._plan: list[PlannedSend] = []
        self._prepare: Prepare | None = None
        self._client: Client | None = None
        self._is_ready = False
        self._start_ns = 0
        self._told = threading.Event()

    def plan(self, send: PlannedSend) -> None:
        _require(self._prepare is None, "plan lines come before setup")
        self._plan.append(send)

    def prepare(self, prepare: Prepare) -> None:
        """Start preparing in the background; ready is reported at the end."""
        _require(self._prepare is None, "one setup")
        self._prepare = prepare
        threading.Thread(target=self._run, args=(prepare,), name="session", daemon=True).start()

    def go(self, start_ns: int) -> None:
        _require(self._is_ready and not self._told.is_set(), "one go, after ready")
        self._start_ns = start_ns
        self._told.set()

    def shutdown(self) -> None:
        """Shut the client down, ignoring errors."""
        if self._client is not None:
            with contextlib.suppress(Exception):
                self._client.shutdown()

    def _run(self, prepare: Prepare) -> None:
        stage = "setup"
        try:
            client = self._client = self._make_client(prepare.setup, self._speak)
            client.prepare()
            self._is_ready = True
            self._speak(Ready(time.monotonic_ns()))
            self._told.wait()
            stage = "sends"
            self._send(client, prepare)
            self._speak(Done(len(self._plan)))
        except Exception as error:  # noqa: BLE001 - reported to the runner, in full on stderr
            traceback.print_exc()
            self._speak(_failed(stage, error))

    def _send(self, client: Client, prepare: Prepare) -> None:
        senders = []
        under_way = AsyncSends(self._speak, prepare.setup.callback_limit_ms / 1_000, client.gave_up)
        for number in range(prepare.threads):
            own = [send for send in self._plan if send.thread == number]
            senders.append(Sender(number, own, self._start_ns, client, self._speak, under_way))
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        under_way.await_all()


def _failed(stage: str, error: Exception) -> SubjectFailed:
    return SubjectFailed(stage, f"{type(error).__name__}: {error}"[:_SHOWN_CHARACTERS])


def _require(condition: bool, expected: str) -> None:
    if not condition:
        raise ValueError(f"expected {expected}")
