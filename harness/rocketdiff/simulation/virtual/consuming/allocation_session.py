"""The reference's strategies of allocation in a script."""

from dataclasses import astuple

from rocketdiff.simulation.script.model import Action, Script, Step
from rocketdiff.simulation.script.steps.consuming import Allocate, AllocationStrategy
from rocketdiff.simulation.script.vocabulary import DumpPart
from rocketdiff.simulation.virtual.assembly import VirtualClient
from rocketdiff.simulation.virtual.codec import TOPIC
from rocketdiff.simulation.virtual.lines import share_text, text
from rocketdiff.simulation.virtual.session import ScriptSession
from rocketdiff.simulation.virtual.worker import VirtualWorker
from rocketmq_reference.client.effects import Body
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.client.route import subscribe_list
from rocketmq_reference.rules.consumer.allocation import (
    STRATEGIES,
    AllocationError,
    Strategy,
    by_configuration,
    by_machine_room,
    ids_in_java_order,
    in_java_order,
    nearby,
)
from rocketmq_reference.rules.dialect import ConsumerDialect
from rocketmq_reference.rules.queue_choice.events import Observer

_STATE = "{}"
"""Strategies remember nothing."""


class AllocationSession:
    """One member's view of a group; a RoleSession. Nothing runs besides the script's thread."""

    def __init__(
        self, session: ScriptSession, dialect: ConsumerDialect, _script: Script, _observer: Observer | None
    ) -> None:
        self.session = session
        self._rules, self.consumer = dialect.allocation, dialect.consumer

    @property
    def client(self) -> VirtualClient:
        raise AssertionError("no client is started at this depth")

    def look_up(self) -> Body:
        """Do nothing: each allocation reads the name server's route."""
        yield from ()

    def do(self, head: str, step: Step) -> Body | None:
        if not isinstance(step, Allocate):
            raise TypeError(f"no step of an allocation: {step}")
        self.session.answer(head, f'"allocate": {self._answer(step)}', self.state)
        return None

    def thread_of(self, action: Action) -> int | None:  # noqa: ARG002 - no action has one
        return None

    def worker(self, thread: int) -> VirtualWorker:
        raise AssertionError(f"thread {thread} has nothing to do")

    def perform(self, head: str, action: Action) -> Body:
        raise AssertionError(f"{head}{action}")

    def finish(self) -> Body:
        yield from ()

    def part(self, part: DumpPart) -> str:
        raise AssertionError(f"no {part} at this depth")

    def state(self) -> str:
        return _STATE

    def _answer(self, step: Allocate) -> str:
        """Return the share, or the exception's name."""
        if step.strategy not in self._rules.strategies:
            return exception_text("ClassNotFoundException")
        route = self.session.servers.name_server.route
        queues = in_java_order(Queue(*each) for each in (subscribe_list(route) if route else ()))
        ids = ids_in_java_order(step.ids)
        try:
            share = self._strategy(step)(TOPIC, queues, ids, step.own)
        except AllocationError as error:
            return exception_text(error.name)
        return f'{{"share": {share_text(share)}}}'

    def _strategy(self, step: Allocate) -> Strategy:
        match step.strategy:
            case AllocationStrategy.CONFIG:
                return by_configuration(None if step.queues is None else [Queue(*astuple(one)) for one in step.queues])
            case AllocationStrategy.MACHINE_ROOM:
                return by_machine_room(step.rooms, self.consumer)
            case AllocationStrategy.MACHINE_ROOM_NEARBY:
                return nearby(
                    STRATEGIES[step.within or AllocationStrategy.AVG], lambda queue: _room(queue.broker), _room
                )
        return STRATEGIES[step.strategy]


def _room(name: str) -> str:
    """Return what stands before the first @; nothing without one."""
    room, at, _ = name.partition("@")
    return room if at else ""


def exception_text(name: str) -> str:
    """Return what a call has thrown, by the name of Java's exception."""
    return f'{{"exception": {text(name)}}}'
