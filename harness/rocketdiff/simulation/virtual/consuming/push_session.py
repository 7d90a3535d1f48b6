"""The reference's push consumer in a script, started and left as an application does, on scripted brokers."""

from collections.abc import Sequence
from typing import Any

from rocketdiff.simulation.script.model import Script, Step
from rocketdiff.simulation.script.steps.subscribing import Join, Leave, ListenerRule, LockHolder, Refuse, Store
from rocketdiff.simulation.virtual.assembly import RemotingParts, RouteDefaults, VirtualClient
from rocketdiff.simulation.virtual.codec import NAME_SERVER, TOPIC
from rocketdiff.simulation.virtual.consuming.allocation_session import exception_text
from rocketdiff.simulation.virtual.consuming.brokers import OWN_ID, GroupBrokers
from rocketdiff.simulation.virtual.consuming.group import GroupCodec
from rocketdiff.simulation.virtual.consuming.group_session import GroupSession
from rocketdiff.simulation.virtual.network import VirtualNetwork
from rocketdiff.simulation.virtual.session import ScriptSession
from rocketdiff.simulation.virtual.tape import ScriptedTape
from rocketmq_reference.client.background import Background, Task
from rocketmq_reference.client.background import Rounds as Times
from rocketmq_reference.client.codec import FAILURES
from rocketmq_reference.client.consuming.committing import Committing
from rocketmq_reference.client.consuming.concurrent import Concurrent
from rocketmq_reference.client.consuming.locking import Locking
from rocketmq_reference.client.consuming.orderly import Orderly
from rocketmq_reference.client.consuming.pulling import Pulling
from rocketmq_reference.client.consuming.rebalancing import Rebalancing
from rocketmq_reference.client.effects import Body, Running
from rocketmq_reference.client.memory import ClientMemory
from rocketmq_reference.client.publishing import known_routes
from rocketmq_reference.client.remoting import Remoting
from rocketmq_reference.client.routes import NameServers, Routes
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.remoting.codes import ResponseCode
from rocketmq_reference.remoting.consuming import EVERYTHING, Subscription
from rocketmq_reference.remoting.errors import MQClientException
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.rules.client.background import API_TIMEOUT_MS
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.allocation import STRATEGIES
from rocketmq_reference.rules.consumer.concurrent import ConsumeContext, ConsumeStatus
from rocketmq_reference.rules.consumer.offsets import RETRY_PREFIX, TopicQueue
from rocketmq_reference.rules.consumer.orderly import OrderlyContext, OrderlyStatus
from rocketmq_reference.rules.dialect import ConsumerDialect
from rocketmq_reference.rules.queue_choice.events import Observer

_INNER_GROUP = "CLIENT_INNER_PRODUCER"
_UNKNOWN_TOPIC = "unknown"
_PERIOD_MS = 30_000
"""Of route polls and of heartbeats."""

_FIRST_COMMIT_MS, _COMMIT_MS = 10_000, 5_000


