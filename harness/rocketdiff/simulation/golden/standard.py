"""
The standard scripts, one behaviour each, with descriptions for operators.

Scripts and descriptions are in separate folders (``fixtures/simulation/scripts`` and ``about``), so that a script runs as it
is. A description belongs to an answer, which it identifies by a release with that golden answer.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

from rocketdiff.core.errors import HarnessError
from rocketdiff.core.resources import resource
from rocketdiff.simulation.script import Depth, NamedScript, depth_of, parse_script
from rocketdiff.simulation.script.roles import ROLE_DEPTHS, role_with

SCRIPTS = "fixtures/simulation/scripts"
ABOUT = "fixtures/simulation/about"

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The C loader, if PyYAML has it: ten times faster."""


@dataclass(frozen=True, slots=True)
class About:
    """
    The description of a standard script.

    rows: rows of the behaviour tables that it shows. matters: what a changed answer means for an operator. answers: each
    answer in words, by the first release that gives it. follows: scripts whose change explains a change of this one.
    """

    rows: tuple[str, ...]
    shows: str
    matters: str
    answers: Mapping[str, str]
    follows: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class StandardScript(NamedScript):
    """A script of the standard set."""

    about: About

    @property
    def depth(self) -> Depth:
        return depth_of(self.script)

    @property
    def size(self) -> tuple[int, int]:
        """Number of steps, then number of characters."""
        return len(self.script.steps), len(repr(self.script))


@cache
def load_standard() -> tuple[StandardScript, ...]:
    """Return all standard scripts, sorted by depth and name."""
    return read_standard(resource(SCRIPTS), resource(ABOUT))


def read_standard(scripts: Path, about: Path) -> tuple[StandardScript, ...]:
    """Read scripts and descriptions; HarnessError if a script or a description has no counterpart."""
    files = {file.stem: file for file in scripts.glob("*.json")}
    words = _read_about(sorted(about.glob("*.yaml")))
    _require_same(set(files), set(words))
    found = [
        StandardScript(name, parse_script(file.read_text("utf-8"), name), words[name]) for name, file in files.items()
    ]
    order = list(Depth)
    return tuple(sorted(found, key=lambda script: (order.index(script.depth), script.name)))


def up_to(depth: Depth, scripts: Iterable[StandardScript]) -> tuple[StandardScript, ...]:
    """Return the scripts of this depth and of those below it in its role."""
    depths = depths_up_to(depth)
    return tuple(script for script in scripts if script.depth in depths)


def depths_up_to(depth: Depth) -> tuple[Depth, ...]:
    """Return this depth and those below it in its role."""
    order = ROLE_DEPTHS[role_with(depth)].order
    return order[: order.index(depth) + 1]


def _read_about(files: Iterable[Path]) -> dict[str, About]:
    words: dict[str, About] = {}
    for file in files:
        for name, raw in _entries(file).items():
            if name in words:
                raise HarnessError("words for a standard script in one place", seen=f"{name} again in {file.name}")
            words[name] = _about(raw, name, file)
    return words


def _entries(file: Path) -> dict[str, Any]:
    loaded = yaml.load(file.read_text("utf-8"), Loader=_LOADER)  # noqa: S506 - both are safe loaders
    if not isinstance(loaded, dict):
        raise HarnessError(f"a mapping of scripts in {file.name}", seen=type(loaded).__name__)
    return loaded


def _about(raw: object, name: str, file: Path) -> About:
    try:
        return msgspec.convert(raw, About)
    except msgspec.ValidationError as problem:
        raise HarnessError(f"words for the standard script {name} in {file.name}", seen=str(problem)) from problem


def _require_same(scripts: set[str], words: set[str]) -> None:
    if scripts != words:
        odd = ", ".join(sorted(scripts ^ words))
        raise HarnessError(f"each standard script in {SCRIPTS} and in {ABOUT}", seen=f"only in one of them: {odd}")
