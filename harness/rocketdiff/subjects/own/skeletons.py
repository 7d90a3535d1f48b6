"""
Driver skeletons by role and language: `rocketdiff subject init`.

Each passes `rocketdiff subject check` unchanged, with an existing client that its author replaces. The version locks are copied from
the bundled driver of that language.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rocketdiff.core.errors import UsageError
from rocketdiff.core.resources import resource
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.text.quoted import printable
from rocketdiff.releases.lock import locked

_SOURCES = "fixtures/skeletons"
_DRIVERS = "harness/rocketdiff/drivers"


_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
_POM = "pom.xml"
"""The same for every role."""

_JARS = "lib.sha256"
"""Digests of all jars, from our own lock, because Maven has none."""


@dataclass(frozen=True, slots=True)
class Skeleton:
    """
    The driver of one role in one language.

    sources: folder below _SOURCES. program: file to change. start: command after ``exec:``. build: shell commands, run in the folder. locks: files of the
    bundled driver. jars_of: release of the Java client whose jars are compared with our lock.
    """

    sources: str
    program: str
    start: str
    build: tuple[str, ...] = ()
    locks: tuple[str, ...] = field(default=())
    jars_of: str = ""


SKELETONS: Mapping[str, Skeleton] = {
    "java": Skeleton(
        "java",
        "Driver.java",
        "java -cp classes:lib/* Driver",
        (
            f"mvn -q {_COPY} -DoutputDirectory=lib",
            f"sha256sum --check --quiet {_JARS}",
            "javac -cp 'lib/*' -d classes Driver.java",
        ),
        jars_of="5.3.3",
    ),
    "go": Skeleton("go", "main.go", "./driver", ("go build -o driver .",), ("go.mod", "go.sum")),
    "node": Skeleton(
        "node", "main.js", "node main.js", ("npm ci --ignore-scripts",), ("package.json", "package-lock.json")
    ),
    "rust": Skeleton(
        "rust",
        "src/main.rs",
        "./target/release/driver",
        ("cargo build --release --locked",),
        ("Cargo.toml", "Cargo.lock"),
    ),
    "python": Skeleton("python", "driver.py", "python driver.py"),
}
"""Of producers."""

CONSUMER_SKELETONS: Mapping[str, Skeleton] = {
    language: replace(SKELETONS[language], sources=f"consumer/{language}") for language in ("java", "python")
}
"""Of clients that show what they are allocated and which queues they work on."""

_BY_ROLE = {ClientRole.PRODUCER: SKELETONS, ClientRole.CONSUMER: CONSUMER_SKELETONS}


def skeleton_named(language: str, role: str = ClientRole.PRODUCER) -> Skeleton:
    """Return a skeleton; raises UsageError, with the known ones, for an unknown role or language."""
    if role not in _BY_ROLE:
        raise UsageError(f"a role, {' or '.join(_BY_ROLE)}", seen=printable(role, 50), hint="--role consumer")
    known = _BY_ROLE[ClientRole(role)]
    if language in known:
        return known[language]
    expected, seen = f"one of {', '.join(known)}", printable(language, 50)
    if language in SKELETONS:
        hint = f"subject init {next(iter(known))} shows every record of a {role}; your own driver: exec:"
        raise UsageError(f"{expected} for a {role}", seen=seen, hint=hint)
    raise UsageError(
        expected,
        seen=seen,
        hint="in another language, write a driver as in fixtures/examples/own-client.md, and name it exec:./driver",
    )


def write_skeleton(language: str, folder: Path, role: str = ClientRole.PRODUCER) -> Skeleton:
    """Write the files into a new or empty folder; raises UsageError if it has files or cannot be written."""
    skeleton = skeleton_named(language, role)
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(
                "an empty folder, or none yet", seen=printable(str(folder), 200), hint="name another folder"
            )
        shutil.copytree(resource(f"{_SOURCES}/{skeleton.sources}"), folder, dirs_exist_ok=True)
        for name in skeleton.locks:
            shutil.copyfile(resource(f"{_DRIVERS}/{language}") / name, folder / name)
        if skeleton.jars_of:
            if not (folder / _POM).exists():
                shutil.copyfile(resource(f"{_SOURCES}/{language}") / _POM, folder / _POM)
            jars = locked().clients[skeleton.jars_of]
            (folder / _JARS).write_text("".join(f"{jar.sha256}  lib/{jar.path.name}\n" for jar in jars))
    except OSError as problem:
        seen = problem.strerror or str(problem)
        raise UsageError(f"a folder {printable(str(folder), 200)} that can be written", seen=seen) from problem
    return skeleton
