"""Jars of the Java client that differ from the published ones."""

import zipfile
from pathlib import Path

from rocketdiff.releases.artifacts.class_paths import client_class_path

FAULT_STRATEGY = "org/apache/rocketmq/client/latency/MQFaultStrategy.class"
CONCURRENT_SERVICE = "org/apache/rocketmq/client/impl/consumer/ConsumeMessageConcurrentlyService.class"
PROCESS_QUEUE = "org/apache/rocketmq/client/impl/consumer/ProcessQueue.class"
REBALANCE_SERVICE = "org/apache/rocketmq/client/impl/consumer/RebalanceService.class"
PRODUCER_IMPL = "org/apache/rocketmq/client/impl/producer/DefaultMQProducerImpl.class"


def client_jar(release: str) -> Path:
    (jar,) = (path for path in client_class_path(release) if path.name == f"rocketmq-client-{release}.jar")
    return jar


def with_entry(jar: Path, target: Path, name: str, content: bytes | None = b"") -> Path:
    """Copy a jar with one entry added or replaced, or (None) removed."""
    with zipfile.ZipFile(jar) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            if entry.filename != name:
                new.writestr(entry, old.read(entry))
        if content is not None:
            new.writestr(name, content)
    return target


def patched_jar(target: Path) -> Path:
    """5.3.3 with a longest avoidance of 3 s instead of 30 s, as by one changed source line."""
    return _with_long(target, FAULT_STRATEGY, 30_000, 3_000)


def slowly_retrying_jar(target: Path) -> Path:
    """5.3.3 that consumes a message again 9 s after no broker took it back, instead of 5 s."""
    return _with_long(target, CONCURRENT_SERVICE, 5_000, 9_000)


def rarely_rebalancing_jar(target: Path) -> Path:
    """5.3.3 whose rounds of rebalancing are 5 s apart at least, instead of 1 s."""
    return _with_text(target, REBALANCE_SERVICE, "1000", "5000")


def early_committing_jar(target: Path) -> Path:
    """5.3.3 that commits the greatest offset that is not finished, instead of the least."""
    return _with_text(target, PROCESS_QUEUE, "firstKey", "lastKey")


def _with_long(target: Path, name: str, before: int, after: int) -> Path:
    return _with_constant(target, name, *(b"\x05" + value.to_bytes(8, "big") for value in (before, after)))


def _with_text(target: Path, name: str, before: str, after: str) -> Path:
    return _with_constant(
        target, name, *(b"\x01" + len(text).to_bytes(2, "big") + text.encode() for text in (before, after))
    )


def _with_constant(target: Path, name: str, before: bytes, after: bytes) -> Path:
    jar = client_jar("5.3.3")
    with zipfile.ZipFile(jar) as archive:
        code = archive.read(name)
    assert code.count(before) == 1, "the constant pool has one such constant"
    return with_entry(jar, target, name, code.replace(before, after))
