"""Settings that the rules depend on, under the client's names in snake case and with its defaults."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SendSettings:
    """
    Defaults of DefaultMQProducer and ClientConfig in every release.

    send_msg_max_timeout_per_request_ms: −1 is off; from 5.3.3. start_detector_enable: from 5.1.4, there only as a system
    property. added_retry_response_codes: codes added by addRetryResponseCode; from 4.9.2. vip_channel_enabled: None is the
    release's default. A dialect ignores a setting that it does not know.
    """

    send_latency_fault_enable: bool = False
    send_msg_timeout_ms: int = 3_000
    retry_times_when_send_failed: int = 2
    retry_another_broker_when_not_store_ok: bool = False
    send_msg_max_timeout_per_request_ms: int = -1
    start_detector_enable: bool = False
    added_retry_response_codes: frozenset[int] = frozenset()
    retry_times_when_send_async_failed: int = 2
    vip_channel_enabled: bool | None = None
