"""
Actions on the nodes of an existing cluster: the owner's commands, each with an undo entry and a proof of its effect.

``disrupt`` (pause, kill) writes the undo entry, then the command's process group, and only then lets the command run. So after
a killed run the log shows what to undo and which command may still be running. ``restore`` (resume, restart) completes the undo
entry when the node *answers* a probe, for any exit code of the command.
"""

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rocketdiff.cluster.external.described import UNDONE_BY, DescribedCluster, DescribedNode, OwnersCommand, Verb
from rocketdiff.cluster.external.owners_commands import STATE_WORDS, CommandResult, parse_state, run_command
from rocketdiff.cluster.external.undo_log import RestoreNode, UndoLog
from rocketdiff.cluster.faults.proof import prove_answer, prove_refusal, prove_silence
from rocketdiff.cluster.interface import Node, NodeState, Span, pause_broken
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
        while the node stays silent had no effect. A pause that somebody else has ended before is raised after the resume.
        """
        entry = self._undo_entry(node, verb)
        broken = self._broken(node) if verb is Verb.RESUME and self.state(node.name) is NodeState.PAUSED else None
        result = self._run(node, verb, self._command(node, verb))
        # A pause or kill that did not succeed may still take effect, at the latest at its command's timeout.
        steady_s = 0.0 if self._undo_log.unfinished_action(entry) is None else entry.timeout_s
        if not answers(entry, ANSWER_WITHIN_S[verb] if result.succeeded else 0.0, steady_s):
            raise _failed(node, verb, result)
        span = self._effect(node, verb, result)
        self._undo_log.done(entry)
        if broken is not None:
            raise pause_broken(node.name, broken)
        return span

    def _broken(self, node: Node) -> str | None:
        """Return what contradicts a pause just before its end: an answer to a probe, or the state command."""
        try:
            prove_silence(node, None)
        except FaultNotProven as error:
            return error.seen
        command = self._nodes[node.name].commands.get(Verb.STATE)
        if command is None:
            return None
        state = parse_state(run_command(command, self._described.folder, self._described.command_timeout_s).output)
        return None if state is NodeState.PAUSED else f"its state command says {state or 'nothing'}"

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
