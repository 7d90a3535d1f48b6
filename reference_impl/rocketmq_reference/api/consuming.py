"""Live consumers on a live client: their rounds, their requests as frames, and the producer that sends failed messages again."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from rocketmq_reference.api.sending import FrameSendCodec, HeardAttempts
from rocketmq_reference.api.settings import ConsumerSettings, ProducerSettings
from rocketmq_reference.client.background import Background
from rocketmq_reference.client.consuming.calling import CONSUME
from rocketmq_reference.client.consuming.committing import Committing
from rocketmq_reference.client.consuming.concurrent import Concurrent, Listen
from rocketmq_reference.client.consuming.local_offsets import LocalOffsets
from rocketmq_reference.client.consuming.locking import Locking
from rocketmq_reference.client.consuming.memory import ConsumerMemory, Observer
from rocketmq_reference.client.consuming.orderly import ListenInOrder, Orderly
from rocketmq_reference.client.consuming.pulling import Pulling
from rocketmq_reference.client.consuming.rebalancing import Rebalancing
from rocketmq_reference.client.consuming.resending import INNER_GROUP, Resending
from rocketmq_reference.client.consuming.resetting import Resetting
from rocketmq_reference.client.effects import Running
from rocketmq_reference.client.memory import ProducerMemory, Thread
from rocketmq_reference.client.publishing import PublishLists, known_routes
from rocketmq_reference.client.sending import Sender
from rocketmq_reference.dialects import consumer_rules_of, dialect_of
from rocketmq_reference.host.access import OPEN, Access
from rocketmq_reference.host.assembly import LiveClient, live_client
from rocketmq_reference.host.channels import Question, question_of
from rocketmq_reference.host.codec import vip_address
from rocketmq_reference.host.offset_file import OffsetFile
from rocketmq_reference.remoting import consuming, requests
from rocketmq_reference.remoting.answers import PullAnswer, expect_success, parse_offset, parse_pull
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.consuming import Subscription
from rocketmq_reference.remoting.frames import Command
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.remoting.versions import mq_version
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.allocation import STRATEGIES
from rocketmq_reference.rules.consumer.offsets import TopicQueue
from rocketmq_reference.rules.consumer.process_queue import ProcessQueue
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.tape import RandomTape

_NS_PER_MS = 1_000_000
_INNER_GROUP = "CLIENT_INNER_PRODUCER"
_FIRST_COMMIT_MS = 10_000


@dataclass(frozen=True, slots=True)
class LiveConsumer:
    """A consumer's parts on its client; ``client.host.run`` runs the coroutines that they return. in_order, concurrent: one of them."""

    client: LiveClient
    memory: ConsumerMemory
    committing: Committing
    rebalancing: Rebalancing
    pulling: Pulling
    in_order: Orderly | None = None
    concurrent: Concurrent | None = None


def live_consumer(
    name_servers: Sequence[str],
    group: str,
    release: str,
    settings: ConsumerSettings,
    listen: Listen | ListenInOrder,
    observer: Observer | None,
    access: Access = OPEN,
    *,
    is_orderly: bool = False,
) -> LiveConsumer:
    """Make a consumer on a client of its own, whose background tasks are not started yet. is_orderly: what the listener is."""
    dialect, rules = dialect_of(release), consumer_rules_of(release)
    known = known_routes(dialect, None)
    sizes, instance = {CONSUME: settings.consume_thread_nums}, instance_of(settings)
    client = live_client(name_servers, group, dialect, settings, known, access, sizes=sizes, instance=instance)
    host, remoting = client.host, client.remoting
    memory = ConsumerMemory(group, client.client_id, rules, settings, observer, is_orderly=is_orderly)
    codec = FrameConsumeCodec(memory, settings, release, access)
    committing = committing_of(client, memory, settings, codec, port_of(dialect))
    resending = _resending(client, dialect, memory, settings, access)
    consuming = _calls(client, memory, codec, committing, listen, resending)
    pulling = Pulling(memory, host, remoting, codec, committing, consuming.deliver)
    in_order = consuming if isinstance(consuming, Orderly) else None
    rebalancing = begin_rounds(client, memory, settings, codec, committing, pulling.begin, in_order)
    pulling.on_moved = rebalancing.begin_anew
    turn = client.background.monitor
    _serve_resets(client, Resetting(memory, client.memory, host, committing, rebalancing, in_order, turn))
    concurrent = consuming if isinstance(consuming, Concurrent) else None
    return LiveConsumer(client, memory, committing, rebalancing, pulling, in_order, concurrent)


