"""The client as a member of a group, which joins and leaves as it is ordered."""

import time
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Protocol

from rocketdiff.core.consuming.plan import ListenerRule
from rocketdiff.drivers.python.consuming.reports import Reports
from rocketdiff.drivers.python.session import Speak
from rocketdiff.protocol.consuming import Join, Leave, MemberSetup


class Member(Protocol):
    """A member in all its incarnations."""

    @property
    def reports(self) -> Reports: ...

    def warm_up(self) -> None: ...

    def join(self) -> None: ...

    def leave(self) -> None: ...

    def shutdown(self) -> None: ...


MemberFactory = Callable[[MemberSetup, Sequence[ListenerRule], Speak], Member]


class MemberRunner:
    """Takes rules, then the setup, then orders until the last leave."""

    working = "membership"

    def __init__(self, make_member: MemberFactory, speak: Speak) -> None:
        self._make_member = make_member
        self._speak = speak
        self._rules: list[ListenerRule] = []
        self._orders: SimpleQueue[Join | Leave] = SimpleQueue()
        self._member: Member | None = None

    def rule(self, rule: ListenerRule) -> None:
        self._rules.append(rule)

    def prepare(self, setup: MemberSetup) -> None:
        self._member = self._make_member(setup, self._rules, self._speak)
        self._member.warm_up()

    def order(self, order: Join | Leave) -> None:
        self._orders.put(order)

    def run(self) -> int:
        """Obey until the last leave; return the number of calls when all have ended."""
        assert self._member is not None, "run comes after prepare"
        while True:
            order = self._orders.get()
            time.sleep(max(0, order.at_ns - time.monotonic_ns()) / 1e9)
            if isinstance(order, Join):
                self._member.join()
                continue
            self._member.leave()
            if order.last:
                return self._member.reports.await_calls()

    def shutdown(self) -> None:
        if self._member is not None:
            self._member.shutdown()
