"""Jars of the Java client that differ from the published ones."""

import zipfile
from pathlib import Path

from rocketdiff.releases.artifacts.class_paths import client_class_path

FAULT_STRATEGY = "org/apache/rocketmq/client/latency/MQFaultStrategy.class"
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
    jar = client_jar("5.3.3")
    with zipfile.ZipFile(jar) as archive:
        code = archive.read(FAULT_STRATEGY)
    before, after = (b"\x05" + value.to_bytes(8, "big") for value in (30_000, 3_000))
    assert code.count(before) == 1, "the constant pool has one such long"
    return with_entry(jar, target, FAULT_STRATEGY, code.replace(before, after))
