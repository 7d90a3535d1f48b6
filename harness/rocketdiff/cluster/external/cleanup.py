"""
Execution of the undo log: nodes are resumed or restarted, then topics and groups are deleted.

At the end of a run (``ExternalCluster.close``), after a killed run by its guardian process, at the next start on the cluster
(``connect``), and by ``rocketdiff cluster clean``.

``python -m rocketdiff.cluster.external.cleanup UNDO_LOG`` is the guardian. It waits for the end of its stdin, which the kernel
closes when the run dies, and undoes the pending entries. A run that ends normally leaves none.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.external.actions import ANSWER_WITHIN_S, answers, stays_up
from rocketdiff.cluster.external.described import OwnersCommand, Verb
from rocketdiff.cluster.external.owners_commands import CommandResult, run_command
from rocketdiff.cluster.external.undo_log import (
    ActionStarted,
    DeleteGroup,
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
from rocketdiff.cluster.operations.groups import delete_subscription_group
from rocketdiff.cluster.security_file import security_in
from rocketdiff.core.errors import ClusterError, UsageError
from rocketdiff.process.child import python_environment
from rocketdiff.process.liveness import started_ticks
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting.errors import RemotingException

_TRIES = 3
_RETRY_INTERVAL_S = 1.0
"""A resume mostly fails because of a network that recovers within seconds, or not."""

PULLS_END_WITHIN_S = 25.0
"""
Pulls that a broker holds outlast their member, by 15 s or 20 s, and the broker looks at them every 5 s.

Each makes its subscription group again (seen with 5.3.3, 4 s after the deletion), so groups are deleted again after that time.
"""

CommandListener = Callable[[str, Verb, CommandResult, str], None]
"""Called for every command: node, verb, result, and effect in words."""


def undo_all(log: UndoLog, on_command: CommandListener = lambda *_: None) -> tuple[str, ...]:
    """Undo all pending entries. Return a sentence for each that could not be undone; it stays pending."""
    if log.damage:
        return (str(unreadable_log(log.path, log.damage)),)
    if not log.pending:
        return ()
    try:
        security = security_in(log.run.security_file if log.run is not None else "")
    except UsageError as error:
        return (f"{len(log.pending)} entries of {log.path} are not undone: {error}",)
    problems: list[str | None] = []
    unreachable: set[str] = set()
    deleted: list[DeleteGroup] = []
    with channels_to(security) as channels:
        for entry in log.pending:
            if isinstance(entry, DeleteGroup):
                problem = delete_group(entry, channels, unreachable)
                if problem is None:
                    deleted.append(entry)
            else:
                problem = _undo(entry, log, channels, on_command, unreachable)
            problems.append(problem)
        if deleted:
            time.sleep(PULLS_END_WITHIN_S)
        for group in deleted:
            problem = delete_group(group, channels, unreachable)
            if problem is None:
                log.done(group)
            problems.append(problem)
    return tuple(filter(None, problems))


def _undo(
    entry: DeleteTopic | RestoreNode,
    log: UndoLog,
    channels: Channels,
    on_command: CommandListener,
    unreachable: set[str],
) -> str | None:
    if isinstance(entry, DeleteTopic):
        problem = delete_everywhere(entry, channels, unreachable)
    else:
        problem = _restore(entry, on_command, unreachable, log.unfinished_action(entry))
    if problem is None:
        log.done(entry)
    return problem


def delete_everywhere(entry: DeleteTopic, channels: Channels, unreachable: set[str]) -> str | None:
    """
    Delete a topic at every server, even after a failure. Return None, or why it is not deleted everywhere.

    unreachable: addresses that did not answer before and are skipped; others that do not answer are added.
    """
    deletions = ((admin.delete_topic, entry.brokers), (admin.forget_topic, entry.name_servers))
    return _deleted(entry, deletions, channels, unreachable)


def delete_group(entry: DeleteGroup, channels: Channels, unreachable: set[str]) -> str | None:
    """
    As delete_everywhere, for a group with its offsets and topics.

    The group goes first: a broker makes its retry topic when a member registers, and no member is there any more.
    """
    problems = [_deleted(entry, ((delete_subscription_group, entry.brokers),), channels, unreachable)]
    problems += (delete_everywhere(topic, channels, unreachable) for topic in entry.topics)
    return "; ".join(filter(None, problems)) or None


def _deleted(
    entry: DeleteTopic | DeleteGroup,
    deletions: Iterable[tuple[Callable[[Channels, str, str], object], Iterable[str]]],
    channels: Channels,
    unreachable: set[str],
) -> str | None:
    problems = []
    for delete, addresses in deletions:
        for address in addresses:
            if address in unreachable:
                problems.append(f"{address} as above")
                continue
            try:
                delete(channels, address, entry.name)
            except admin.ADMIN_ERRORS as error:
                problems.append(f"{address}: {error}")
                if isinstance(error, RemotingException):  # other errors are answers
                    unreachable.add(address)
    return f"{entry.key} is left over: {'; '.join(problems)}" if problems else None


def _restore(
    entry: RestoreNode, on_command: CommandListener, unreachable: set[str], unfinished: ActionStarted | None
) -> str | None:
    """
    Resume or restart a node. Return None, or why it failed and the command to run by hand.

    unfinished: the pause or kill command if it is not known to have succeeded. It is killed first. It may have taken effect
    elsewhere, so the node must then answer for as long as a command may take.
    """
    if unfinished is not None:
        _kill(unfinished)
    problem = _run_until_up(entry, on_command, steady_s=0.0 if unfinished is None else entry.timeout_s)
    if problem is not None:
        unreachable.add(entry.address)
    return problem


def _kill(action: ActionStarted) -> None:
    """Kill a command's process group if it is still the same process, so that it cannot pause a node that is being resumed."""
    with suppress(ProcessLookupError, PermissionError):  # a hidden or protected process is not ours
        if started_ticks(action.group) == action.started_ticks:
            os.killpg(action.group, signal.SIGKILL)


