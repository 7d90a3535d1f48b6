"""
Client settings under the client's own names in snake case, with units in the name.

The scenario format, a script's settings and the scenario guide are generated from it or tested against it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TypeVar

Value = TypeVar("Value", bool, int)


class Unit(StrEnum):
    """Unit or type of a setting's value."""

    FLAG = "true or false"
    MS = "milliseconds"
    MS_OR_OFF = "milliseconds; -1 is off"
    PERIOD_MS = "milliseconds from one to the next"
    TIMES = "times"
    BYTES = "bytes"
    COUNT = "a number"


@dataclass(frozen=True, slots=True)
class Setting:
    """
    Traits of one setting.

    setter: of DefaultMQProducer or its ClientConfig.
    least, most: limits in a scenario; a client accepts more.
    since: first release with it; empty for all releases.
    """

    setter: str
    unit: Unit = Unit.FLAG
    least: int = 0
    most: int = 1
    since: str = ""


_LONGEST_MS = 600_000
"""Longest workload."""

_LONGEST_PERIOD_MS = 3_600_000
"""Longer than any case, so it happens once, at client start."""

_SHORTEST_PERIOD_MS = 10
"""With a shorter period a client does little else."""


def _setting(default: Value, setting: Setting) -> Value:
    value: Value = field(default=default, metadata={"setting": setting})
    return value


REQUEST_SCAN_S = 3.0
"""
How late Java may find an asynchronous request timed out: 1 s of grace, 1 s between scans, and 1 s before the first scan after
the start (NettyRemotingAbstract.scanResponseTable, all releases).
"""

LEARNT_LATE_S = 1.0
"""
How late a poll of the route may learn a broker's new address: a request takes milliseconds, and a busy machine delays its
thread.
"""


BROKERS_TAKE_BYTES = 4_194_304
"""Default of maxMessageSize in clients and brokers. A larger body must be compressed to less."""

LARGEST_BODY_BYTES = 8_388_608
"""A client's heap of 256 MiB holds a few of them, compressed and not."""


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Defaults are those of DefaultMQProducer and ClientConfig in every release."""

    send_latency_fault_enable: bool = _setting(default=False, setting=Setting("setSendLatencyFaultEnable"))
    send_msg_timeout_ms: int = _setting(3_000, Setting("setSendMsgTimeout", Unit.MS, 1, _LONGEST_MS))
    retry_times_when_send_failed: int = _setting(2, Setting("setRetryTimesWhenSendFailed", Unit.TIMES, 0, 100))
    retry_times_when_send_async_failed: int = _setting(
        2, Setting("setRetryTimesWhenSendAsyncFailed", Unit.TIMES, 0, 100)
    )
    retry_another_broker_when_not_store_ok: bool = _setting(
        default=False, setting=Setting("setRetryAnotherBrokerWhenNotStoreOK")
    )
    compress_msg_body_over_howmuch: int = _setting(
        4_096, Setting("setCompressMsgBodyOverHowmuch", Unit.BYTES, 0, BROKERS_TAKE_BYTES)
    )
    poll_name_server_interval_ms: int = _setting(
        30_000, Setting("setPollNameServerInterval", Unit.PERIOD_MS, _SHORTEST_PERIOD_MS, _LONGEST_PERIOD_MS)
    )
    heartbeat_broker_interval_ms: int = _setting(
        30_000, Setting("setHeartbeatBrokerInterval", Unit.PERIOD_MS, _SHORTEST_PERIOD_MS, _LONGEST_PERIOD_MS)
    )
    send_msg_max_timeout_per_request_ms: int = _setting(
        -1, Setting("setSendMsgMaxTimeoutPerRequest", Unit.MS_OR_OFF, -1, _LONGEST_MS, since="5.3.3")
    )
    max_message_size: int = _setting(
        BROKERS_TAKE_BYTES, Setting("setMaxMessageSize", Unit.BYTES, 1, LARGEST_BODY_BYTES)
    )


CLIENT_SETTINGS: Mapping[str, Setting] = {each.name: each.metadata["setting"] for each in fields(ClientSettings)}
