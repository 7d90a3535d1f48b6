"""
Settings files of name servers and brokers: differences from RocketMQ's defaults, each with its reason.

What clients can notice stays at its default, except for what a topology defines: topics are created on first send (TBW102),
fast failure answers late requests with SYSTEM_BUSY, registration is every 30 s, expiry after 120 s, and the cluster is
named DefaultCluster. A release ignores settings that it does not know, so one file fits all.
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
How long a SYNC_MASTER waits for its slave; 4.9.7 looks once a second only.

3 s by default, as long as a producer waits by default: which of the two ends first would be chance.
"""


def name_server_settings(port: int, folder: Path) -> str:
    """Settings of a name server that keeps its own files in ``folder``."""
    return properties_text(
        {
            "listenPort": port,
            "bindAddress": LOOPBACK,
            "kvConfigPath": folder / "kvConfig.json",  # by default in the user's home
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
    """Settings of a topology's master or slave of that node name, with its data in ``store``, and more."""
    return properties_text(
        {
            **role_settings(topology, name),
            "namesrvAddr": ";".join(name_servers),
            "listenPort": port,
            # By default the address of some network card; clients and slaves connect to these.
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
    """Settings of a proxy; is_local: of mode LOCAL, in the process of its broker."""
    settings = {
        "proxyName": name,
        "rocketMQClusterName": "DefaultCluster",
        "namesrvAddr": ";".join(name_servers),
        "grpcServerPort": grpc_port,
        "localServeAddr": LOOPBACK,
        "proxyMode": "LOCAL" if is_local else "CLUSTER",
        # By default routes name the proxy's own port, so that clients would walk past a relay, and two proxies on one host look alike.
        # Mode LOCAL ignores it: proxy_java's SameAddress does it there.
        "useEndpointPortFromRequest": True,
        # By default a message with a group is refused unless its topic was made for such messages.
        "enableTopicMessageTypeCheck": False,
        # Logs the stacks of all threads every minute.
        "enablePrintJstack": False,
    }
    return json.dumps(settings, indent=2) + "\n"


def role_settings(topology: Topology, name: str) -> dict[str, object]:
    """Who a broker is among the others, and what it waits for before it acknowledges; the same for every backend."""
    broker_id = broker_id_of(name)
    settings: dict[str, object] = {"brokerName": master_of(name), "brokerId": broker_id}
    if broker_id != MASTER_ID:
        return settings | {"brokerRole": "SLAVE"}
    if topology.replication is Replication.SYNC_MASTER:
        settings |= _DOUBLE_WRITE
    if topology.flush is FlushDisk.SYNC_FLUSH:
        settings["flushDiskType"] = "SYNC_FLUSH"
    return settings


_DOUBLE_WRITE: dict[str, object] = {
    "brokerRole": "SYNC_MASTER",
    # From 5.0.0 on a SYNC_MASTER waits for so many copies, itself included, and its default of 1 waits for no slave at
    # all (CommitLog.handleHA); 4.x knows no such setting and always waits for one.
    "inSyncReplicas": 2,
    "slaveTimeout": SLAVE_TIMEOUT_MS,
}

_SMALL_FILES: dict[str, object] = {
    # 1 GiB by default, two of them at once; 16 MiB still holds the largest message (4 MiB) several times.
    "mappedFileSizeCommitLog": 16 * _MIB,
    # 6 MB a queue by default; a file for 50,000 messages of 20 bytes' entry each.
    "mappedFileSizeConsumeQueue": 50_000 * 20,
    # The index of keys takes 420 MB by default.
    "maxHashSlotNum": 50_000,
    "maxIndexNum": 200_000,
}

_QUIET: dict[str, object] = {
    # Delayed messages to the second: 100 MB of files and three threads that no producer test uses.
    "timerWheelEnable": "false",
    # TransactionMetricsFlushService spins on one core from start until this much time has passed (3 s in 5.3.3, 10 s
    # in 5.5.0), then waits for as long; seen by taking thread times. A fifth of a second of it is bearable.
    "transactionMetricFlushInterval": 200,
    # On a disk over 85 % full a broker would delete messages that are still to be read.
    "cleanFileForciblyEnable": "false",
}

_READING: dict[str, object] = {
    # 32 messages and 256 KiB a pull by default, whatever the reader asks for; reading all queues back takes far fewer
    # requests so. Consumers ask for 32 themselves.
    "maxTransferCountOnMessageInMemory": 4_096,
    "maxTransferBytesOnMessageInMemory": 4 * _MIB,
    "maxTransferCountOnMessageInDisk": 4_096,
    "maxTransferBytesOnMessageInDisk": 4 * _MIB,
}


def logging_settings(secrets: Sequence[str] = ()) -> str:
    """
    Logback file for both kinds of server: one log, on stdout, which the backend keeps as a file.

    secrets: are replaced by dots in messages; the traces of exceptions then stand in the same line, so that none is missed.
    """
    message = "%m%n"
    if secrets:
        # Letters and digits stand for themselves in a regular expression, a dot for every other character.
        patterns = "|".join("".join(one if one.isalnum() else "." for one in secret) for secret in secrets)
        message = f"%replace(%m %ex){{'{patterns}','...'}}%nopex%n"
    return f"""<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{{yyyy-MM-dd HH:mm:ss.SSS}} %p %t %logger{{0}} - {message}</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="STDOUT"/></root>
</configuration>
"""


def properties_text(settings: Mapping[str, object]) -> str:
    """Java properties, one line a setting: read as Latin-1, so whatever is not visible ASCII is written as an escape."""
    return "".join(f"{name}={''.join(map(_property_character, str(value)))}\n" for name, value in settings.items())


def _property_character(one: str) -> str:
    if one == "\\":
        return "\\\\"
    if " " <= one <= "~":
        return one
    units = one.encode("utf-16-be", errors="surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
