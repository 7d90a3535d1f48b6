"""The reference's rounds and pulls in a script: one member of a group whose brokers answer at once."""

from contextlib import suppress
from typing import Any

from rocketdiff.simulation.script.model import Script, Step
from rocketdiff.simulation.script.steps.consuming import Consumed, Wake
from rocketdiff.simulation.virtual.assembly import RouteDefaults, VirtualClient
from rocketdiff.simulation.virtual.codec import NAME_SERVER, TOPIC
from rocketdiff.simulation.virtual.consuming.group import GroupCodec, GroupTransport
from rocketdiff.simulation.virtual.consuming.group_session import GroupSession
from rocketdiff.simulation.virtual.session import ScriptSession
from rocketdiff.simulation.virtual.tape import ScriptedTape
from rocketmq_reference.client.background import Background
from rocketmq_reference.client.background import Rounds as Times
from rocketmq_reference.client.consuming.committing import Committing
from rocketmq_reference.client.consuming.pulling import Pulling
from rocketmq_reference.client.consuming.rebalancing import Rebalancing
from rocketmq_reference.client.effects import Body
from rocketmq_reference.client.memory import ClientMemory
from rocketmq_reference.client.publishing import known_routes
from rocketmq_reference.client.routes import NameServers, Routes
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.remoting.consuming import EVERYTHING, Subscription
from rocketmq_reference.remoting.errors import IllegalStateException
from rocketmq_reference.rules.client.background import API_TIMEOUT_MS
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.allocation import STRATEGIES
from rocketmq_reference.rules.consumer.offsets import TopicQueue
from rocketmq_reference.rules.dialect import ConsumerDialect
from rocketmq_reference.rules.queue_choice.events import Observer

_OWN = "own"


class RebalanceSession(GroupSession):
    """A member whose client is not started: only its rounds and pulls run."""

    def __init__(
        self, session: ScriptSession, dialect: ConsumerDialect, script: Script, observer: Observer | None
    ) -> None:
        super().__init__(session, dialect, script, observer, _OWN)
        kernel, codec = session.kernel, GroupCodec()
        transport: Any = GroupTransport(kernel, session.servers, self._group)
        of_client = dialect_of(dialect.releases.first)
        shared = ClientMemory(of_client, known_routes(of_client))
        self._memory.subscriptions[TOPIC] = Subscription(TOPIC, EVERYTHING, 0)
        shared.roles.append(self._memory)
        shared.consumers.append(self._memory)
        name_servers = NameServers((NAME_SERVER,), kernel, transport, of_client.client.remoting, 0)
        self._routes = Routes(shared, kernel, transport, codec, name_servers, RouteDefaults())
        self._background = Background(shared, kernel, self._routes, transport, codec, Times(1, 1, API_TIMEOUT_MS))
        self._committing = Committing(self._memory, self._routes, transport, codec, lambda address: address)
        pulling = Pulling(self._memory, kernel, transport, codec, self._committing, _never)
        self._rebalancing = Rebalancing(
            self._memory,
            kernel,
            self._routes,
            transport,
            codec,
            self._committing,
            self._background,
            STRATEGIES["AVG"],
            ScriptedTape(script.seed),
            API_TIMEOUT_MS,
            pulling.begin,
        )

    @property
    def client(self) -> VirtualClient:
        return VirtualClient(self._routes)

    def look_up(self) -> Body:
        """Look up the route, greet its brokers, and begin the rounds."""
        with suppress(IllegalStateException):
            yield from self._routes.refresh(TOPIC)
        yield from self._background.beat_all()
        self._rebalancing.start()

    def do(self, head: str, step: Step) -> Body | None:
        match step:
            case Consumed(broker, queue, offset):
                self._committing.update(TopicQueue(TOPIC, Queue(broker, queue)), offset)
            case Wake():
                self._rebalancing.wake()
            case _:
                return super().do(head, step)
        return None


def _never(*_: object) -> Any:
    raise AssertionError("no pull of a script is answered")
