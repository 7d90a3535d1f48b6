"""
The live lite pull consumer: its life cycle; the rules make every decision.

Read in DefaultLitePullConsumer and DefaultLitePullConsumerImpl, 4.6.1 to 5.3.3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from rocketmq_reference.api.checks import check_group
from rocketmq_reference.api.consuming import (
    FrameConsumeCodec,
    begin_rounds,
    committing_of,
    instance_of,
    port_of,
    subscribe,
)
from rocketmq_reference.api.settings import ConsumerSettings
from rocketmq_reference.client.codec import FAILURES
from rocketmq_reference.client.consuming.calling import as_sent
from rocketmq_reference.client.consuming.committing import Committing
from rocketmq_reference.client.consuming.lite_pulling import PULL_THREADS, LitePulling
from rocketmq_reference.client.consuming.memory import ConsumerMemory, Observer
from rocketmq_reference.client.consuming.rebalancing import Rebalancing
from rocketmq_reference.client.effects import Body
from rocketmq_reference.client.publishing import known_routes
from rocketmq_reference.dialects import dialect_of, has_lite_pull, lite_pull_rules_of, shared_rules_of
from rocketmq_reference.host.access import OPEN, Access
from rocketmq_reference.host.assembly import LiveClient, live_client
from rocketmq_reference.remoting.consuming import EVERYTHING
from rocketmq_reference.remoting.errors import IllegalStateException, MQClientException
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.rules.consumer.offsets import TopicQueue, in_hash_order

BATCH_SIZE = 10
"""Default of its pull_batch_size, which is not that of a push consumer."""


@dataclass(frozen=True, slots=True)
class LiveLitePull:
    """A consumer's parts on its client; ``client.host.run`` runs the coroutines that they return."""

    client: LiveClient
    memory: ConsumerMemory
    committing: Committing
    rebalancing: Rebalancing
    pulling: LitePulling