def _run_until_up(entry: RestoreNode, on_command: CommandListener, steady_s: float) -> str | None:
    """
    Run the resume or restart command until the node answers.

    A node that answers is not restarted: its kill failed, or it was restarted externally. Resuming a running node is harmless.
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


def clean(print_line: Callable[[str], object]) -> None:
    """
    ``rocketdiff cluster clean``: undo the logs of all killed runs, on any cluster. say: gets a line per entry.

    Skips logs of living runs. Raises ClusterError for what cannot be undone; it stays in the log.
    """
    problems: list[str] = []
    undone = 0
    try:
        for log in abandoned_logs():
            undone += _clean(log, print_line, problems)
    except ClusterError as problem:
        problems.append(str(problem))
    for run in active_runs():
        print_line(f"cluster {run.cluster}: a run is active ({run.run_folder}); its undo log is left alone")
    if problems:
        raise ClusterError(
            "every cluster to be left as it was found", seen="; ".join(problems), hint="do it by hand, then again"
        )
    if not undone:
        print_line("no undo action is pending")


def _clean(log: UndoLog, print_line: Callable[[str], object], problems: list[str]) -> int:
    """Return the number of undone entries; append problems."""
    where = f"cluster {log.run.cluster}" if log.run is not None else "an unknown cluster"
    before = log.pending
    problems += undo_all(log)
    undone: list[UndoEntry] = [entry for entry in before if entry not in log.pending]
    for entry in undone:
        print_line(f"{where}: {entry.key}: done")
    return len(undone)


class Guardian:
    """A run's handle of its guardian process."""

    def __init__(self, log: Path) -> None:
        """Start it in its own session, so that Ctrl-C does not reach it."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rocketdiff.cluster.external.cleanup", str(log)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            env=python_environment(),
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        """End it after the run's own undo. A second call does nothing."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()


def main(path: Path) -> int:
    """Wait for the end of the run, then undo what is pending; print failures on stderr."""
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
        print(f"rocketdiff: {problem}", file=sys.stderr)  # noqa: T201 - the run is gone and cannot report it
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
