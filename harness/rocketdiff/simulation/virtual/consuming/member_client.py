"""The client of a member that a script's step starts: connections, routes, and timers that are not started yet."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from rocketdiff.simulation.script.model import Step
from rocketdiff.simulation.script.steps.subscribing import (
    HookFails,
    LockHolder,
    Notify,
    Refuse,
    ResetOffset,
    RetryTopic,
    Store,
    Suggest,
)
from rocketdiff.simulation.virtual.assembly import RemotingParts, RouteDefaults, VirtualClient
from rocketdiff.simulation.virtual.codec import NAME_SERVER, TOPIC
from rocketdiff.simulation.virtual.consuming.brokers import GroupBrokers
from rocketdiff.simulation.virtual.consuming.group import GroupCodec, Question
from rocketdiff.simulation.virtual.kernel import Kernel
from rocketdiff.simulation.virtual.network import VirtualNetwork
from rocketdiff.simulation.virtual.servers import Servers
from rocketdiff.simulation.virtual.session import ScriptSession
from rocketmq_reference.client.background import Background
from rocketmq_reference.client.background import Rounds as Times
from rocketmq_reference.client.codec import OnEnd
from rocketmq_reference.client.consuming.committing import Committing
from rocketmq_reference.client.consuming.local_offsets import LocalOffsets
from rocketmq_reference.client.consuming.memory import ConsumerMemory
from rocketmq_reference.client.effects import Body, Host, Running
from rocketmq_reference.client.memory import ClientMemory, Thread
from rocketmq_reference.client.publishing import known_routes
from rocketmq_reference.client.remoting import Remoting
from rocketmq_reference.client.routes import NameServers, Routes
from rocketmq_reference.remoting.codes import RequestCode, ResponseCode
from rocketmq_reference.remoting.errors import Error
from rocketmq_reference.rules.client.background import API_TIMEOUT_MS
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.client.remoting_rules import RemotingRules
from rocketmq_reference.rules.consumer.offsets import TopicQueue
from rocketmq_reference.rules.dialect import Dialect

_INNER_GROUP = "CLIENT_INNER_PRODUCER"
_PERIOD_MS = 30_000
"""Of route polls and of heartbeats."""

FIRST_COMMIT_MS, COMMIT_MS = 10_000, 5_000
"""When offsets are committed."""


class OffsetFile:
    """A file of offsets that only its script has."""

    def __init__(self) -> None:
        self._text = ""

    def read(self) -> str:
        return self._text

    def read_backup(self) -> str:
        return ""

    def write(self, text: str) -> None:
        self._text = text


class _Hooked(Remoting[Question, Any]):
    """A remoting client with a hook of the application, which may throw an error before a request."""

    def __init__(self, host: Host, rules: RemotingRules, network: VirtualNetwork, brokers: GroupBrokers) -> None:
        super().__init__(host, rules, network)
        self._brokers = brokers

    def invoke(
        self, address: str, timeout_ms: int, question: Question, is_interrupted: Callable[[], bool] | None = None
    ) -> Running[Any]:
        if self._fails(question):
            raise Error
        return super().invoke(address, timeout_ms, question, is_interrupted)

    def invoke_async(
        self, address: str, timeout_ms: int, question: Question, on_end: OnEnd, thread: Thread, *, is_retry: bool
    ) -> Body:
        if self._fails(question):
            if self._rules.connects_in_background:  # the future of the connect swallows it
                return
            raise Error
        yield from super().invoke_async(address, timeout_ms, question, on_end, thread, is_retry=is_retry)

    def _fails(self, question: Question) -> bool:
        if self._brokers.fails_hook != question.kind:
            return False
        self._brokers.fails_hook = None
        return True


@dataclass(frozen=True, slots=True)
class MemberClient:
    """Its parts; network and remoting know each other."""

    shared: ClientMemory
    network: VirtualNetwork
    remoting: Any
    codec: GroupCodec
    routes: Routes
    background: Background

    def seen(self) -> VirtualClient:
        """Return what every role has of it."""
        return VirtualClient(self.routes, RemotingParts(self.network, self.background))

    def offsets(self, host: Host, memory: ConsumerMemory, file: OffsetFile) -> Committing:
        """Return where the member keeps its offsets: at the brokers, or a broadcasting one in a file."""
        common = (memory, self.routes, self.remoting, self.codec, lambda address: address)
        return LocalOffsets(host, file, *common) if memory.settings.is_broadcasting else Committing(*common)

    def shut_down(self, kernel: Kernel, memory: ConsumerMemory) -> Body:
        """Close all connections, give all queues up, and end when a thread that waited for an answer has had its turn: it may connect once more."""
        self.remoting.close_all()
        memory.drop_all()
        self.remoting.on_active = None  # the thread that would send a heartbeat has ended
        yield from kernel.settle()
        self.network.shut_down()

    def did(self, brokers: GroupBrokers, servers: Servers, step: Step) -> bool:
        """Do a step of the brokers; False for another one."""
        match step:
            case Store():
                brokers.store(step)
            case HookFails():
                brokers.fails_hook = step.asked
            case RetryTopic():
                brokers.know_retry_topic()
            case Notify(broker):
                notified = partial(self.network.request, broker, RequestCode.NOTIFY_CONSUMER_IDS_CHANGED)
                servers.broker(broker).when_awake(notified)
            case ResetOffset(broker, queues, offset):
                asked = {TopicQueue(TOPIC, Queue(broker, queue)): offset for queue in queues}
                code = RequestCode.RESET_CONSUMER_CLIENT_OFFSET
                servers.broker(broker).when_awake(partial(self.network.request, broker, code, asked))
            case Refuse(broker, asked, code):
                brokers.refuse(broker, asked, None if code is None else ResponseCode[code])
            case Suggest(broker, member):
                brokers.suggest(broker, member)
            case LockHolder(broker, queue, other):
                brokers.set_lock_holder(Queue(broker, queue), is_other=other)
            case _:
                return False
        return True


def member_client(
    session: ScriptSession, dialect: Dialect, memory: ConsumerMemory, brokers: GroupBrokers
) -> MemberClient:
    """Make the client of a member whose brokers these are."""
    kernel, codec, rules = session.kernel, GroupCodec(), dialect.client.remoting
    network = VirtualNetwork(kernel, session.servers, brokers)
    # A lite pull consumer has no hook.
    remoting: Any = Remoting(kernel, rules, network) if memory.polls else _Hooked(kernel, rules, network, brokers)
    network.client = remoting
    shared = ClientMemory(dialect, known_routes(dialect, None))
    shared.roles.append(memory)
    shared.consumers.append(memory)
    shared.producer_groups.append(_INNER_GROUP)
    routes = Routes(
        shared, kernel, remoting, codec, NameServers((NAME_SERVER,), kernel, remoting, rules, 0), RouteDefaults()
    )
    times = Times(_PERIOD_MS, _PERIOD_MS, API_TIMEOUT_MS)
    return MemberClient(
        shared, network, remoting, codec, routes, Background(shared, kernel, routes, remoting, codec, times)
    )
