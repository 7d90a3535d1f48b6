"""
What rocketdiff needs and what this machine has. Nothing is downloaded or changed.

A finding is `ok` or has a remedy, which names the feature if only one needs it.
"""

import importlib.util
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.extras import EXTRAS, Extra
from rocketdiff.process import open_files
from rocketdiff.releases import machine
from rocketdiff.releases.artifacts.class_paths import artifact_folder
from rocketdiff.releases.cache import CACHE_VARIABLE, Condition, cache_dir, condition_of
from rocketdiff.releases.jdk import JavaHome, UnfitJava, in_words, judged, kept_home, local_java
from rocketdiff.releases.lock import Artifact, locked
from rocketdiff.releases.programs import cpp_client, driver_builds

# The jars of all releases take 270 MB, a fetched JDK 320 MB; brokers write some hundred MB per run.
FREE_DISK_BYTES = 2 * 2**30
# Name server, two brokers, two clients and Spark with their heaps, and the same again for the system.
MEMORY_BYTES = 4 * 2**30
# On one core the two arms take turns, which would measure the scheduler.
CORES = 2
OLDEST_PYTHON = (3, 11)
NEEDED = frozenset({"Python", "Java", "Java compiler", "cache folder", "disk", "open files"})


@dataclass(frozen=True, slots=True)
class Requirement:
    """
    What was found (``seen``), and what to do (``remedy``, empty if `ok`).

    needed: `run` does not work without it. Others are for single features, or make figures more certain.
    """

    name: str
    ok: bool
    seen: str
    remedy: str
    needed: bool


def examine() -> list[Requirement]:
    """All findings, in the order of setting things up."""
    lock = locked()
    return [
        _python(),
        *_java(),
        _cores(),
        _memory(),
        _cache(),
        _disk(),
        _open_files(),
        _jars("server jars", lock.servers),
        _jars("client jars", lock.clients),
        _cpp_client(),
        *map(_other_client, driver_builds.OTHER_CLIENTS.values()),
        _chromium(),
        _containers(),
        *map(_extra, EXTRAS),
    ]


def _finding(name: str, ok: bool, seen: str, remedy: str) -> Requirement:
    return Requirement(name, ok, seen, "" if ok else remedy, needed=name in NEEDED)


def _python() -> Requirement:
    remedy = "install Python 3.11 or later and set up .venv again (make clean setup)"
    return _finding("Python", sys.version_info[:2] >= OLDEST_PYTHON, platform.python_version(), remedy)


def _java() -> list[Requirement]:
    """Some systems have JVM and compiler in two packages."""
    try:
        java, unfit = local_java()
    except EnvironmentMissing as error:
        return [_finding("Java", ok=False, seen=error.seen, remedy=error.expected)]
    kept = kept_home()
    if java is None and kept is not None:
        judgement = judged(kept)
        java = judgement if isinstance(judgement, JavaHome) else None
    if java is not None:
        return [
            _finding("Java", ok=True, seen=f"{java.version} in {java.home}", remedy=""),
            _finding("Java compiler", ok=True, seen=str(java.javac), remedy=""),
        ]
    return [_finding("Java", ok=False, seen=in_words(unfit), remedy=_java_remedy(unfit))]


def _java_remedy(unfit: list[UnfitJava]) -> str:
    package = "apt-get install openjdk-17-jdk-headless (Debian, Ubuntu)"
    others = " or set ROCKETDIFF_JAVA_HOME to one elsewhere" if unfit else ""
    return f"{package}{others}; otherwise one is fetched when first needed, which takes a network"


def _cores() -> Requirement:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return _finding(
        "cores", cores >= CORES, str(cores), f"run on {CORES} or more; timing checks tend to be inconclusive on one"
    )


def _memory() -> Requirement:
    memory = psutil.virtual_memory()
    seen = f"{_gibibytes(memory.available)} of {_gibibytes(memory.total)} GiB available"
    return _finding(
        "memory", memory.available >= MEMORY_BYTES, seen, f"free some: {_gibibytes(MEMORY_BYTES)} GiB are wanted"
    )


def _cache() -> Requirement:
    folder = cache_dir()
    parent = _nearest_existing(folder)
    size = _size_bytes(folder)
    seen = f"{folder}, {size / 2**20:.0f} MiB" if folder.is_dir() else f"{folder} (not made yet)"
    ok = parent.is_dir() and os.access(parent, os.W_OK | os.X_OK)
    return _finding("cache folder", ok, seen, f"make {parent} writable, or set {CACHE_VARIABLE} to a folder that is")


