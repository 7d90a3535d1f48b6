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

_SOURCES = "fixtures/skeletons"
_DRIVERS = "harness/rocketdiff/drivers"


@dataclass(frozen=True, slots=True)
class Skeleton:
    """
    The driver of one language.

    program: file to change. start: command after ``exec:``. build: shell commands, run in the folder. locks: files of the
    bundled driver.
    """

    program: str
    start: str
    build: tuple[str, ...] = ()
    locks: tuple[str, ...] = field(default=())


SKELETONS: Mapping[str, Skeleton] = {
    "java": Skeleton(
        "Driver.java",
        "java -cp classes:lib/* Driver",
        ("mvn -q dependency:copy-dependencies -DoutputDirectory=lib", "javac -cp 'lib/*' -d classes Driver.java"),
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
    except OSError as problem:
        seen = problem.strerror or str(problem)
        raise UsageError(f"a folder {printable(str(folder), 200)} that can be written", seen=seen) from problem
    return skeleton
