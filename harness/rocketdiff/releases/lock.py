"""
The committed list of exact artifacts: the jars of each release or tool in class path order, with sha256 and size.

No version is resolved at run time. `python -m rocketdiff.releases.artifacts.relock` writes this file with Maven.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath

LOCK_FILE = Path(__file__).with_name("artifacts.lock.json")
LOCK_FORMAT = 1
SECTIONS = ("clients", "servers", "tools", "proxies", "grpc_clients")  # as in the fields of ArtifactLock


@dataclass(frozen=True, slots=True)
class Artifact:
    """One published jar: Maven coordinate `group:artifact:version[:classifier]`, sha256 in hex, size in bytes."""

    coordinate: str
    sha256: str
    size_bytes: int

    @property
    def path(self) -> PurePosixPath:
        """The jar's path in a Maven repository."""
        group, name, version, *classifier = self.coordinate.split(":")
        file = "-".join((name, version, *classifier)) + ".jar"
        return PurePosixPath(*group.split("."), name, version, file)


@dataclass(frozen=True, slots=True)
class ArtifactLock:
    """
    Class paths by release, in release-line order, and of our own Java tools by name.

    proxies: by server release. grpc_clients: by release of the gRPC Java client, which has its own numbering.
    """

    clients: Mapping[str, tuple[Artifact, ...]]
    servers: Mapping[str, tuple[Artifact, ...]]
    tools: Mapping[str, tuple[Artifact, ...]] = field(default_factory=dict)
    proxies: Mapping[str, tuple[Artifact, ...]] = field(default_factory=dict)
    grpc_clients: Mapping[str, tuple[Artifact, ...]] = field(default_factory=dict)


@cache
def locked() -> ArtifactLock:
    """The lock of this version of rocketdiff."""
    return read_lock(LOCK_FILE)


def read_lock(file: Path) -> ArtifactLock:
    """Parse a lock file. ValueError for another format, which is a bug."""
    document = json.loads(file.read_text(encoding="utf-8"))
    if document["format"] != LOCK_FORMAT:
        raise ValueError(f"{file.name} has format {document['format']}, this program reads {LOCK_FORMAT}")
    artifacts = [Artifact(*row) for row in document["artifacts"]]

    def class_paths(table: Mapping[str, list[int]]) -> dict[str, tuple[Artifact, ...]]:
        return {release: tuple(artifacts[i] for i in indices) for release, indices in table.items()}

    return ArtifactLock(*(class_paths(document[section]) for section in SECTIONS))


def write_lock(file: Path, lock: ArtifactLock) -> None:
    """One line per jar and per release, so that diffs are small."""
    sections: dict[str, Mapping[str, tuple[Artifact, ...]]] = {name: getattr(lock, name) for name in SECTIONS}
    class_paths = (jars for section in sections.values() for jars in section.values())
    table = sorted({artifact for jars in class_paths for artifact in jars}, key=_row)
    index = {artifact: number for number, artifact in enumerate(table)}
    rows = ",\n".join(f"  {json.dumps(_row(artifact))}" for artifact in table)

    def written(name: str, class_paths: Mapping[str, tuple[Artifact, ...]]) -> str:
        lines = (f'  "{key}": {json.dumps([index[jar] for jar in jars])}' for key, jars in class_paths.items())
        return f'"{name}": {{\n' + ",\n".join(lines) + "\n}"

    body = ",\n".join(written(name, section) for name, section in sections.items())
    file.write_text(f'{{\n"format": {LOCK_FORMAT},\n"artifacts": [\n{rows}\n],\n{body}\n}}\n', encoding="utf-8")


def _row(artifact: Artifact) -> tuple[str, str, int]:
    return (artifact.coordinate, artifact.sha256, artifact.size_bytes)
