"""What is done to an owner's nodes, with the owner's commands: owed before it begins, shown by its state command and a probe."""

import time
from collections.abc import Callable
from contextlib import suppress

from rocketdiff.cluster.described import UNDOES, Command, DescribedCluster, DescribedNode, Verb
from rocketdiff.cluster.external.commands import CommandLog, Ran, run_command
from rocketdiff.cluster.external.debts import ActionOwed, Debts
from rocketdiff.cluster.external.settling import ANSWER_WITHIN_S, answers, is_surely_up
from rocketdiff.cluster.external.states import WORDS_KNOWN, state_told
from rocketdiff.cluster.faults.proof import prove_refusal
from rocketdiff.cluster.interface import Node, NodeState, Span
from rocketdiff.cluster.operations.conditions import await_condition
from rocketdiff.core.errors import ClusterError, FaultNotProven
from rocketdiff.process.liveness import started_ticks

# A state command may be ssh: asking oftener would only queue them.
_STATE_POLL_S = 0.1

# Each look is a connection at somebody's broker, which is dying: a JVM that was sent SIGKILL takes some ten ms to be gone.
_REFUSAL_POLL_S = 0.02

_NOT_ASKED = (None, 126, 127, 255)
"""Not ended in time, no such program (twice), and ssh that could not connect: nobody was asked."""

_LEADS_TO = {
    Verb.PAUSE: NodeState.PAUSED,
    Verb.RESUME: NodeState.RUNNING,
    Verb.KILL: NodeState.GONE,
    Verb.RESTART: NodeState.RUNNING,
}


class Acts:
    """The acts of one run; safe for threads as long as two acts on one node do not overlap."""

    def __init__(self, described: DescribedCluster, debts: Debts, log: CommandLog) -> None:
        self._described = described
        self._debts = debts
        self._log = log
        self._states: dict[str, NodeState] = {}
        self._nodes = {node.name: node for node in (*described.name_servers, *described.brokers)}

    def state(self, name: str) -> NodeState:
        """What was done to a node last."""
        return self._states.get(name, NodeState.RUNNING)

    def begin(self, node: Node, verb: Verb) -> Span:
        """
        Pause or kill. What undoes it is owed from before it begins, and also when it seems to have failed.

        Raises ClusterError when there is no such command, when it fails or hangs, and when the state command denies it.
        """
        command = self._command(node, verb)
        debt = self._owed(node, UNDOES[verb])
        self._debts.owe(debt)
        ran = self._run(node, verb, command, lambda group: self._debts.begun(debt, group, started_ticks(group) or 0))
        if not ran.succeeded:
            raise _failed(node, verb, ran)
        self._debts.ended(debt)
        return self._shown(node, verb, ran)

    def end(self, node: Node, verb: Verb) -> Span:
        """
        Resume or restart.

        It is paid when the node answers, whatever the command says of itself: one that fails because there is nothing to
        resume has done no harm, and one that succeeds while the node stays silent has done nothing. Raises ClusterError.
        """
        debt = self._owed(node, verb)
        ran = self._run(node, verb, self._command(node, verb))
        is_back = answers(debt, ANSWER_WITHIN_S[verb] if ran.succeeded else 0.0, self._steady_s(debt))
        if not is_back:
            raise _failed(node, verb, ran)
        span = self._shown(node, verb, ran)
        self._debts.paid(debt)
        return span

    def is_up_again(self, node: Node) -> bool:
        """
        Whether a node that was to be killed answers before anything was done about it; then it is owed nothing.

        Its kill did not work, or a supervisor was quicker than its restart command, which must not be run on it then.
        """
        debt = self._owed(node, Verb.RESTART)
        if not is_surely_up(debt):
            return False
        self._states[node.name] = NodeState.RUNNING
        self._debts.paid(debt)
        return True

    def _steady_s(self, debt: ActionOwed) -> float:
        """How long a node must go on answering: what did not end well may take effect as late as it could have ended."""
        return 0.0 if self._debts.unsure(debt) is None else debt.timeout_s

    def _command(self, node: Node, verb: Verb) -> Command:
        described = self._nodes[node.name]
        lacking = described.lacks(verb)
        if lacking is not None:
            raise ClusterError(f"a {verb} command of {node.name} in {self._described.origin}", seen="none")
        return described.commands[verb]

    def _run(self, node: Node, verb: Verb, command: Command, on_group: Callable[[int], object] | None = None) -> Ran:
        ran = run_command(command, self._described.folder, self._described.command_timeout_s, on_group)
        self._log.note(node.name, verb, ran, self._nodes[node.name].witness)
        return ran

    def _shown(self, node: Node, verb: Verb, ran: Ran) -> Span:
        """
        From the begin of the command to its end, or to when the state command told that it had worked.

        A kill goes on until connections are refused: ``kill -9`` and ``systemctl kill`` only send a signal, and ps calls a
        process gone (Z) whose first thread has ended, while others still hold its port.
        """
        shown_ns = self._await_state(self._nodes[node.name], _LEADS_TO[verb]) or ran.end_ns
        if verb is Verb.KILL:
            shown_ns = self._refused_ns(node) or shown_ns
        self._states[node.name] = _LEADS_TO[verb]
        return Span(ran.begin_ns, shown_ns)

    def _refused_ns(self, node: Node) -> int | None:
        """When a killed node refused a connection; None if it has not within a command's time: the fault's proof will say so."""
        deadline = time.monotonic() + self._described.command_timeout_s
        while time.monotonic() < deadline:
            with suppress(FaultNotProven):
                return prove_refusal(node)
            time.sleep(_REFUSAL_POLL_S)
        return None

    def _await_state(self, node: DescribedNode, wanted: NodeState) -> int | None:
        """When the state command said what was wanted; None where there is none."""
        command = node.commands.get(Verb.STATE)
        if command is None:
            return None
        timeout_s = self._described.command_timeout_s

        def missing() -> str | None:
            ran = run_command(command, self._described.folder, timeout_s)
            self._log.note(node.name, Verb.STATE, ran, node.witness)
            told = state_told(ran.output)
            # ps and docker fail for what is not there, and say nothing then; but so does what never reached the node.
            if told is None or ran.exit_code in _NOT_ASKED or (not ran.succeeded and told is not wanted):
                return f"{ran.seen} ({WORDS_KNOWN})"
            return None if told is wanted else f"its state command says {told}"

        await_condition(f"{node.name} to be {wanted}", missing, timeout_s, poll_interval_s=_STATE_POLL_S)
        return time.monotonic_ns()

    def _owed(self, node: Node, verb: Verb) -> ActionOwed:
        described = self._described
        return ActionOwed(
            node=node.name,
            role=node.role,
            address=node.address,
            probe_topic=node.probe_topic,
            verb=verb,
            words=self._nodes[node.name].commands[verb].words,
            folder=str(described.folder),
            timeout_s=described.command_timeout_s,
        )


def _failed(node: Node, verb: Verb, ran: Ran) -> ClusterError:
    if ran.succeeded:
        return ClusterError(f"{node.name} to answer after its {verb} command", seen="no answer", hint=ran.shown)
    return ClusterError(f"the {verb} command of {node.name} to succeed", seen=ran.seen, hint=ran.shown)
