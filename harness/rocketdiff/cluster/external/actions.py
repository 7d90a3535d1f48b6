"""
Actions on the nodes of an existing cluster: the owner's commands, each with an undo entry and a proof of its effect.

``disrupt`` (pause, kill) writes the undo entry, then the command's process group, and only then lets the command run. So after
a killed run the log shows what to undo and which command may still be running. ``restore`` (resume, restart) completes the undo
entry when the node *answers* a probe, for any exit code of the command.
"""

import json
import os
import re
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from rocketdiff.cluster.external.described import UNDONE_BY, DescribedCluster, DescribedNode, OwnersCommand, Verb
from rocketdiff.cluster.external.undo_log import RestoreNode, UndoLog
from rocketdiff.cluster.faults.proof import prove_answer, prove_refusal
from rocketdiff.cluster.interface import Node, NodeState, Span
from rocketdiff.cluster.operations.conditions import await_condition
from rocketdiff.cluster.security_file import security_in
from rocketdiff.core.errors import ClusterError, FaultNotProven
from rocketdiff.process.liveness import started_ticks

ANSWER_WITHIN_S = {Verb.RESUME: 10.0, Verb.RESTART: 60.0}
"""A resumed broker first stores queued requests; a restarted one first loads its store."""

_PROBE_INTERVAL_S = 1.0
"""Each probe is a connection to the owner's broker. Answers are mostly delayed by a network that recovers within seconds."""

# The state command may be ssh; a shorter interval would only queue commands.
_STATE_POLL_S = 0.1

# Each poll is a connection to a dying broker; a JVM is gone about ten ms after SIGKILL.
_REFUSAL_POLL_S = 0.02

_NOT_REACHED = (None, 126, 127, 255)
"""Exit codes of a state command that did not reach the node: timeout, no such program (two codes), ssh without connection."""

_LEADS_TO = {
    Verb.PAUSE: NodeState.PAUSED,
    Verb.RESUME: NodeState.RUNNING,
    Verb.KILL: NodeState.GONE,
    Verb.RESTART: NodeState.RUNNING,
}

_KEPT_CHARACTERS = 2_000
"""The end of a command's output gives the reason."""

_WAITING_SHELL = ("/bin/sh", "-c", 'read -r _ && exec "$@" </dev/null', "sh")
"""Reads one line, then execs the command that follows in the same process. Without a line it ends."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """
    A finished command, with its times on the monotonic clock.

    exit_code: negative for a signal, None if it did not end in time.
    """

    shown: str
    begin_ns: int
    end_ns: int
    exit_code: int | None
    output: str
    error: str

    @property
    def succeeded(self) -> bool:
        return self.exit_code == 0

    @property
    def seen(self) -> str:
        took_s = (self.end_ns - self.begin_ns) / 1e9
        how = f"exit code {self.exit_code}" if self.exit_code is not None else f"no end after {took_s:.1f} s, killed"
        text = " ".join((self.error.strip() or self.output.strip()).split())
        return f"{how}: {text}" if text else f"{how}, no output"


class CommandLog:
    """``commands.ndjson`` of a run: one line per command, with times, exit code and output. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def write(self, node: str, verb: Verb, result: CommandResult, witness: str) -> None:
        """witness: what proves the effect of the command."""
        line = {
            "node": node,
            "verb": verb.value,
            "command": result.shown,
            "wall_ms": time.time_ns() // 1_000_000,
            "begin_ns": result.begin_ns,
            "end_ns": result.end_ns,
            "exit_code": result.exit_code,
            "output": result.output,
            "error": result.error,
            "witness": witness,
        }
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


