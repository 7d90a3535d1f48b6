"""Jars of the Java client that differ from the published ones."""

import zipfile
from pathlib import Path

from rocketdiff.releases.artifacts.class_paths import client_class_path

FAULT_STRATEGY = "org/apache/rocketmq/client/latency/MQFaultStrategy.class"
CONCURRENT_SERVICE = "org/apache/rocketmq/client/impl/consumer/ConsumeMessageConcurrentlyService.class"
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


def _with_long(target: Path, name: str, before: int, after: int) -> Path:
    jar = client_jar("5.3.3")
    with zipfile.ZipFile(jar) as archive:
        code = archive.read(name)
    constant, changed = (b"\x05" + value.to_bytes(8, "big") for value in (before, after))
    assert code.count(constant) == 1, "the constant pool has one such long"
    return with_entry(jar, target, name, code.replace(constant, changed))
