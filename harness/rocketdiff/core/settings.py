"""Client settings of a scenario, under the client's own names in snake case; units in the name."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Defaults are those of DefaultMQProducer and ClientConfig in every release."""

    send_latency_fault_enable: bool = False
    send_msg_timeout_ms: int = 3_000
    retry_times_when_send_failed: int = 2
    retry_another_broker_when_not_store_ok: bool = False
    compress_msg_body_over_howmuch: int = 4_096
    poll_name_server_interval_ms: int = 30_000
    heartbeat_broker_interval_ms: int = 30_000
    send_msg_max_timeout_per_request_ms: int = -1
    retry_times_when_send_async_failed: int = 2
