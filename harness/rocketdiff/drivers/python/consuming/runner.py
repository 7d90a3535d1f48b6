"""A member of a group, which joins and leaves as it is ordered: the same for every client that is driven from Python."""

import queue
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from rocketdiff.core.consuming.plan import ListenerKind, ListenerRule, MessageModel
from rocketdiff.core.records.consuming import Joined, Left
from rocketdiff.core.records.session import Done
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.drivers.python.session import RoleRunner, Speak
from rocketdiff.protocol.consuming import Apply, Join, MemberSetup, Order

_SHOWN_CHARACTERS = 500


WARM_MESSAGES = 8
"""The runner has stored this many messages in the warm topic."""


def warm_setup(setup: MemberSetup) -> MemberSetup:
    """Return what the member of the warm group is told."""
    return replace(
        setup,
        topic=setup.warm_topic,
        group=setup.warm_group,
        instance=f"{setup.instance}-warm",
        settings={"consume_from_where": "first"},
        listener=ListenerKind.CONCURRENT,
        model=MessageModel.CLUSTERING,
        expression=None,
        assign=None,
    )


class DiedError(Exception):
    """The process of a client has ended while it was shut down. name: of the signal."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Life(Protocol):
    """One incarnation of a member. client_id: None if the client does not show it."""

    @property
    def client_id(self) -> str | None: ...

    def start(self) -> None:
        """Start the consumer as an application does; raises what it throws."""

    def shutdown(self) -> None:
        """Shut it down; what it reports of its work, calls under way excepted, has come. Raises what it throws, and DiedError."""


class PollingLife(Life, Protocol):
    """One whose application polls."""

    def apply(self, order: Apply) -> None:
        """Call a method of the consumer between two polls; returns at once."""


class Lives(Protocol):
    """The lives of one member, made one after the other."""

    def prepare(self, setup: MemberSetup, rules: Sequence[ListenerRule]) -> None:
        """Take all that is known, and warm up."""

    def begin(self, incarnation: int) -> Life | PollingLife:
        """Make the next one."""

    def await_calls(self) -> int:
        """Wait until every call has ended that can; return how many there were."""


class ConsumingRunner:
    """A RoleRunner: starts and shuts down a consumer for each join and leave."""

    working = "membership"
    awaits_go = False

    def __init__(self, lives: Lives, speak: Speak) -> None:
        self._lives, self._speak = lives, speak
        self._rules: list[ListenerRule] = []
        self._orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
        self._incarnation = 0
        self._life: Life | PollingLife | None = None

    def plan(self, line: ListenerRule) -> None:
        self._rules.append(line)

    def prepare(self, prepare: MemberSetup) -> None:
        self._lives.prepare(prepare, self._rules)

    def order(self, order: Order) -> None:
        self._orders.put(order)

    def run(self, start_ns: int) -> Done:  # noqa: ARG002 - it begins when it is ordered
        """Obey until it has left for the last time."""
        while True:
            order = self._orders.get()
            while (left_ns := order.at_ns - time.monotonic_ns()) > 0:
                time.sleep(left_ns / 1e9)
            if isinstance(order, Join):
                self._join()
                continue
            if isinstance(order, Apply):
                self._apply(order)
                continue
            self._leave()
            if order.last:
                return Done(calls=self._lives.await_calls())

    def shutdown(self) -> None:
        if self._life is not None:
            self._life.shutdown()

    def _join(self) -> None:
        if self._life is not None:
            raise ValueError("expected a join of a member that is not there")
        self._incarnation += 1
        life = self._life = self._lives.begin(self._incarnation)
        start_ns = time.monotonic_ns()
        error: Exception | None = None
        try:
            life.start()
        except Exception as raised:  # noqa: BLE001 - reported to the runner
            error = raised
        end_ns, client_id = time.monotonic_ns(), life.client_id
        self._speak(Joined(self._incarnation, start_ns, end_ns, client_id, *_named(error)))

    def _apply(self, order: Apply) -> None:
        apply = getattr(self._life, "apply", None)
        if apply is None:
            raise ValueError("expected a call of the application of a member that has joined, and polls")
        apply(order)

    def _leave(self) -> None:
        if self._life is None:
            raise ValueError("expected a leave of a member that has joined")
        start_ns = time.monotonic_ns()
        error: Exception | None = None
        try:
            self._life.shutdown()
        except Exception as raised:  # noqa: BLE001 - reported to the runner
            error = raised
        end_ns = time.monotonic_ns()
        self._life = None
        self._speak(Left(self._incarnation, start_ns, end_ns, _named(error)[0]))


def consumer_of(lives: Callable[[Speak], Lives]) -> dict[ClientRole, Callable[[Speak], RoleRunner]]:
    """Return the role of a consumer for a driver's table of roles."""
    return {ClientRole.CONSUMER: lambda speak: ConsumingRunner(lives(speak), speak)}


def _named(error: Exception | None) -> tuple[str | None, str | None]:
    if error is None:
        return None, None
    return getattr(error, "name", type(error).__name__), str(error)[:_SHOWN_CHARACTERS]