def _disk() -> Requirement:
    free = psutil.disk_usage(str(_nearest_existing(cache_dir()))).free
    seen = f"{_gibibytes(free)} GiB free beside the cache folder"
    return _finding("disk", free >= FREE_DISK_BYTES, seen, f"free some: {_gibibytes(FREE_DISK_BYTES)} GiB are wanted")


def _open_files() -> Requirement:
    limit = open_files.open_files()
    seen = f"{limit:,} a process may open" if limit < sys.maxsize else "as many as a process wants"
    return _finding("open files", limit >= open_files.OPEN_FILES, seen, open_files.OPEN_FILES_REMEDY)


def _jars(name: str, releases: Mapping[str, tuple[Artifact, ...]]) -> Requirement:
    """Missing jars are downloaded when needed; corrupted ones are reported."""
    folder = artifact_folder()
    conditions = {jar: condition_of(folder / jar.path, jar) for jars in releases.values() for jar in jars}
    complete = [
        release for release, jars in releases.items() if all(conditions[jar] is Condition.WHOLE for jar in jars)
    ]
    absent = sum(jar.size_bytes for jar, condition in conditions.items() if condition is not Condition.WHOLE)
    corrupted = [jar.path.name for jar, condition in conditions.items() if condition is Condition.CORRUPTED]
    seen = f"{len(complete)} of {len(releases)} releases here: {' '.join(complete) or 'none'}"
    if absent:
        seen += f"; the others ({absent / 2**20:.0f} MiB) are fetched when first used"
    if corrupted:
        return _finding(
            name,
            ok=False,
            seen=f"{seen}; corrupted: {' '.join(corrupted)}",
            remedy="they are fetched again when next used",
        )
    return _finding(name, ok=True, seen=seen, remedy="")


def _cpp_client() -> Requirement:
    """An environment that is not built yet is `ok`."""
    name = "C++ client"
    try:
        cpp_client.require_fit()
    except EnvironmentMissing as error:
        return _finding(name, ok=False, seen=error.seen, remedy=f"only for subjects cpp:…: run on {error.expected}")
    if cpp_client.is_built():
        return _finding(name, ok=True, seen=f"{cpp_client.RELEASES[-1]}, built", remedy="")
    can_build = importlib.util.find_spec("ensurepip") is not None
    remedy = "only for subjects cpp:…: apt-get install python3-venv (Debian, Ubuntu)"
    return _finding(name, can_build, "not built; built when first used" if can_build else "no venv with pip", remedy)


def _other_client(client: driver_builds.OtherClient) -> Requirement:
    missing = driver_builds.missing_tools(client)
    if missing:
        remedy = f"only for subjects {client.name}:…: {client.remedy}"
        return _finding(client.title, ok=False, seen=f"no {' and no '.join(missing)} on PATH", remedy=remedy)
    each = (driver_builds.at_release(client, release) for release in driver_builds.releases_of(client))
    seen = (
        f"{driver_builds.release_of(one)}, {'built' if driver_builds.is_built(one) else 'built when first used'}"
        for one in each
    )
    return _finding(client.title, ok=True, seen="; ".join(seen), remedy="")


def _chromium() -> Requirement:
    found = machine.chromium()
    remedy = "only for the tests of the report page: apt-get install chromium (Debian), or any Chrome"
    return _finding("Chromium", found is not None, str(found or "none on PATH"), remedy)


def _containers() -> Requirement:
    engine = machine.container_engine()
    remedy = "only for --cluster containers: install and start Docker or Podman (Debian: apt-get install docker.io)"
    return _finding("container engine", engine.version is not None, engine.seen, remedy)


def _extra(extra: Extra) -> Requirement:
    error = extra.missing()
    remedy = f"only for {extra.purpose}: {extra.remedy}"
    return _finding(f"extra {extra.name}", error is None, error.seen if error else "installed", remedy)


def _nearest_existing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())


def _size_bytes(folder: Path) -> int:
    """Files that another process removes meanwhile count as 0."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total


def _gibibytes(size_bytes: int) -> str:
    return f"{size_bytes / 2**30:.1f}"
