"""
Drivers to begin with, one a language: `rocketdiff subject init`.

Each is a program of its language under 150 lines that passes `rocketdiff subject check` as it is, with a client that there is; its author
puts another in its place. What locks the versions is that of the driver that comes with rocketdiff.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rocketdiff.core.errors import UsageError
from rocketdiff.core.resources import resource
from rocketdiff.core.text.quoted import plain

_SOURCES = "fixtures/skeletons"
_DRIVERS = "harness/rocketdiff/drivers"


@dataclass(frozen=True, slots=True)
class Skeleton:
    """
    One language's driver.

    program: the file to change. locks: files of the driver that comes with rocketdiff. build: commands, in the folder, for a shell. start:
    the command after ``exec:``.
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
    """UsageError, with the languages there are, for any other."""
    found = SKELETONS.get(language)
    if found is None:
        raise UsageError(f"one of {', '.join(SKELETONS)}", seen=plain(language, 50), hint="any other language: exec:")
    return found


def write_skeleton(language: str, folder: Path) -> Skeleton:
    """Puts the files into a folder, which is made; UsageError for one that has files or cannot be written."""
    skeleton = skeleton_named(language)
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError("an empty folder, or none yet", seen=plain(str(folder), 200), hint="name another folder")
        shutil.copytree(resource(f"{_SOURCES}/{language}"), folder, dirs_exist_ok=True)
        for name in skeleton.locks:
            shutil.copyfile(resource(f"{_DRIVERS}/{language}") / name, folder / name)
    except OSError as problem:
        seen = problem.strerror or str(problem)
        raise UsageError(f"a folder {plain(str(folder), 200)} that can be written", seen=seen) from problem
    return skeleton
