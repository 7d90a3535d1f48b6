"""
The committed list of exact artifacts: which jars, in class path order, make up each release, with sha256 and size.

Nothing is resolved when rocketdiff runs; `python -m harness.releases.relock` writes this file with Maven.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

LOCK_FILE = Path(__file__).with_name("artifacts.lock.json")
LOCK_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Artifact:
    """One jar as published: Maven coordinate `group:artifact:version[:classifier]`, sha256 in hex, size in bytes."""

    coordinate: str
    sha256: str
    size_bytes: int

    @property
    def path(self) -> PurePosixPath:
        """Where a Maven repository keeps the jar."""
        group, name, version, *classifier = self.coordinate.split(":")
        file = "-".join((name, version, *classifier)) + ".jar"
        return PurePosixPath(*group.split("."), name, version, file)


@dataclass(frozen=True, slots=True)
class Lock:
    """Class paths by release, in release-line order; jars that releases share are the same Artifact."""

    clients: Mapping[str, tuple[Artifact, ...]]
    servers: Mapping[str, tuple[Artifact, ...]]


@cache
def locked() -> Lock:
    """The lock that belongs to this version of rocketdiff."""
    return read_lock(LOCK_FILE)


def read_lock(file: Path) -> Lock:
    """Parse a lock file; a lock of another format is a mistake of ours and stops with a ValueError."""
    document = json.loads(file.read_text(encoding="utf-8"))
    if document["format"] != LOCK_FORMAT:
        raise ValueError(f"{file.name} has format {document['format']}, this program reads {LOCK_FORMAT}")
    artifacts = [Artifact(*row) for row in document["artifacts"]]

    def class_paths(table: Mapping[str, list[int]]) -> dict[str, tuple[Artifact, ...]]:
        return {release: tuple(artifacts[i] for i in indices) for release, indices in table.items()}

    return Lock(class_paths(document["clients"]), class_paths(document["servers"]))


def write_lock(file: Path, lock: Lock) -> None:
    """Write a lock so that a change of one jar or release is a change of one line."""
    table = sorted(
        {artifact for jars in (*lock.clients.values(), *lock.servers.values()) for artifact in jars}, key=_row
    )
    index = {artifact: number for number, artifact in enumerate(table)}
    rows = ",\n".join(f"  {json.dumps(_row(artifact))}" for artifact in table)

    def section(class_paths: Mapping[str, tuple[Artifact, ...]]) -> str:
        return ",\n".join(
            f'  "{release}": {json.dumps([index[jar] for jar in jars])}' for release, jars in class_paths.items()
        )

    file.write_text(
        f'{{\n"format": {LOCK_FORMAT},\n"artifacts": [\n{rows}\n],\n'
        f'"clients": {{\n{section(lock.clients)}\n}},\n"servers": {{\n{section(lock.servers)}\n}}\n}}\n',
        encoding="utf-8",
    )


def _row(artifact: Artifact) -> tuple[str, str, int]:
    return (artifact.coordinate, artifact.sha256, artifact.size_bytes)
