"""
Options of `run` and `compare` from a file: `rocketdiff.toml`, else `[tool.rocketdiff]` of `pyproject.toml`, in the current folder.

Both have the option names of the command line, such as `suite = "full"`. What the command line states wins.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.run_options import FOR_COMPARE, RUN_OPTIONS, RunOption
from rocketdiff.core.text.quoted import word

OWN_FILE, SHARED_FILE, TABLE = "rocketdiff.toml", "pyproject.toml", "rocketdiff"

_NOT_IN_A_FILE = ("bisect", "dry-run", "last-failed")
"""They change what one call of the command means."""

_TYPES: Mapping[type, str] = {str: "a text", Path: "a path as text", int: "a whole number", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class OptionFile:
    """values: by the option's key, checked. place: the file as users name it."""

    place: str
    values: Mapping[str, Any]

    def defaults(self) -> dict[str, dict[str, Any]]:
        """Values by command, which its parser takes where the command line has none."""
        compared = {RUN_OPTIONS[name].key for name in FOR_COMPARE}
        return {
            "run": dict(self.values),
            "compare": {key: value for key, value in self.values.items() if key in compared},
        }

    def __str__(self) -> str:
        return f"options from {self.place}: {', '.join(key.replace('_', '-') for key in self.values)}"


def options_in(folder: Path) -> OptionFile | None:
    """Return the options that the files of a folder state, None without any. Raises UsageError for a wrong one."""
    own, shared = folder / OWN_FILE, folder / SHARED_FILE
    if own.is_file():
        return _checked(OWN_FILE, _table(own))
    stated = _table(shared).get("tool", {}).get(TABLE) if shared.is_file() else None
    return None if stated is None else _checked(f"[tool.{TABLE}] of {SHARED_FILE}", stated)


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UsageError(
            f"TOML in {path.name}", seen=str(error), hint="correct it, or call from another folder"
        ) from error


def _checked(place: str, stated: Mapping[str, Any]) -> OptionFile:
    known = {name: option for name, option in RUN_OPTIONS.items() if name not in _NOT_IN_A_FILE}
    for name, value in stated.items():
        if name not in known:
            near = next(iter(get_close_matches(name, known, n=1)), ", ".join(known))
            raise UsageError(f"options of `rocketdiff run` in {place}", seen=word(name), hint=near)
        if not _fits(known[name], value):
            kind = _TYPES[known[name].type]
            expected = f"a list, each {kind}" if known[name].is_many else kind
            raise UsageError(f"{expected} for {name} in {place}", seen=word(str(value)))
    return OptionFile(place, {known[name].key: value for name, value in stated.items()})


def _fits(option: RunOption, value: object) -> bool:
    kind = str if option.type is Path else option.type
    if option.is_many:
        return isinstance(value, list) and all(type(each) is kind for each in value)
    return type(value) is kind
