"""
Our Java programs, compiled once into the cache: the driver of the clients and the host of the simulation.

The driver is one source for all releases, compiled against the oldest API. The host loads the real classes of any release
and runs them on scripts in virtual time. The key of a compiled program is a digest of its inputs.
"""

import hashlib
import os
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

from rocketdiff.core.errors import EnvironmentMissing, HarnessError
from rocketdiff.core.resources import resource
from rocketdiff.releases.artifacts.class_paths import client_class_path, ensure, fetch_clients, grpc_client_class_path
from rocketdiff.releases.cache import cache_dir, made_once
from rocketdiff.releases.catalogue import base_of
from rocketdiff.releases.jdk import JavaHome, find_java
from rocketdiff.releases.lock import locked
from rocketdiff.releases.progress import ProgressListener

# Code compiled against the oldest API uses only methods that every later release has.
API_RELEASE = "4.0.0-incubating"
DRIVER_SOURCES = "harness/rocketdiff/drivers/java"
GRPC_DRIVER_SOURCES = "harness/rocketdiff/drivers/grpc-java"
JSON_SOURCES = f"{DRIVER_SOURCES}/rocketdiff/json"
"""The driver's JSON reader, which the host of the simulation uses too."""

LINE_SOURCES = f"{DRIVER_SOURCES}/rocketdiff/line"
"""Lines from and to the runner, for both drivers."""

SIMULATOR_SOURCES = "harness/rocketdiff/simulation/java_host/java"
MAIN_CLASS = "rocketdiff.simulation.Main"

SIMULATOR_JVM_OPTIONS = (
    # C1 and the serial collector: a host lives for seconds, so on two shared cores warm-up dominates.
    *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
    # 39 releases take about 50 MB of heap; the rest is room between collections.
    *("-Xms128m", "-Xmx768m"),
    # With C1 alone a JVM reserves 48 MB for code. 39 releases fill that in a long run, which ends compilation.
    "-XX:ReservedCodeCacheSize=240m",
    "-XX:-UsePerfData",  # keeps the JVM out of /tmp
    # Netty falls back to java.util.logging, which is silent without a handler.
    f"-Djava.util.logging.config.file={os.devnull}",
)

# The compiler also lives only seconds. Its output does not depend on these options.
COMPILER_JVM_OPTIONS = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")

# A few hundred lines take two seconds, more under heavy load.
COMPILER_DEADLINE_S = 120

# For reproducible jars: the earliest time of the format.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


def driver_class_path(listener: ProgressListener | None = None) -> Path:
    """The driver's classes, to precede a client release's jars on the class path."""
    return compiled("driver", resource(DRIVER_SOURCES), client_class_path(API_RELEASE, listener), find_java(listener))


def grpc_driver_class_path(release: str, listener: ProgressListener | None = None) -> list[Path]:
    """The gRPC driver's classes, to precede that client's jars on the class path."""
    java = find_java(listener)
    reader = compiled("json", resource(JSON_SOURCES), (), java)
    lines = compiled("line", resource(LINE_SOURCES), (reader,), java)
    class_path = [lines, reader, *grpc_client_class_path(release, listener)]
    return [compiled("grpc-driver", resource(GRPC_DRIVER_SOURCES), class_path, java), lines, reader]


def simulator_class_path(listener: ProgressListener | None = None) -> list[Path]:
    """The host's classes and libraries. It gets the class path of each release at run time."""
    java = find_java(listener)
    reader = compiled("json", resource(JSON_SOURCES), (), java)
    libraries = [reader, *ensure("simulation host", locked().tools["asm"], listener)]
    return [compiled("simulation", resource(SIMULATOR_SOURCES), libraries, java), *libraries]


def fetch_simulation(releases: Sequence[str], listener: ProgressListener | None = None) -> None:
    """
    Download or compile all that a host needs for these releases. Otherwise several hosts started at once wait for each other.
    """
    simulator_class_path(listener)
    fetch_clients(list(dict.fromkeys(map(base_of, releases))), listener)


def compiled(name: str, sources: Path, class_path: Sequence[Path], java: JavaHome, *, level: int = 8) -> Path:
    """
    The class folder for all `.java` files under `sources`, compiled unless cached.

    name: sub-folder of the cache. HarnessError if compilation fails, because the sources are ours.
    """
    files = sorted(sources.rglob("*.java"))
    if not files:
        raise HarnessError(f"Java sources under {sources}", seen="none", hint="install rocketdiff again")
    options = ("--release", str(level), "-Xlint:-options", "-encoding", "UTF-8")
    target = class_folder() / f"{name}-{_key(sources, files, class_path, java, options)}"
    words = (str(java.javac), *COMPILER_JVM_OPTIONS, *options, "-cp", _joined(class_path))
    return made_once(target, lambda draft: _run_compiler([*words, "-d", str(draft), *map(str, files)]))


def jar_of(classes: Path) -> Path:
    """A jar of compiled classes: a JVM uses a class archive only if the class path has jars only."""
    folder = made_once(classes.with_name(f"{classes.name}-jar"), lambda draft: _pack(classes, draft / "classes.jar"))
    return folder / "classes.jar"


def class_folder() -> Path:
    """Compiled classes and class archives of servers in the cache."""
    return cache_dir() / "classes"


def _pack(classes: Path, jar: Path) -> None:
    with zipfile.ZipFile(jar, "w") as file:
        for path in sorted(classes.rglob("*.class")):
            file.writestr(zipfile.ZipInfo(path.relative_to(classes).as_posix(), _NO_TIME), path.read_bytes())


def _key(
    sources: Path, files: Sequence[Path], class_path: Sequence[Path], java: JavaHome, options: Sequence[str]
) -> str:
    """
    Digest of sources (name, content), class path (file names, since jars are verified against the lock), compiler and options.
    """
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(sources)}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\0".encode())
    compiler = (java.home / "release").read_bytes() if (java.home / "release").exists() else str(java.version).encode()
    digest.update("\0".join([*(jar.name for jar in class_path), *options]).encode() + b"\0" + compiler)
    return digest.hexdigest()[:16]


def _run_compiler(command: list[str]) -> None:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=COMPILER_DEADLINE_S)
    except subprocess.TimeoutExpired as error:
        raise EnvironmentMissing(f"javac to end within {COMPILER_DEADLINE_S} s", seen="it still runs") from error
    if ran.returncode != 0:
        raise HarnessError("the Java sources to compile", seen=(ran.stderr or ran.stdout).strip()[:2_000])


def _joined(class_path: Sequence[Path]) -> str:
    return os.pathsep.join(map(str, class_path))