def _calls(
    client: LiveClient,
    memory: ConsumerMemory,
    codec: "FrameConsumeCodec",
    committing: Committing,
    listen: Listen | ListenInOrder,
    resending: Resending,
) -> Concurrent | Orderly:
    """Return what calls the listener."""
    host, remoting = client.host, client.remoting
    if memory.is_orderly:
        locking = Locking(memory, host, remoting, codec, committing)
        return Orderly(
            memory, host, client.background, committing, locking, cast("ListenInOrder", listen), resending.resend
        )
    return Concurrent(memory, host, remoting, codec, committing, cast("Listen", listen), resending.resend)


def instance_of(settings: ConsumerSettings) -> str | None:
    """Return the instance name of a client: a broadcasting one needs the same after a restart. None for one of its own."""
    return settings.instance_name or ("DEFAULT" if settings.is_broadcasting else None)


def subscribe(client: LiveClient, memory: ConsumerMemory, topic: str, expression: str) -> None:
    """Consume a topic from the next round on."""
    memory.subscriptions[topic] = Subscription(topic, expression, time.time_ns() // _NS_PER_MS)
    client.routes.known.want(topic)


def begin_rounds(
    client: LiveClient,
    memory: ConsumerMemory,
    settings: ConsumerSettings,
    codec: "FrameConsumeCodec",
    committing: Committing,
    begin: Callable[[TopicQueue, ProcessQueue[StoredMessage], int], None],
    in_order: Orderly | None = None,
) -> Rebalancing:
    """Return the rounds of a consumer, which its client now serves, and whose offsets it commits. begin: pulls from a queue taken."""
    background = client.background
    rebalancing = Rebalancing(
        memory,
        client.host,
        client.routes,
        client.remoting,
        codec,
        committing,
        background,
        settings.strategy or STRATEGIES[settings.allocation],
        RandomTape(),
        settings.mq_client_api_timeout_ms,
        begin,
        in_order,
    )
    client.memory.roles.append(memory)
    client.memory.consumers.append(memory)
    _serve_rounds(client, background, rebalancing)
    interval_ms = settings.persist_consumer_offset_interval_ms
    background.repeat_for(memory, _FIRST_COMMIT_MS, interval_ms, lambda _own: committing.commit_all())
    return rebalancing


def _serve_rounds(client: LiveClient, background: Background, rebalancing: Rebalancing) -> None:
    """Start a round when a broker reports other members, and when one has taken a heartbeat on a new connection."""

    def wake(_asked: Command, _thread: Thread) -> Running[Command | None]:
        rebalancing.wake()
        return None
        yield  # a coroutine without waits

    client.remoting.serve(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, wake)
    background.on_greeted = rebalancing.wake


def _serve_resets(client: LiveClient, resetting: Resetting) -> None:
    """Go on at other offsets when a broker asks for it; of a request that cannot be read nothing remains."""

    def reset(asked: Command, _thread: Thread) -> Running[Command | None]:
        group, offsets = consuming.parse_reset(asked)
        new = {TopicQueue(topic, Queue(broker, queue_id)): at for (topic, broker, queue_id), at in offsets.items()}
        yield from resetting.reset(group, new)
        return None

    client.remoting.serve(RequestCode.RESET_CONSUMER_CLIENT_OFFSET, reset, lasting=True)


def committing_of(
    client: LiveClient,
    memory: ConsumerMemory,
    settings: ConsumerSettings,
    codec: "FrameConsumeCodec",
    port: Callable[[str], str],
) -> Committing:
    """Return where a consumer keeps its offsets: at the brokers, or a broadcasting one in a file."""
    if not settings.is_broadcasting:
        return Committing(memory, client.routes, client.remoting, codec, port)
    file = OffsetFile(settings.local_offset_store_dir / client.client_id / memory.group / "offsets.json")
    return LocalOffsets(client.host, file, memory, client.routes, client.remoting, codec, port)


def port_of(dialect: Dialect) -> Callable[[str], str]:
    """Return which port of a broker a consumer of this release sends its requests to, but for pulls."""
    return vip_address if dialect.client.uses_vip_channel(None) else _advertised


def _advertised(address: str) -> str:
    return address


def _resending(
    client: LiveClient, dialect: Dialect, memory: ConsumerMemory, own: ConsumerSettings, access: Access
) -> Resending:
    settings = ProducerSettings(serialization=own.serialization)
    producer = ProducerMemory(dialect, settings, RandomTape)
    lists = PublishLists(producer, client.routes)
    codec = FrameSendCodec(dialect, settings, INNER_GROUP, access.credentials)
    sender = Sender(producer, client.host, lists, client.remoting, codec, HeardAttempts(None), vip_address)
    client.memory.roles.append(lists)
    client.memory.producer_groups.append(INNER_GROUP)
    return Resending(memory, sender)


class FrameConsumeCodec:
    """ConsumeCodec of one consumer; with credentials every request is signed."""

    def __init__(self, memory: ConsumerMemory, settings: ConsumerSettings, release: str, access: Access) -> None:
        self._memory = memory
        self._serialization = settings.serialization
        self._credentials = access.credentials
        self._version = mq_version(release)

    def consumer_ids(self) -> Question:
        return self._asked(consuming.list_consumer_ids(self._memory.group, serialization=self._serialization))

    def read_ids(self, answer: Command) -> list[str]:
        return consuming.parse_consumer_ids(answer)

    def query_offset(self, of: TopicQueue) -> Question:
        topic, (broker, queue_id) = of
        group, serialization = self._memory.group, self._serialization
        return self._asked(consuming.query_offset(group, topic, broker, queue_id, serialization=serialization))

    def read_committed(self, answer: Command) -> int | None:
        return consuming.parse_committed(answer)

    def max_offset(self, of: TopicQueue) -> Question:
        return self._asked(requests.get_max_offset(of.topic, of.queue.queue_id, serialization=self._serialization))

    def min_offset(self, of: TopicQueue) -> Question:
        return self._asked(requests.get_min_offset(of.topic, of.queue.queue_id, serialization=self._serialization))

    def read_offset(self, answer: Command) -> int:
        return parse_offset(answer)

    def update_offset(self, of: TopicQueue, offset: int) -> Question:
        topic, (broker, queue_id) = of
        group, serialization = self._memory.group, self._serialization
        command = consuming.update_offset(group, topic, broker, queue_id, offset, serialization=serialization)
        return self._asked(command)

    def pull(self, asked: consuming.Pull) -> Question:
        return self._asked(consuming.pull(asked, serialization=self._serialization))

    def read_pull(self, answer: Command) -> PullAnswer:
        return parse_pull(answer)

    def send_back(self, message: StoredMessage, broker: str | None, delay_level: int) -> Question:
        command = consuming.send_back(
            self._memory.group,
            message.physical_offset,
            delay_level,
            self._memory.settings.most_reconsume_times,
            topic=message.topic,
            message_id=message.offset_message_id,
            broker=broker,
            serialization=self._serialization,
        )
        return self._asked(command)

    def lock(self, queues: Iterable[TopicQueue]) -> Question:
        group, client_id = self._memory.group, self._memory.client_id
        command = consuming.lock_queues(group, client_id, map(_named, queues), serialization=self._serialization)
        return self._asked(command)

    def unlock(self, queues: Iterable[TopicQueue]) -> Question:
        group, client_id = self._memory.group, self._memory.client_id
        command = consuming.unlock_queues(group, client_id, map(_named, queues), serialization=self._serialization)
        return self._asked(command)

    def read_locked(self, answer: Command) -> set[TopicQueue]:
        return {
            TopicQueue(topic, Queue(broker, queue_id)) for topic, broker, queue_id in consuming.parse_locked(answer)
        }

    def expect_success(self, answer: Command) -> Command:
        return expect_success(answer)

    def _asked(self, command: Command) -> Question:
        # Brokers obey the limit of retries in a request only from clients of a version that has one.
        return question_of(replace(command, version=self._version), self._credentials)


def _named(of: TopicQueue) -> consuming.LockedQueue:
    return of.topic, *of.queue