class PushSession(GroupSession):
    """A member that does not exist before its step."""

    def __init__(
        self, session: ScriptSession, dialect: ConsumerDialect, script: Script, observer: Observer | None
    ) -> None:
        super().__init__(session, dialect, script, observer, OWN_ID)
        kernel, codec = session.kernel, GroupCodec()
        self._brokers = GroupBrokers(kernel, session.servers, self._group)
        of_client = dialect_of(dialect.releases.first)
        network = VirtualNetwork(kernel, session.servers, self._brokers)
        remoting: Any = Remoting(kernel, of_client.client.remoting, network)
        network.client = remoting
        shared = ClientMemory(of_client, known_routes(of_client, None))
        shared.roles.append(self._memory)
        shared.consumers.append(self._memory)
        shared.producer_groups.append(_INNER_GROUP)
        name_servers = NameServers((NAME_SERVER,), kernel, remoting, of_client.client.remoting, 0)
        routes = Routes(shared, kernel, remoting, codec, name_servers, RouteDefaults())
        times = Times(_PERIOD_MS, _PERIOD_MS, API_TIMEOUT_MS)
        self._background = Background(shared, kernel, routes, remoting, codec, times)
        self._committing = Committing(self._memory, routes, remoting, codec, lambda address: address)
        self._in_order: Orderly | None = None
        consuming = self._consuming(session, remoting, codec)
        self._pulling = Pulling(self._memory, kernel, remoting, codec, self._committing, consuming.deliver)
        self._rebalancing = Rebalancing(
            self._memory,
            kernel,
            routes,
            remoting,
            codec,
            self._committing,
            self._background,
            STRATEGIES["AVG"],
            ScriptedTape(script.seed),
            API_TIMEOUT_MS,
            self._pulling.begin,
            self._in_order,
        )
        self._pulling.on_moved = self._rebalancing.begin_anew
        self._background.on_greeted = self._rebalancing.wake
        self._background.tasks.append(Task(_FIRST_COMMIT_MS, _COMMIT_MS, lambda _own: self._committing.commit_all()))
        self._routes, self._network = routes, network
        self._client = VirtualClient(routes, RemotingParts(network, self._background))
        self._listener: tuple[ListenerRule, ...] = ()

    def _consuming(self, session: ScriptSession, remoting: Any, codec: GroupCodec) -> Concurrent | Orderly:
        if not self._memory.is_orderly:
            return Concurrent(self._memory, session.kernel, remoting, codec, self._committing, self._listen, _no_route)
        locking = Locking(self._memory, session.kernel, remoting, codec, self._committing)
        self._in_order = Orderly(
            self._memory, session.kernel, self._committing, locking, self._listen_in_order, _no_route
        )
        return self._in_order

    @property
    def client(self) -> VirtualClient:
        return self._client

    def do(self, head: str, step: Step) -> Body | None:
        match step:
            case Store(broker, queue, count, size):
                self._brokers.store(broker, queue, count, size)
            case Refuse(broker, asked, code):
                self._brokers.refuse(broker, asked, None if code is None else ResponseCode[code])
            case LockHolder(broker, queue, other):
                self._brokers.set_lock_holder(Queue(broker, queue), is_other=other)
            case Join():
                return self._join(head, step)
            case Leave():
                return self._leave(head)
            case _:
                return super().do(head, step)
        return None

    def _join(self, head: str, step: Join) -> Body:
        self._listener = step.rules
        unknown = (_UNKNOWN_TOPIC,) if step.unknown_topic else ()
        for topic in (TOPIC, *unknown, RETRY_PREFIX + self._memory.group):
            self._memory.subscriptions[topic] = Subscription(topic, EVERYTHING, 0)
            self._routes.known.want(topic)
        if self._in_order is not None:
            self._in_order.start()
        self._background.start()
        self._rebalancing.start()
        answer = '{"started": true}'
        try:
            yield from self._rebalancing.join()
        except FAILURES as error:
            answer = exception_text(type(error).__name__)
        self.session.answer(head, f'"consumer": {answer}', self.state)

    def _leave(self, head: str) -> Body:
        self._rebalancing.stop()
        self._pulling.stop()
        if self._in_order is not None:
            yield from self._in_order.stop()
        yield from self._committing.commit_all()
        yield from self._background.unregister_client()
        self._network.shut_down()
        self._memory.drop_all()
        self.session.changed(head, "leave", self.state)

    def _listen(
        self, messages: Sequence[StoredMessage], of: TopicQueue, _context: ConsumeContext
    ) -> ConsumeStatus | None:
        return ConsumeStatus.RECONSUME_LATER if self._fails(messages, of) else ConsumeStatus.CONSUME_SUCCESS

    def _listen_in_order(
        self, messages: Sequence[StoredMessage], of: TopicQueue, _context: OrderlyContext
    ) -> OrderlyStatus | None:
        return OrderlyStatus.SUSPEND if self._fails(messages, of) else OrderlyStatus.SUCCESS

    def _fails(self, messages: Sequence[StoredMessage], of: TopicQueue) -> bool:
        (message,) = messages
        offset, times = message.queue_offset, message.reconsume_times
        text = f"deliver {of.queue.broker}/{of.queue.queue_id} {offset} times {times}"
        self._group.note(self.session.kernel.now_ms, text)
        return any(offset % rule.every == rule.offset and times < rule.tries for rule in self._listener)


def _no_route(_message: StoredMessage) -> Running[None]:
    """Fail: the name server of a script does not know the retry topic."""
    raise MQClientException("No route info of this topic")
    yield  # a coroutine without waits