class NodeActions:
    """The actions of one run. Thread-safe if two actions on one node do not overlap."""

    def __init__(self, described: DescribedCluster, undo_log: UndoLog, log: CommandLog) -> None:
        self._described = described
        self._undo_log = undo_log
        self._log = log
        self._states: dict[str, NodeState] = {}
        self._nodes = described.nodes

    def state(self, name: str) -> NodeState:
        """The state after the last action on a node."""
        return self._states.get(name, NodeState.RUNNING)

    def disrupt(self, node: Node, verb: Verb) -> Span:
        """
        Pause or kill a node. The undo entry is written before, and stays even if the command seems to have failed.

        Raises ClusterError if there is no such command, if it fails or hangs, or if the state command denies its effect.
        """
        command = self._command(node, verb)
        entry = self._undo_entry(node, UNDONE_BY[verb])
        self._undo_log.record(entry)

        def log_group(group: int) -> None:
            self._undo_log.action_started(entry, group, started_ticks(group) or 0)

        result = self._run(node, verb, command, log_group)
        if not result.succeeded:
            raise _failed(node, verb, result)
        self._undo_log.action_succeeded(entry)
        return self._effect(node, verb, result)

    def restore(self, node: Node, verb: Verb) -> Span:
        """
        Resume or restart a node; return when it answers. Raises ClusterError.

        The exit code does not decide: a resume that fails because nothing is paused is harmless, and one that exits with 0
        while the node stays silent had no effect.
        """
        entry = self._undo_entry(node, verb)
        result = self._run(node, verb, self._command(node, verb))
        # A pause or kill that did not succeed may still take effect, at the latest at its command's timeout.
        steady_s = 0.0 if self._undo_log.unfinished_action(entry) is None else entry.timeout_s
        if not answers(entry, ANSWER_WITHIN_S[verb] if result.succeeded else 0.0, steady_s):
            raise _failed(node, verb, result)
        span = self._effect(node, verb, result)
        self._undo_log.done(entry)
        return span

    def is_up_already(self, node: Node) -> bool:
        """
        True if a killed node answers before its restart; its undo entry is then completed.

        Its kill failed, or a supervisor restarted it. The restart command must not run on it.
        """
        entry = self._undo_entry(node, Verb.RESTART)
        if not stays_up(entry):
            return False
        self._states[node.name] = NodeState.RUNNING
        self._undo_log.done(entry)
        return True

    def _command(self, node: Node, verb: Verb) -> OwnersCommand:
        described = self._nodes[node.name]
        if described.lacks(verb) is not None:
            raise ClusterError(f"a {verb} command of {node.name} in {self._described.origin}", seen="none")
        return described.commands[verb]

    def _run(
        self, node: Node, verb: Verb, command: OwnersCommand, on_group: Callable[[int], object] | None = None
    ) -> CommandResult:
        result = run_command(command, self._described.folder, self._described.command_timeout_s, on_group)
        self._log.write(node.name, verb, result, self._nodes[node.name].witness)
        return result

    def _effect(self, node: Node, verb: Verb, result: CommandResult) -> Span:
        """
        Return the span from the start of the command to its end, or to the state command's confirmation.

        A kill lasts until connections are refused: ``kill -9`` and ``systemctl kill`` only send a signal, and ps reports a
        process as gone (Z) when its first thread has ended, while others still hold its port.
        """
        end_ns = self._await_state(self._nodes[node.name], _LEADS_TO[verb]) or result.end_ns
        if verb is Verb.KILL:
            end_ns = self._await_refusal(node) or end_ns
        self._states[node.name] = _LEADS_TO[verb]
        return Span(result.begin_ns, end_ns)

    def _await_refusal(self, node: Node) -> int | None:
        """Return when a killed node refused a connection; None after a command's timeout, reported later by the fault's proof."""
        deadline = time.monotonic() + self._described.command_timeout_s
        while time.monotonic() < deadline:
            with suppress(FaultNotProven):
                return prove_refusal(node)
            time.sleep(_REFUSAL_POLL_S)
        return None

    def _await_state(self, node: DescribedNode, wanted: NodeState) -> int | None:
        """Return when the state command reported the state; None without a state command."""
        command = node.commands.get(Verb.STATE)
        if command is None:
            return None
        timeout_s = self._described.command_timeout_s

        def missing() -> str | None:
            result = run_command(command, self._described.folder, timeout_s)
            self._log.write(node.name, Verb.STATE, result, node.witness)
            state = parse_state(result.output)
            # For a node that is gone, ps and docker fail without output, as does a command that never reached the node.
            failed = not result.succeeded and state is not wanted
            if state is None or result.exit_code in _NOT_REACHED or failed:
                return f"{result.seen} ({STATE_WORDS})"
            return None if state is wanted else f"its state command says {state}"

        await_condition(f"{node.name} to be {wanted}", missing, timeout_s, poll_interval_s=_STATE_POLL_S)
        return time.monotonic_ns()

    def _undo_entry(self, node: Node, verb: Verb) -> RestoreNode:
        described = self._described
        return RestoreNode(
            node=node.name,
            role=node.role,
            address=node.address,
            probe_topic=node.probe_topic,
            verb=verb,
            words=self._nodes[node.name].commands[verb].words,
            folder=str(described.folder),
            timeout_s=described.command_timeout_s,
            security_file=described.security_file,
        )


def _failed(node: Node, verb: Verb, result: CommandResult) -> ClusterError:
    if result.succeeded:
        return ClusterError(f"{node.name} to answer after its {verb} command", seen="no answer", hint=result.shown)
    return ClusterError(f"the {verb} command of {node.name} to succeed", seen=result.seen, hint=result.shown)


