"""The reference as a member of a group, which joins and leaves as it is ordered."""

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from rocketdiff.core.consuming.plan import ListenerKind, ListenerRule, MessageModel
from rocketdiff.core.records.consuming import Joined, Left
from rocketdiff.core.records.session import Done
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.drivers.python.consuming.reference import MessageReader, ReferenceMember
from rocketdiff.drivers.python.consuming.reports import Reports
from rocketdiff.drivers.python.consuming.toys import Defect, honest
from rocketdiff.drivers.python.session import RoleRunner, Speak
from rocketdiff.protocol.consuming import Join, Leave, MemberSetup
from rocketmq_reference.api.push_consumer import is_imitated

_WARM_MESSAGES = 8
"""The runner has stored this many messages in the warm topic."""

_WARM_S = (25.0, 20.0)
"""
Rounds of a new group, and a busy machine; then a second group.

A broker that answers a first heartbeat late lists the member twice for 120 s, since it has connected anew meanwhile: half of the
queues stand still. A new group has no such entry.
"""

_SHOWN_CHARACTERS = 500


def as_consumer(release: str, defect: Defect = honest) -> dict[ClientRole, Callable[[Speak], RoleRunner]]:
    """Return the role of a consumer; none for a release whose consumers the reference does not imitate."""
    return {ClientRole.CONSUMER: partial(ConsumingRunner, release, defect)} if is_imitated(release) else {}


class ConsumingRunner:
    """A RoleRunner: warms up, then starts and shuts down a consumer for each join and leave."""

    working = "membership"
    awaits_go = False

    def __init__(self, release: str, defect: Defect, speak: Speak) -> None:
        self._release, self._defect, self._speak = release, defect, speak
        self._reports = Reports(speak)
        self._rules: list[ListenerRule] = []
        self._orders: queue.SimpleQueue[Join | Leave] = queue.SimpleQueue()
        self._setup: MemberSetup | None = None
        self._reader: MessageReader | None = None
        self._incarnation = 0
        self._member: ReferenceMember | None = None

    def plan(self, line: ListenerRule) -> None:
        self._rules.append(line)

    def prepare(self, prepare: MemberSetup) -> None:
        self._setup, self._reader = prepare, MessageReader(prepare)
        self._warm_up(prepare)

    def order(self, order: Join | Leave) -> None:
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
            self._leave()
            if order.last:
                return Done(calls=self._reports.await_calls())

    def shutdown(self) -> None:
        if self._member is not None:
            self._member.consumer.shutdown()

    def _join(self) -> None:
        assert self._setup is not None, "orders come after prepare"
        assert self._reader is not None, "orders come after prepare"
        if self._member is not None:
            raise ValueError("expected a join of a member that is not there")
        self._incarnation += 1
        member = ReferenceMember(
            self._release, self._setup, self._rules, self._incarnation, self._reports, self._reader, self._defect
        )
        self._member = member
        start_ns = time.monotonic_ns()
        error: Exception | None = None
        try:
            member.consumer.start()
        except Exception as raised:  # noqa: BLE001 - reported to the runner
            error = raised
        end_ns, client_id = time.monotonic_ns(), member.consumer.client_id
        self._speak(Joined(self._incarnation, start_ns, end_ns, client_id, *_named(error)))

    def _leave(self) -> None:
        if self._member is None:
            raise ValueError("expected a leave of a member that has joined")
        start_ns = time.monotonic_ns()
        error: Exception | None = None
        try:
            self._member.consumer.shutdown()
        except Exception as raised:  # noqa: BLE001 - reported to the runner
            error = raised
        end_ns = time.monotonic_ns()
        self._member = None
        self._reports.end(self._incarnation)
        self._speak(Left(self._incarnation, start_ns, end_ns, _named(error)[0]))

    def _warm_up(self, setup: MemberSetup) -> None:
        """Consume the warm topic by a member of the warm group, which opens connections of its own, or of another one."""
        received = []
        for suffix, within_s in zip(("", "-again"), _WARM_S, strict=True):
            received.append(self._warmed(replace(setup, warm_group=setup.warm_group + suffix), within_s))
            if received[-1] == _WARM_MESSAGES:
                return
        expected = f"{_WARM_MESSAGES} messages of {setup.warm_topic} within {_WARM_S} s"
        raise ValueError(f"expected {expected}, saw {received}")

    def _warmed(self, setup: MemberSetup, within_s: float) -> int:
        """Return how many of the warm messages came."""
        received = threading.Semaphore(0)

        def count(record: object) -> None:
            for _ in getattr(record, "messages", ()):
                received.release()

        warm = replace(
            setup,
            topic=setup.warm_topic,
            group=setup.warm_group,
            instance=f"{setup.instance}-warm",
            settings={"consume_from_where": "first"},
            listener=ListenerKind.CONCURRENT,
            model=MessageModel.CLUSTERING,
        )
        member = ReferenceMember(self._release, warm, (), 1, Reports(count), MessageReader(warm))
        member.consumer.start()
        try:
            deadline = time.monotonic() + within_s
            for number in range(_WARM_MESSAGES):
                if not received.acquire(timeout=max(0.0, deadline - time.monotonic())):
                    return number
            return _WARM_MESSAGES
        finally:
            member.consumer.shutdown()


def _named(error: Exception | None) -> tuple[str | None, str | None]:
    return (None, None) if error is None else (type(error).__name__, str(error)[:_SHOWN_CHARACTERS])
