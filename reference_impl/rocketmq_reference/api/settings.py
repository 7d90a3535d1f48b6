"""Settings of producers and consumers, under the client's names in snake case and with its defaults."""

from dataclasses import dataclass, field
from pathlib import Path

from rocketmq_reference.remoting.frames import Serialization
from rocketmq_reference.rules.consumer.allocation import Strategy
from rocketmq_reference.rules.consumer.settings import ConsumeSettings
from rocketmq_reference.rules.producer.settings import SendSettings


@dataclass(frozen=True, slots=True)
class ProducerSettings(SendSettings):
    """
    Defaults of DefaultMQProducer and ClientConfig in every release, times in milliseconds, sizes in bytes.

    create_topic_key: None for the release's own. A body of compress_msg_body_over_howmuch bytes or more is compressed. The
    first route poll and heartbeat come 10 ms and 1 s after the start, then at their intervals. serialization: encoding of
    request headers (``rocketmq.serialize.type``). unregister_on_shutdown: unregister from every broker as Java does; a paused
    broker then delays the shutdown by mq_client_api_timeout_ms.
    """

    compress_msg_body_over_howmuch: int = 4_096
    compress_level: int = 5
    max_message_size: int = 4 * 1024 * 1024
    default_topic_queue_nums: int = 4
    create_topic_key: str | None = None
    poll_name_server_interval_ms: int = 30_000
    heartbeat_broker_interval_ms: int = 30_000
    first_poll_ms: int = 10
    first_heartbeat_ms: int = 1_000
    mq_client_api_timeout_ms: int = 3_000
    serialization: Serialization = Serialization.JSON
    unregister_on_shutdown: bool = True


@dataclass(frozen=True, slots=True)
class ConsumerSettings(ConsumeSettings):
    """
    Defaults of DefaultMQPushConsumer and ClientConfig, times in milliseconds.

    allocation: name of a strategy; strategy: one that ``STRATEGIES`` has not. instance_name: None for one that no other client
    has, but DEFAULT for one that broadcasts. local_offset_store_dir: of the offsets of those (a system property there).
    """

    allocation: str = "AVG"
    strategy: Strategy | None = None
    local_offset_store_dir: Path = field(default_factory=lambda: Path.home() / ".rocketmq_offsets")
    instance_name: str | None = None
    default_topic_queue_nums: int = 4
    poll_name_server_interval_ms: int = 30_000
    heartbeat_broker_interval_ms: int = 30_000
    first_poll_ms: int = 10
    first_heartbeat_ms: int = 1_000
    mq_client_api_timeout_ms: int = 3_000
    serialization: Serialization = Serialization.JSON
