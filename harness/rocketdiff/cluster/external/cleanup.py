"""
Performing the undo log: nodes are resumed or restarted, then topics are deleted.

When: at the end of a run (``ExternalCluster.close``); after a killed run by its guardian, a process that waits for the run's end;
at the next start on the cluster (``connect``); by ``rocketdiff cluster clean``.

``python -m rocketdiff.cluster.external.cleanup UNDO_LOG`` is the guardian. It waits for the end of its stdin, which the kernel
closes when the run dies in any way, and undoes what is pending then. A run that ends normally has undone everything itself.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.external.actions import ANSWER_WITHIN_S, CommandResult, answers, run_command, stays_up
from rocketdiff.cluster.external.described import OwnersCommand, Verb
from rocketdiff.cluster.external.undo_log import (
    ActionStarted,
    DeleteTopic,
    RestoreNode,
    UndoEntry,
    UndoLog,
    abandoned_logs,
    active_runs,
    take_over,
    unreadable_log,
)
from rocketdiff.cluster.operations import admin
from rocketdiff.cluster.security_file import security_in
from rocketdiff.core.errors import ClusterError, UsageError
from rocketdiff.process.child import python_environment
from rocketdiff.process.liveness import started_ticks
from rocketmq_reference.connections.channels import Channels
from rocketmq_reference.remoting.errors import RemotingException

_TRIES = 3
_RETRY_INTERVAL_S = 1.0
"""A resume mostly fails because of a network that recovers within seconds, or not at all."""

CommandListener = Callable[[str, Verb, CommandResult, str], None]
"""Called for every command that was run: node, verb, result, and its effect in words."""


def undo_all(log: UndoLog, on_command: CommandListener = lambda *_: None) -> tuple[str, ...]:
    """Undoes all pending entries. Returns a sentence for each that could not be undone; it stays pending."""
    if log.damage:
        return (str(unreadable_log(log.path, log.damage)),)
    if not log.pending:
        return ()
    try:
        security = security_in(log.run.security_file if log.run is not None else "")
    except UsageError as error:
        return (f"{len(log.pending)} entries of {log.path} are not undone: {error}",)
    problems = []
    unreachable: set[str] = set()
    with channels_to(security) as channels:
        for entry in log.pending:
            if isinstance(entry, DeleteTopic):
                problem = delete_everywhere(entry, channels, unreachable)
            else:
                problem = _restore(entry, on_command, unreachable, log.unfinished_action(entry))
            if problem is None:
                log.done(entry)
            else:
                problems.append(problem)
    return tuple(problems)


def delete_everywhere(entry: DeleteTopic, channels: Channels, unreachable: set[str]) -> str | None:
    """
    Deletes a topic at every server, also after one of them failed. Returns None, or why it is not deleted everywhere.

    unreachable: addresses that did not answer before; they are skipped, and others that do not answer are added.
    """
    problems = []
    for delete, addresses in ((admin.delete_topic, entry.brokers), (admin.forget_topic, entry.name_servers)):
        for address in addresses:
            if address in unreachable:
                problems.append(f"{address} as above")
                continue
            try:
                delete(channels, address, entry.name)
            except admin.ADMIN_ERRORS as error:
                problems.append(f"{address}: {error}")
                if isinstance(error, RemotingException):  # any other error is an answer
                    unreachable.add(address)
    return f"topic {entry.name} is left over: {'; '.join(problems)}" if problems else None


def _restore(
    entry: RestoreNode, on_command: CommandListener, unreachable: set[str], unfinished: ActionStarted | None
) -> str | None:
    """
    Resumes or restarts a node. Returns None, or why it failed and the command to run by hand.

    unfinished: the pause or kill command if it is not known to have succeeded. It is killed first, and since it may have taken
    effect somewhere else the node must then answer for as long as a command may take.
    """
    if unfinished is not None:
        _kill(unfinished)
    problem = _run_until_up(entry, on_command, steady_s=0.0 if unfinished is None else entry.timeout_s)
    if problem is not None:
        unreachable.add(entry.address)
    return problem


def _kill(action: ActionStarted) -> None:
    """Kills the process group of a command, if it is still the same process: it must not pause a node that is being resumed."""
    with suppress(ProcessLookupError, PermissionError):  # a process that is hidden, or may not be killed, is not ours
        if started_ticks(action.group) == action.started_ticks:
            os.killpg(action.group, signal.SIGKILL)


def _run_until_up(entry: RestoreNode, on_command: CommandListener, steady_s: float) -> str | None:
    """
    Runs the resume or restart command until the node answers.

    A node that answers is not restarted: its kill failed, or somebody else restarted it. Resuming a running node is harmless.
    """
    verb = Verb(entry.verb)
    if verb is Verb.RESTART and stays_up(entry):
        return None
    for tries_left in reversed(range(_TRIES)):
        result = run_command(OwnersCommand(entry.words), Path(entry.folder), entry.timeout_s)
        is_back = answers(entry, ANSWER_WITHIN_S[verb] if result.succeeded else 0.0, steady_s)
        on_command(entry.node, verb, result, "it answers" if is_back else "it does not answer")
        if is_back:
            return None
        if tries_left:
            time.sleep(_RETRY_INTERVAL_S)
    state = "PAUSED" if verb is Verb.RESUME else "DOWN"
    seen = "it does not answer after its command succeeded" if result.succeeded else result.seen
    by_hand = f"cd {entry.folder} && {OwnersCommand(entry.words).shown}"
    return f"{entry.node} ({entry.address}) IS STILL {state}: {seen}; do it by hand: {by_hand}"


def clean(say: Callable[[str], object]) -> None:
    """
    ``rocketdiff cluster clean``: performs the undo logs of all killed runs, on any cluster; ``say`` gets a line per entry.

    Leaves the logs of living runs alone. Raises ClusterError for what cannot be undone; it stays in the log.
    """
    problems: list[str] = []
    undone = 0
    try:
        for log in abandoned_logs():
            undone += _clean(log, say, problems)
    except ClusterError as problem:
        problems.append(str(problem))
    for run in active_runs():
        say(f"cluster {run.cluster}: a run is at work there ({run.run_folder}); what it owes is its own business")
    if problems:
        raise ClusterError(
            "every cluster to be left as it was found", seen="; ".join(problems), hint="do it by hand, then again"
        )
    if not undone:
        say("nothing is owed to any cluster")


def _clean(log: UndoLog, say: Callable[[str], object], problems: list[str]) -> int:
    """The number of entries that were undone; problems are appended."""
    where = f"cluster {log.run.cluster}" if log.run is not None else "an unknown cluster"
    before = log.pending
    problems += undo_all(log)
    undone: list[UndoEntry] = [entry for entry in before if entry not in log.pending]
    for entry in undone:
        say(f"{where}: {entry.key}: done")
    return len(undone)


class Guardian:
    """The guardian process of a run, as the run sees it."""

    def __init__(self, log: Path) -> None:
        """Starts it, in a session of its own, where Ctrl-C does not reach it."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rocketdiff.cluster.external.cleanup", str(log)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            env=python_environment(),
        )

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def close(self) -> None:
        """Ends it, after the run has performed its undo log, or has tried as often as the guardian would. A second call does nothing."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()


def main(path: Path) -> int:
    """The guardian: waits for the end of the run, then undoes what is pending; prints what fails on stderr."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(sys.stdin.fileno(), 4_096):
        pass
    log = take_over(path, wait=True)
    if log is None:
        return 0
    problems = undo_all(log)
    log.close()
    for problem in problems:
        print(f"rocketdiff: {problem}", file=sys.stderr)  # noqa: T201 - the run is gone, nobody else reports it
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
