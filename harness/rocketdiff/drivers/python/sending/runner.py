"""The client as a producer: the planned sends, by threads of the application."""

from collections.abc import Callable
from functools import partial

from rocketdiff.core.records.session import Done
from rocketdiff.core.sends.plan import PlannedSend
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.drivers.python.sending.async_sends import AsyncSends
from rocketdiff.drivers.python.sending.client import Client, ClientFactory
from rocketdiff.drivers.python.sending.sender import Sender
from rocketdiff.drivers.python.session import RoleRunner, Speak
from rocketdiff.protocol.commands import Prepare
from rocketdiff.protocol.consuming import Order


def as_producer(make_client: ClientFactory) -> dict[ClientRole, Callable[[Speak], RoleRunner]]:
    """Return the roles of a driver that only sends, with the client that this makes."""
    return {ClientRole.PRODUCER: partial(SendingRunner, make_client)}


class SendingRunner:
    """A RoleRunner: makes the client, has it prepared, and lets each thread of the plan send its share."""

    working = "sends"
    awaits_go = True

    def __init__(self, make_client: ClientFactory, speak: Speak) -> None:
        self._make_client = make_client
        self._speak = speak
        self._plan: list[PlannedSend] = []
        self._prepare: Prepare | None = None
        self._client: Client | None = None

    def plan(self, line: PlannedSend) -> None:
        self._plan.append(line)

    def prepare(self, prepare: Prepare) -> None:
        self._prepare = prepare
        self._client = self._make_client(prepare.setup, self._speak)
        self._client.prepare()

    def order(self, order: Order) -> None:
        raise ValueError(f"expected a producer's commands, saw {order}")

    def run(self, start_ns: int) -> Done:
        """Send all; return when every send has ended, its callback included."""
        assert self._client is not None, "run comes after prepare"
        assert self._prepare is not None, "run comes after prepare"
        client, prepare = self._client, self._prepare
        under_way = AsyncSends(self._speak, prepare.setup.callback_limit_ms / 1_000, client.gave_up)
        senders = []
        for number in range(prepare.threads):
            own = [send for send in self._plan if send.thread == number]
            senders.append(Sender(number, own, start_ns, client, self._speak, under_way))
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        under_way.await_all()
        return Done(len(self._plan))

    def shutdown(self) -> None:
        if self._client is not None:
            self._client.shutdown()
