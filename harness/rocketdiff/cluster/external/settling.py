"""
Paying what is owed to somebody's cluster: nodes are resumed or restarted, then topics deleted.

Used when a run ends, by the guardian when it did not end well, at the next start, and by ``rocketdiff cluster clean``.
"""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rocketdiff.cluster.described import Command, Verb
from rocketdiff.cluster.external.commands import Ran, run_command
from rocketdiff.cluster.external.debts import ActBegun, ActionOwed, Debt, Debts, TopicOwed, damaged
from rocketdiff.cluster.faults.proof import prove_answer
from rocketdiff.cluster.interface import Node
from rocketdiff.cluster.operations import admin
from rocketdiff.core.errors import FaultNotProven
from rocketdiff.process.liveness import started_ticks
from rocketmq_reference.connections.channels import Channels
from rocketmq_reference.remoting.errors import RemotingException

_TRIES = 3
_BETWEEN_TRIES_S = 1.0
"""What keeps a resume from working is most often a network that comes back, or not at all."""

ANSWER_WITHIN_S = {Verb.RESUME: 10.0, Verb.RESTART: 60.0}
"""A broker that was paused stores what has piled up first; one that was killed loads its store."""

NoteCommand = Callable[[str, Verb, Ran, str], None]
"""Told of every command that is run: node, verb, how it went, and what that means."""


def settle(debts: Debts, note: NoteCommand = lambda *_: None) -> tuple[str, ...]:
    """Pay everything; the sentences about what could not be paid, which stays owed."""
    if debts.damage:
        return (str(damaged(debts.path, debts.damage)),)
    problems = []
    dead: set[str] = set()
    with Channels() as channels:
        for debt in debts.owed:
            problem = pay(debt, channels, note, dead, debts.unsure(debt))
            if problem is None:
                debts.paid(debt)
            else:
                problems.append(problem)
    return tuple(problems)


def pay(
    debt: Debt,
    channels: Channels,
    note: NoteCommand = lambda *_: None,
    dead: set[str] | None = None,
    unsure: ActBegun | None = None,
) -> str | None:
    """
    Pay one debt; None, or why it could not be paid and what to do by hand.

    dead: addresses that did not answer before; they are not asked again, and others that do not are added.
    unsure: the command that made the debt due, unless it ended well; it is ended first, and looked for afterwards.
    """
    dead = set() if dead is None else dead
    if isinstance(debt, TopicOwed):
        return _delete(debt, channels, dead)
    if unsure is not None:
        _end(unsure)
    problem = _act(debt, note, steady_s=0.0 if unsure is None else debt.timeout_s)
    if problem is not None:
        dead.add(debt.address)
    return problem


def by_hand(debt: ActionOwed) -> str:
    """What a person types where we could not."""
    return f"cd {debt.folder} && {Command(debt.words).shown}"


def answers(debt: ActionOwed, within_s: float, steady_s: float = 0.0) -> bool:
    """
    Whether the node answers a probe within so many seconds, and goes on answering for ``steady_s``.

    The latter is for when a pause or a kill may still be on its way: a command over ssh that was given up here goes on there.
    """
    deadline = time.monotonic() + within_s
    while not _answers_now(debt):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_BETWEEN_TRIES_S)
    steady_from = time.monotonic()
    while (left_s := steady_from + steady_s - time.monotonic()) > 0:
        time.sleep(min(_BETWEEN_TRIES_S, left_s))
        if not _answers_now(debt):
            return False
    return True


def is_surely_up(debt: ActionOwed) -> bool:
    """
    Whether a node that was to be killed answers, and goes on answering for as long as a command may take.

    One look is not enough to leave it alone: a kill may have ended well and be followed by a shutdown that takes its time.
    """
    return answers(debt, 0.0, debt.timeout_s)


def _answers_now(debt: ActionOwed) -> bool:
    try:
        prove_answer(Node(debt.role, "", debt.node, debt.address, None, debt.probe_topic))
    except FaultNotProven:
        return False
    return True


def _end(act: ActBegun) -> None:
    """Kill the process group of a command, if it is still that one: it must not pause what is about to be resumed."""
    with suppress(ProcessLookupError, PermissionError):  # what we are not shown, or may not kill, is not ours
        if started_ticks(act.group) == act.started_ticks:
            os.killpg(act.group, signal.SIGKILL)


def _act(debt: ActionOwed, note: NoteCommand, steady_s: float) -> str | None:
    """
    Run the command until the node answers: that, and not the command's word, is what was owed.

    A node that answers is not restarted: its kill failed, or somebody was quicker. One that is resumed for nothing has no harm.
    """
    verb = Verb(debt.verb)
    if verb is Verb.RESTART and is_surely_up(debt):
        return None
    for tries_left in reversed(range(_TRIES)):
        ran = run_command(Command(debt.words), Path(debt.folder), debt.timeout_s)
        is_back = answers(debt, ANSWER_WITHIN_S[verb] if ran.succeeded else 0.0, steady_s)
        note(debt.node, verb, ran, "it answers" if is_back else "it does not answer")
        if is_back:
            return None
        if tries_left:
            time.sleep(_BETWEEN_TRIES_S)
    state = "PAUSED" if verb is Verb.RESUME else "DOWN"
    seen = "it does not answer after its command succeeded" if ran.succeeded else ran.seen
    return f"{debt.node} ({debt.address}) IS STILL {state}: {seen}; do it by hand: {by_hand(debt)}"


def _delete(debt: TopicOwed, channels: Channels, dead: set[str]) -> str | None:
    """Delete a topic wherever it may be; what one server does not do keeps no other from it."""
    problems = []
    for what, addresses in ((admin.delete_topic, debt.brokers), (admin.forget_topic, debt.name_servers)):
        for address in addresses:
            if address in dead:
                problems.append(f"{address} as above")
                continue
            try:
                what(channels, address, debt.name)
            except admin.ADMIN_ERRORS as error:
                problems.append(f"{address}: {error}")
                if isinstance(error, RemotingException):  # any other is an answer
                    dead.add(address)
    return f"topic {debt.name} is left over: {'; '.join(problems)}" if problems else None