def answers(entry: RestoreNode, within_s: float, steady_s: float = 0.0) -> bool:
    """
    True if the node answers a probe within ``within_s``, and then every probe for ``steady_s``.

    steady_s: for a pause or kill that may still take effect; a command over ssh that was killed here continues there.
    """
    deadline = time.monotonic() + within_s
    while not _answers_now(entry):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_PROBE_INTERVAL_S)
    steady_from = time.monotonic()
    while (left_s := steady_from + steady_s - time.monotonic()) > 0:
        time.sleep(min(_PROBE_INTERVAL_S, left_s))
        if not _answers_now(entry):
            return False
    return True


def stays_up(entry: RestoreNode) -> bool:
    """
    True if a killed node answers for as long as a command may take.

    One probe is not enough: a successful kill command may only begin a slow shutdown.
    """
    return answers(entry, 0.0, entry.timeout_s)


def _answers_now(entry: RestoreNode) -> bool:
    security = security_in(entry.security_file)
    try:
        prove_answer(Node(entry.role, "", entry.node, entry.address, None, entry.probe_topic, security))
    except FaultNotProven:
        return False
    return True


_STATES = {
    "running": NodeState.RUNNING,
    "active": NodeState.RUNNING,
    "paused": NodeState.PAUSED,
    "stopped": NodeState.PAUSED,
    "gone": NodeState.GONE,
    "exited": NodeState.GONE,
    "dead": NodeState.GONE,
    "inactive": NodeState.GONE,
    "failed": NodeState.GONE,
}
"""Words of docker and systemd, and plain ones."""

_PS = re.compile(r"[RSDITtZX][<NLsl+]*")
"""The column ``stat`` of ps: a letter for the state, then flags."""

_PS_LETTERS = {"T": NodeState.PAUSED, "t": NodeState.PAUSED, "Z": NodeState.GONE, "X": NodeState.GONE}

STATE_WORDS = f"one of {', '.join(_STATES)}, or a state as ps writes it (S, T …)"


def parse_state(output: str) -> NodeState | None:
    """
    Return the state that the first word of a state command's output means; None for an unknown word.

    No output means GONE: ps prints nothing for a process that does not exist.
    """
    word = next(iter(output.split()), "")
    if not word:
        return NodeState.GONE
    if _PS.fullmatch(word):
        return _PS_LETTERS.get(word[0], NodeState.RUNNING)
    return _STATES.get(word.lower())


def run_command(
    command: OwnersCommand, folder: Path, timeout_s: float, on_group: Callable[[int], object] | None = None
) -> CommandResult:
    """
    Run a command in ``folder``; after ``timeout_s`` kill it with everything it started.

    It has no terminal and no input, so a password prompt fails. It has its own session, so Ctrl-C does not interrupt a resume.
    Its output goes to files, because a restarted server may still write after the command has ended. on_group: called with the
    process group before the command runs; if this process dies by then, the command never runs.
    """
    with closing(_output_file()) as output, closing(_output_file()) as error:
        begin_ns = time.monotonic_ns()
        try:
            process = subprocess.Popen(
                command.words if on_group is None else [*_WAITING_SHELL, *command.words],
                cwd=folder,
                stdin=subprocess.DEVNULL if on_group is None else subprocess.PIPE,
                stdout=output,
                stderr=error,
                start_new_session=True,
            )
        except OSError as problem:
            # 127: a shell's exit code for a missing program
            reason = f"{problem.strerror}: {command.words[0]}"
            return CommandResult(command.shown, begin_ns, time.monotonic_ns(), 127, "", reason)
        if on_group is not None:
            begin_ns = _release(process, on_group)
        exit_code = _exit_code(process, timeout_s)
        return CommandResult(command.shown, begin_ns, time.monotonic_ns(), exit_code, _tail(output), _tail(error))


def _release(process: "subprocess.Popen[bytes]", on_group: Callable[[int], object]) -> int:
    """Report the process group, then let the command run. Returns the time just before."""
    assert process.stdin is not None
    begin_ns = time.monotonic_ns()
    try:
        with suppress(BrokenPipeError), process.stdin as stdin:
            on_group(process.pid)
            begin_ns = time.monotonic_ns()
            stdin.write(b"\n")
    except BaseException:
        process.wait()  # without a line it ends
        raise
    return begin_ns


def _exit_code(process: "subprocess.Popen[bytes]", timeout_s: float) -> int | None:
    """Wait on the pidfd, which is ready at once; Popen.wait polls every 50 ms."""
    descriptor = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if poll.poll(timeout_s * 1_000):
            return process.wait()
    finally:
        os.close(descriptor)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return None


def _output_file() -> IO[bytes]:
    return cast("IO[bytes]", tempfile.TemporaryFile())


def _tail(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")[-_KEPT_CHARACTERS:]
