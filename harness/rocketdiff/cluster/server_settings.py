"""
Settings files of name servers and brokers: differences from RocketMQ's defaults, each with its reason.

Settings that clients can notice keep their defaults, except what a topology defines: topics are created on first send (TBW102),
fast failure answers late requests with SYSTEM_BUSY, brokers register every 30 s and expire after 120 s, and the cluster is
DefaultCluster. A release ignores settings that it does not know, so one file fits all releases.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from rocketdiff.cluster.interface import LOOPBACK
from rocketdiff.core.tables.topology import MASTER_ID, FlushDisk, Replication, Topology, broker_id_of, master_of

_MIB = 1024 * 1024

SLAVE_TIMEOUT_MS = 500
"""
How long a SYNC_MASTER waits for its slave; 4.9.7 checks only once a second.

The default is 3 s, the same as a producer's default timeout, so which of the two ends first would be chance.
"""


def name_server_settings(port: int, folder: Path) -> str:
    """Settings of a name server; its own files are in ``folder``."""
    return properties_text(
        {
            "listenPort": port,
            "bindAddress": LOOPBACK,
            "kvConfigPath": folder / "kvConfig.json",  # default: the user's home
        }
    )


def broker_settings(
    topology: Topology,
    name: str,
    port: int,
    name_servers: Sequence[str],
    store: Path,
    more: Mapping[str, object] = MappingProxyType({}),
) -> str:
    """Settings of the topology's master or slave ``name``, with its data in ``store``. more: additional settings."""
    return properties_text(
        {
            **role_settings(topology, name),
            "namesrvAddr": ";".join(name_servers),
            "listenPort": port,
            # Default: the address of a network interface. Clients connect to brokerIP1, slaves to brokerIP2.
            "brokerIP1": LOOPBACK,
            "brokerIP2": LOOPBACK,
            "bindAddress": LOOPBACK,
            "storePathRootDir": store,
            "storePathCommitLog": store / "commitlog",
            **_SMALL_FILES,
            **_QUIET,
            **_READING,
            **more,
        }
    )


def proxy_settings(name: str, grpc_port: int, name_servers: Sequence[str], *, is_local: bool) -> str:
    """Settings of a proxy. is_local: mode LOCAL, in its broker's process."""
    settings = {
        "proxyName": name,
        "rocketMQClusterName": "DefaultCluster",
        "namesrvAddr": ";".join(name_servers),
        "grpcServerPort": grpc_port,
        "localServeAddr": LOOPBACK,
        "proxyMode": "LOCAL" if is_local else "CLUSTER",
        # By default routes name the proxy's own port: clients would bypass a relay, and two proxies on one host would be
        # indistinguishable. Mode LOCAL ignores this setting; proxy_java's SameAddress replaces it there.
        "useEndpointPortFromRequest": True,
        # By default a message with a message group is refused unless its topic was created as FIFO.
        "enableTopicMessageTypeCheck": False,
        # Default: log the stacks of all threads every minute.
        "enablePrintJstack": False,
    }
    return json.dumps(settings, indent=2) + "\n"


def role_settings(topology: Topology, name: str) -> dict[str, object]:
    """Name, role, replication and flush settings of a broker; the same for every backend."""
    broker_id = broker_id_of(name)
    settings: dict[str, object] = {"brokerName": master_of(name), "brokerId": broker_id}
    if topology.has_slaves:
        # Default: false. A slave from 5.0.0 on then refuses every pull, so that no consumer reads on when its master is dead
        # (PullMessageProcessor). Producers do not notice it.
        settings["slaveReadEnable"] = True
    if broker_id != MASTER_ID:
        return settings | {"brokerRole": "SLAVE"}
    if topology.replication is Replication.SYNC_MASTER:
        settings |= _DOUBLE_WRITE
    if topology.flush is FlushDisk.SYNC_FLUSH:
        settings["flushDiskType"] = "SYNC_FLUSH"
    return settings


_DOUBLE_WRITE: dict[str, object] = {
    "brokerRole": "SYNC_MASTER",
    # Since 5.0.0 a SYNC_MASTER waits for this number of copies, its own included; the default of 1 waits for no slave
    # (CommitLog.handleHA). 4.x has no such setting and always waits for one slave.
    "inSyncReplicas": 2,
    "slaveTimeout": SLAVE_TIMEOUT_MS,
}

_SMALL_FILES: dict[str, object] = {
    # Default: 1 GiB, two files at once. 16 MiB still holds several messages of the largest size (4 MiB).
    "mappedFileSizeCommitLog": 16 * _MIB,
    # Default: 6 MB per queue. This file holds 50,000 messages at 20 bytes per entry.
    "mappedFileSizeConsumeQueue": 50_000 * 20,
    # The key index takes 420 MB by default.
    "maxHashSlotNum": 50_000,
    "maxIndexNum": 200_000,
}

_QUIET: dict[str, object] = {
    # Delayed messages at a precise time: 100 MB of files and three threads that no producer test uses.
    "timerWheelEnable": "false",
    # TransactionMetricsFlushService spins on one core for this interval after the start (default 3 s in 5.3.3, 10 s in
    # 5.5.0; seen in thread times), then waits for as long. 200 ms are acceptable.
    "transactionMetricFlushInterval": 200,
    # On a disk more than 85 % full a broker would delete messages that are not read yet.
    "cleanFileForciblyEnable": "false",
}

_READING: dict[str, object] = {
    # Default: at most 32 messages and 256 KiB per pull, even if the reader requests more. Higher limits need far fewer
    # requests to read all queues. Consumers request 32 themselves.
    "maxTransferCountOnMessageInMemory": 4_096,
    "maxTransferBytesOnMessageInMemory": 4 * _MIB,
    "maxTransferCountOnMessageInDisk": 4_096,
    "maxTransferBytesOnMessageInDisk": 4 * _MIB,
}


def logging_settings(secrets: Sequence[str] = ()) -> str:
    """
    Logback file for all servers: one log, on stdout, which the backend keeps as a file.

    secrets: replaced by dots in messages. Stack traces are then put into the message's line, so that the replacement covers them.
    """
    message = "%m%n"
    if secrets:
        # A dot matches any character, so only letters and digits need no escape in the regular expression.
        patterns = "|".join(
            "".join(character if character.isalnum() else "." for character in secret) for secret in secrets
        )
        message = f"%replace(%m %ex){{'{patterns}','...'}}%nopex%n"
    return f"""<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{{yyyy-MM-dd HH:mm:ss.SSS}} %p %t %logger{{0}} - {message}</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="STDOUT"/></root>
</configuration>
"""


def properties_text(settings: Mapping[str, object]) -> str:
    """Java properties, one setting per line. Read as Latin-1, so every character that is not visible ASCII is escaped."""
    return "".join(f"{name}={''.join(map(_property_character, str(value)))}\n" for name, value in settings.items())


def _property_character(one: str) -> str:
    if one == "\\":
        return "\\\\"
    if " " <= one <= "~":
        return one
    units = one.encode("utf-16-be", errors="surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
