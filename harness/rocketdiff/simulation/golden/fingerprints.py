"""Digests of an answer's inputs besides its script: the release's artifacts and the host's sources."""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from rocketdiff.core.resources import resource
from rocketdiff.releases.catalogue import base_of
from rocketdiff.releases.lock import LOCK_FILE, locked
from rocketdiff.releases.programs.java_programs import JSON_SOURCES

JAVA_HOST = ("harness/rocketdiff/simulation/java_host/java", JSON_SOURCES)
REFERENCE_HOST = ("harness/rocketdiff/simulation/virtual", "reference_impl/rocketmq_reference")


@cache
def artifacts_fingerprint(release: str) -> str:
    """Digest of the jars' sha256 in the lock, in class path order; a build's label already contains its jar's digest."""
    base = base_of(release)
    published = [jar.sha256 for jar in locked().clients[base]]
    return _digest(published if base == release else [*published, release])


@cache
def java_host_fingerprint() -> str:
    """Digest of the names and contents of the Java host's sources."""
    return sources_fingerprint([resource(folder) for folder in JAVA_HOST], "*.java")


@cache
def reference_fingerprint() -> str:
    """Digest of the sources of the reference and its host."""
    return sources_fingerprint([resource(folder) for folder in REFERENCE_HOST], "*.py")


def sources_fingerprint(folders: Iterable[Path], pattern: str) -> str:
    """Digest of all matching files below the folders."""
    return _digest(
        f"{file.relative_to(folder.parent)} {file_fingerprint(file)}"
        for folder in folders
        for file in sorted(folder.rglob(pattern))
    )


def file_fingerprint(file: Path) -> str:
    """sha256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


@cache
def java_fingerprint(release: str) -> str:
    """Digest of the inputs of ``java:RELEASE`` besides the script."""
    return _digest(["java", artifacts_fingerprint(release), java_host_fingerprint(), file_fingerprint(LOCK_FILE)])


@cache
def python_fingerprint(release: str) -> str:
    """Digest of the inputs of ``python:RELEASE`` besides the script."""
    return _digest(["python", release, reference_fingerprint()])


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
