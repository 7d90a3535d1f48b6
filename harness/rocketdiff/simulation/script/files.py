"""Loads scripts from files or standard input."""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rocketdiff.core.errors import UsageError
from rocketdiff.core.files import read_bytes
from rocketdiff.core.resources import locate
from rocketdiff.simulation.script import parse_script
from rocketdiff.simulation.script.model import NamedScript
from rocketdiff.simulation.script.reading import MOST_CHARACTERS

STANDARD_INPUT = "-"
SHIPPED = "fixtures/simulation/scripts/"


def load_scripts(paths: Sequence[str]) -> tuple[NamedScript, ...]:
    """
    Load scripts, each named by its file; files of the same name also get the folders that distinguish them.

    Raises UsageError for an unreadable or invalid file, and for a file that is given twice.
    """
    if paths.count(STANDARD_INPUT) > 1:
        raise UsageError("standard input once", seen=f"{paths.count(STANDARD_INPUT)} times")
    files = [Path(path).resolve() for path in paths if path != STANDARD_INPUT]
    if twice := [str(file) for file, times in Counter(files).items() if times > 1]:
        raise UsageError("every --script once", seen=f"{twice[0]} more than once")
    return tuple(_load(path, _name(Path(path).resolve(), files)) for path in paths)


def _name(file: Path, files: Sequence[Path]) -> str:
    """The shortest end of a file's path that no other file has; with the suffix if only that differs."""
    for longest in range(1, len(file.parts)):
        tail = _tail(file.with_suffix(""), longest)
        if sum(_tail(other.with_suffix(""), longest) == tail for other in files) <= 1:
            return tail
    return file.name


def _tail(file: Path, longest: int) -> str:
    return "/".join(file.parts[1:][-longest:])


def _shipped(path: str) -> Path | None:
    """A standard script by its repository path, as changelog and identify print it; also works without a checkout."""
    return locate(path) if path.startswith(SHIPPED) and not Path(path).exists() else None


def _load(path: str, name: str) -> NamedScript:
    if path == STANDARD_INPUT:
        return NamedScript("stdin", parse_script(sys.stdin.buffer.read(), "stdin"))
    file = _shipped(path) or Path(path)
    hint = "a folder of scripts is given as folder/*.json" if file.is_dir() else "check the path"
    content = read_bytes(file, "script file", most=MOST_CHARACTERS, hint=hint)
    return NamedScript(name, parse_script(content, name))