class LitePullConsumer:
    """
    A consumer that behaves as the Java client of a release, and whose application polls.

    observer: sees allocations, offsets and owned queues. parts: for clients with a defect. Raises ValueError for a release without a
    dialect of this consumer.
    """

    def __init__(
        self,
        name_servers: Sequence[str],
        group: str,
        release: str,
        settings: ConsumerSettings | None = None,
        observer: Observer | None = None,
        *,
        access: Access = OPEN,
    ) -> None:
        self.group = group
        chosen = settings or ConsumerSettings(pull_batch_size=BATCH_SIZE)
        self.parts = _live_lite_pull(name_servers, group, release, chosen, observer, access)
        self._assigned: tuple[TopicQueue, ...] = ()
        self._is_started = False
        self._has_left = False

    @property
    def client_id(self) -> str:
        return self.parts.client.client_id

    def subscribe(self, topic: str, expression: str = EVERYTHING) -> None:
        """Consume a topic; expression: tags separated by ``||``. Before the start."""
        subscribe(self.parts.client, self.parts.memory, topic, expression)

    def assign(self, queues: Sequence[TopicQueue]) -> None:
        """
        Work on these queues, and on no others, from the start or from now on; the group's members do not share them.

        Raises ValueError without queues, IllegalStateException for a consumer that subscribes.
        """
        if not queues:
            raise ValueError("Message queues can not be null or empty.")
        if self.parts.memory.subscriptions:
            raise IllegalStateException("Subscribe and assign are mutually exclusive.")
        self._assigned = tuple(queues)
        if self._is_started:
            self.parts.client.host.post(lambda: self.parts.pulling.assign(queues))

    def start(self) -> Self:
        """
        Join the group: the first heartbeat, a second later, has the brokers ask for a round.

        Raises MQClientException for an illegal group or a second start, and IllegalStateException if no name server answers: up
        to 5.3.1 the consumer then lives on.
        """
        check_group(self.group)
        if self._is_started:
            raise MQClientException("The PullConsumer service state not OK, maybe started once")
        self._is_started = True
        client = self.parts.client
        client.host.post(client.background.start)
        client.host.post(self.parts.rebalancing.start)
        try:
            client.host.run(self._join())
        except FAILURES:
            if self.parts.memory.rules.leaves_after_failed_start:
                self.shutdown()
            raise
        return self

    def poll(self, timeout_ms: int | None = None) -> tuple[TopicQueue, Sequence[StoredMessage]] | None:
        """Return the next messages of one queue, which are then consumed; None if none come. timeout_ms: None for the setting."""
        parts = self.parts
        wait_ms = parts.memory.settings.poll_timeout_ms if timeout_ms is None else timeout_ms
        batch = parts.client.host.run(parts.pulling.poll(wait_ms))
        return None if batch is None else (batch.of, as_sent(batch.messages))

    def commit_sync(self) -> None:
        """Remember what polls have handed out, for the next time that offsets are sent; nothing is sent before it returns."""
        parts = self.parts
        parts.client.host.run(parts.pulling.commit())

    def seek(self, of: TopicQueue, offset: int) -> None:
        """Go on at an offset of a queue. Raises MQClientException for one outside it, or a queue that the member does not work on."""
        self.parts.client.host.run(self.parts.pulling.seek(of, offset))

    def seek_to_begin(self, of: TopicQueue) -> None:
        """Go on at the least offset of a queue that its broker has; raises as ``seek``."""
        self.parts.client.host.run(self.parts.pulling.seek_to_begin(of))

    def seek_to_end(self, of: TopicQueue) -> None:
        """Go on behind the last message of a queue; raises as ``seek``."""
        self.parts.client.host.run(self.parts.pulling.seek_to_end(of))

    def pause(self, of: TopicQueue, *, is_paused: bool = True) -> None:
        """Pull no more from a queue, or again; what waits for a poll is handed out."""
        self.parts.client.host.post(lambda: self.parts.pulling.pause(of, is_paused=is_paused))

    def shutdown(self) -> None:
        """Leave the group once: send what was committed, unregister, close all connections. What was polled since is consumed again."""
        if self._has_left:
            return
        self._has_left = True
        client = self.parts.client
        client.host.run(self.parts.committing.commit_all())
        client.host.post(self.parts.rebalancing.stop)
        client.host.post(self.parts.pulling.stop)
        client.shutdown(unregister_client=self._is_started)
        client.host.post(self.parts.memory.drop_all)

    def _join(self) -> Body:
        yield from self.parts.committing.load()
        for topic in self.parts.memory.subscriptions:
            yield from self.parts.client.routes.refresh(topic)
        if self._assigned:
            self.parts.pulling.assign(in_hash_order(self._assigned))


def _live_lite_pull(
    name_servers: Sequence[str],
    group: str,
    release: str,
    settings: ConsumerSettings,
    observer: Observer | None,
    access: Access,
) -> LiveLitePull:
    """Make a consumer on a client of its own, whose background tasks are not started yet."""
    if not has_lite_pull(release):
        raise ValueError(f"expected a release with a lite pull consumer, from 4.6.1 on, saw {release}")
    dialect, own = dialect_of(release), lite_pull_rules_of(release)
    sizes = {PULL_THREADS: settings.pull_thread_nums}
    client = live_client(
        name_servers,
        group,
        dialect,
        settings,
        known_routes(dialect, None),
        access,
        sizes=sizes,
        instance=instance_of(settings),
        is_stream=own.names_stream,
    )
    memory = ConsumerMemory(group, client.client_id, shared_rules_of(release), settings, observer, polls=True)
    codec = FrameConsumeCodec(memory, settings, release, access)
    committing = committing_of(client, memory, settings, codec, port_of(dialect))
    pulling = LitePulling(memory, own, client.host, client.remoting, codec, committing)
    rebalancing = begin_rounds(client, memory, settings, codec, committing, pulling.begin)
    rebalancing.on_changed = pulling.changed
    return LiveLitePull(client, memory, committing, rebalancing, pulling)
