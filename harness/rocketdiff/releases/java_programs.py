"""
Our Java programs, compiled once into the cache: the driver of the clients and the host of the simulation.

The driver is one source for all releases, compiled against the API of the oldest. The host runs in virtual time: it loads the
real classes of any release and runs them on scripts. The key of a compiled program is a digest of its inputs.
"""

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rocketdiff.core.errors import EnvironmentMissing, HarnessError
from rocketdiff.core.resources import resource
from rocketdiff.releases.artifacts import client_class_path, ensure, fetch_clients
from rocketdiff.releases.cache import cache_dir, sha256_of, unwritable
from rocketdiff.releases.jdk import JavaHome, find_java
from rocketdiff.releases.lock import locked
from rocketdiff.releases.progress import ProgressListener

# Code compiled against the oldest API uses only methods that every later release still has.
API_RELEASE = "4.0.0-incubating"
DRIVER_SOURCES = "harness/rocketdiff/drivers/java"

SIMULATOR_SOURCES = "harness/rocketdiff/simulation/java_host/java"
MAIN_CLASS = "rocketdiff.simulation.Main"

SIMULATOR_JVM_OPTIONS = (
    # C1 and the serial collector: a host lives for seconds, and on two shared cores their warm-up is what counts.
    *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
    # 39 releases take about 50 MB of heap; the rest is room between collections.
    *("-Xms128m", "-Xmx768m"),
    "-XX:-UsePerfData",  # keeps the JVM out of /tmp
    # Netty logs to java.util.logging where it finds nothing else; without a handler that is silent.
    f"-Djava.util.logging.config.file={os.devnull}",
)

# A few hundred lines take two seconds; a machine under heavy load some more.
COMPILER_DEADLINE_S = 120

DIGESTS = "digests.txt"
"""In a class folder: sha256 and name of every file, compared on each use of the folder."""


def driver_class_path(listener: ProgressListener | None = None) -> Path:
    """The folder of the driver's classes, to put before a client release's jars on the class path."""
    return compiled("driver", resource(DRIVER_SOURCES), client_class_path(API_RELEASE, listener), find_java(listener))


def simulator_class_path(listener: ProgressListener | None = None) -> list[Path]:
    """The host's classes and libraries; it is given the class path of each release at run time."""
    libraries = ensure("simulation host", locked().tools["asm"], listener)
    return [compiled("simulation", resource(SIMULATOR_SOURCES), libraries, find_java(listener)), *libraries]


def fetch_simulation(releases: Sequence[str], listener: ProgressListener | None = None) -> None:
    """
    Everything that a host needs to run these releases: Java, its own classes and theirs.

    Call it before starting several hosts: otherwise they wait for each other to download or compile the same files.
    """
    simulator_class_path(listener)
    fetch_clients(releases, listener)


def compiled(name: str, sources: Path, class_path: Sequence[Path], java: JavaHome, *, level: int = 8) -> Path:
    """
    The class folder for all `.java` files under `sources`, compiled at this language level unless the cache has it.

    `name` is the sub-folder of the cache. HarnessError if compilation fails, because the sources are ours.
    """
    files = sorted(sources.rglob("*.java"))
    if not files:
        raise HarnessError(f"Java sources under {sources}", seen="none", hint="install rocketdiff again")
    options = ("--release", str(level), "-Xlint:-options", "-encoding", "UTF-8")
    target = cache_dir() / "classes" / f"{name}-{_key(sources, files, class_path, java, options)}"
    if target.is_dir() and not _is_whole(target):
        _put_aside(target)
    if not target.is_dir():
        _compile_into(target, files, class_path, java, options)
    return target


def _key(
    sources: Path, files: Sequence[Path], class_path: Sequence[Path], java: JavaHome, options: Sequence[str]
) -> str:
    """Digest of sources (name and content), class path (file names: each jar is verified against the lock), compiler and options."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(sources)}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\0".encode())
    compiler = (java.home / "release").read_bytes() if (java.home / "release").exists() else str(java.version).encode()
    digest.update("\0".join([*(jar.name for jar in class_path), *options]).encode() + b"\0" + compiler)
    return digest.hexdigest()[:16]


def _is_whole(folder: Path) -> bool:
    """Whether the folder has exactly the classes the compiler wrote; a damaged one would look like a fault of the simulation host."""
    try:
        return (folder / DIGESTS).read_text(encoding="utf-8") == _digests(folder)
    except (OSError, UnicodeDecodeError):
        return False


def _digests(folder: Path) -> str:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != DIGESTS)
    return "".join(f"{sha256_of(file)}  {file.relative_to(folder).as_posix()}\n" for file in files)


def _put_aside(target: Path) -> None:
    """Rename the folder first, so that no process sees half of it; another process may have done so already."""
    try:
        aside = Path(tempfile.mkdtemp(prefix=".damaged-", dir=target.parent))
        with contextlib.suppress(FileNotFoundError):
            target.rename(aside / "classes")
        shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise unwritable(target, error) from error


def _compile_into(
    target: Path, files: Sequence[Path], class_path: Sequence[Path], java: JavaHome, options: Sequence[str]
) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=target.parent))
    except OSError as error:
        raise unwritable(target.parent, error) from error
    try:
        _run_compiler([str(java.javac), *options, "-d", str(draft), "-cp", _joined(class_path), *map(str, files)])
        (draft / DIGESTS).write_text(_digests(draft), encoding="utf-8")
        _put_in_place(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _run_compiler(command: list[str]) -> None:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=COMPILER_DEADLINE_S)
    except subprocess.TimeoutExpired as error:
        raise EnvironmentMissing(f"javac to end within {COMPILER_DEADLINE_S} s", seen="it still runs") from error
    if ran.returncode != 0:
        raise HarnessError("the Java sources to compile", seen=(ran.stderr or ran.stdout).strip()[:2_000])


def _put_in_place(draft: Path, target: Path) -> None:
    try:
        draft.rename(target)
    except OSError as error:
        if not target.is_dir():
            raise unwritable(target, error) from error
        # Another process compiled the same sources meanwhile; its result is equal.


def _joined(class_path: Sequence[Path]) -> str:
    return os.pathsep.join(map(str, class_path))
