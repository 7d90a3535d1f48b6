"""
Driver skeletons, one per language: `rocketdiff subject init`.

Each has under 150 lines and passes `rocketdiff subject check` unchanged, with an existing client that its author replaces. The
version locks are copied from the bundled driver of that language.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rocketdiff.core.errors import UsageError
from rocketdiff.core.resources import resource
from rocketdiff.core.text.quoted import printable
from rocketdiff.releases.lock import locked

_SOURCES = "fixtures/skeletons"
_DRIVERS = "harness/rocketdiff/drivers"


_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
_JARS = "lib.sha256"
"""Digests of all jars, from our own lock, because Maven has none."""


@dataclass(frozen=True, slots=True)
class Skeleton:
    """
    The driver of one language.

    program: file to change. start: command after ``exec:``. build: shell commands, run in the folder. locks: files of the
    bundled driver. jars_of: release of the Java client whose jars are compared with our lock.
    """

    program: str
    start: str
    build: tuple[str, ...] = ()
    locks: tuple[str, ...] = field(default=())
    jars_of: str = ""


SKELETONS: Mapping[str, Skeleton] = {
    "java": Skeleton(
        "Driver.java",
        "java -cp classes:lib/* Driver",
        (
            f"mvn -q {_COPY} -DoutputDirectory=lib",
            f"sha256sum --check --quiet {_JARS}",
            "javac -cp 'lib/*' -d classes Driver.java",
        ),
        jars_of="5.3.3",
    ),
    "go": Skeleton("main.go", "./driver", ("go build -o driver .",), ("go.mod", "go.sum")),
    "node": Skeleton("main.js", "node main.js", ("npm ci --ignore-scripts",), ("package.json", "package-lock.json")),
    "rust": Skeleton(
        "src/main.rs", "./target/release/driver", ("cargo build --release --locked",), ("Cargo.toml", "Cargo.lock")
    ),
    "python": Skeleton("driver.py", "python driver.py"),
}


def skeleton_named(language: str) -> Skeleton:
    """Return a skeleton; raises UsageError, with the known languages, for an unknown one."""
    found = SKELETONS.get(language)
    if found is None:
        raise UsageError(
            f"one of {', '.join(SKELETONS)}", seen=printable(language, 50), hint="any other language: exec:"
        )
    return found


def write_skeleton(language: str, folder: Path) -> Skeleton:
    """Write the files into a new or empty folder; raises UsageError if it has files or cannot be written."""
    skeleton = skeleton_named(language)
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(
                "an empty folder, or none yet", seen=printable(str(folder), 200), hint="name another folder"
            )
        shutil.copytree(resource(f"{_SOURCES}/{language}"), folder, dirs_exist_ok=True)
        for name in skeleton.locks:
            shutil.copyfile(resource(f"{_DRIVERS}/{language}") / name, folder / name)
        if skeleton.jars_of:
            jars = locked().clients[skeleton.jars_of]
            (folder / _JARS).write_text("".join(f"{jar.sha256}  lib/{jar.path.name}\n" for jar in jars))
    except OSError as problem:
        seen = problem.strerror or str(problem)
        raise UsageError(f"a folder {printable(str(folder), 200)} that can be written", seen=seen) from problem
    return skeleton
