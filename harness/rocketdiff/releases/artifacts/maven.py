"""
The class path of Maven coordinates ``group:artifact:version``, as Maven itself resolves it.

The local repository is tried first (``mvn -o``). What is missing there is downloaded with its exact version. A snapshot
is never downloaded, because two downloads of it may differ: it must be installed on this machine.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

from rocketdiff.core.errors import EnvironmentMissing, UsageError
from rocketdiff.core.text.quoted import printable
from rocketdiff.releases.progress import Notice, PlainProgress

_FORM = re.compile(r"[A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+:[A-Za-z0-9_.+-]+")
_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath"
# Quiet batch mode; wrong checksums fail (-C); snapshots are not updated (-nsu).
_OPTIONS = ("-B", "-q", "-ntp", "-C", "-nsu", "-Dstyle.color=never", "-DincludeScope=runtime")
_SNAPSHOT = "-SNAPSHOT"
_MOVING = ("LATEST", "RELEASE")

_LONGEST_S = 300.0
"""A client has about thirty jars of together 20 MB. Ends the wait for a proxy that does not answer."""

_SHOWN_CHARACTERS = 300


def is_coordinates(text: str) -> bool:
    """True for group:artifact:version."""
    return _FORM.fullmatch(text) is not None


def class_path_of(coordinates: str) -> tuple[Path, ...]:
    """
    Jars of the coordinates and of all their dependencies, in class path order.

    Raises UsageError for an artifact that does not exist, EnvironmentMissing without Maven.
    """
    maven = shutil.which("mvn")
    if maven is None:
        hint = "install Maven 3.8 or later, or name a folder of jars: java:dist/lib/"
        raise EnvironmentMissing("mvn on PATH, which resolves coordinates", seen="none", hint=hint)
    if coordinates.rpartition(":")[2] in _MOVING:
        raise UsageError("an exact version", seen=printable(coordinates, 200), hint="for example 5.3.3")
    offline = _resolved(maven, coordinates, "-o")
    if isinstance(offline, tuple):
        return offline
    if coordinates.endswith(_SNAPSHOT) and not _is_installed(coordinates):
        hint = "a snapshot is never downloaded: run mvn install where it is built, or name its jar"
        raise UsageError(
            f"{printable(coordinates, 200)} in the local Maven repository", seen="no such artifact", hint=hint
        )
    PlainProgress()(Notice(f"{coordinates} or what it needs is not in the local Maven repository: Maven downloads it"))
    online = _resolved(maven, coordinates)
    if isinstance(online, tuple):
        return online
    hint = "check group, artifact and version; or name a folder of jars: java:dist/lib/"
    raise UsageError(f"an artifact {printable(coordinates, 200)} that Maven resolves", seen=online, hint=hint)


def _is_installed(coordinates: str) -> bool:
    group, artifact, version = coordinates.split(":")
    folder = Path.home() / ".m2" / "repository" / group.replace(".", "/") / artifact / version
    return (folder / f"{artifact}-{version}.jar").is_file()


def _resolved(maven: str, coordinates: str, *options: str) -> tuple[Path, ...] | str:
    """The jars, or Maven's error message."""
    with tempfile.TemporaryDirectory(prefix="rocketdiff-maven-") as name:
        pom, listing = Path(name) / "pom.xml", Path(name) / "class-path"
        pom.write_text(_pom(coordinates), encoding="utf-8")
        # In a separate folder, because Maven reads .mvn of the working directory.
        command = [maven, *_OPTIONS, *options, f"-Dmdep.outputFile={listing}", "-f", str(pom), _GOAL]
        status, output = _ran(command, Path(name))
        if status == 0 and listing.is_file():
            entries = listing.read_text(encoding="utf-8").strip().split(os.pathsep)
            return tuple(Path(entry) for entry in entries if entry.endswith(".jar"))
    errors = [line.partition("[ERROR]")[2].partition(" -> [Help")[0].strip() for line in output.splitlines()]
    return printable(next(filter(None, errors), output.strip() or f"mvn ended with status {status}"), _SHOWN_CHARACTERS)


def _ran(command: list[str], folder: Path) -> tuple[int, str]:
    """Status and output. Maven and its children are killed on timeout or interruption."""
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        output, _ = process.communicate(timeout=_LONGEST_S)
    except subprocess.TimeoutExpired:
        raise EnvironmentMissing(f"Maven to end within {_LONGEST_S:g} s", seen="it was still running") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode, output


def _pom(coordinates: str) -> str:
    group, artifact, version = map(escape, coordinates.split(":"))
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>local</groupId>'
        "<artifactId>subject</artifactId><version>1</version><packaging>pom</packaging><dependencies><dependency>"
        f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
        "</dependency></dependencies></project>"
    )
