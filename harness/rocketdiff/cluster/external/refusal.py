"""One clear sentence for whatever is wrong with a cluster file: where it stands, what was expected there, what was seen."""

import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import msgspec

from rocketdiff.cluster.external import file_format as form
from rocketdiff.core.errors import UsageError
from rocketdiff.core.plain import shown

Location = tuple[str | int, ...]
Place = Callable[[Location], str]
"""From a location in the data to ``file line 12``."""

_COMMAND = "a command: a line for the shell, or a list of a program and its arguments"
_EXPECTED = {
    "format": f"format: {form.FORMAT}",
    "name": "a name of letters, digits, dots, hyphens and underscores",
    "topic_prefix": "3 to 40 letters, digits, hyphens and underscores",
    "address": "an address such as 10.0.0.5:9876",
    "name_servers": "a list of at least one name server",
    "brokers": "brokers by letter, such as a: {name: broker-a}",
    "server_release": "a release such as 5.3.3, in quotes where it could be a number",
    "command_timeout_s": "seconds, more than 0 and at most 600",
} | dict.fromkeys(("pause", "resume", "kill", "restart", "state"), _COMMAND)
"""By field, where msgspec does not say what would be right."""

_MISSING = re.compile(r"Object missing required field `(.+?)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(.+?)`")


def refused(place: Place, location: Location, *, expected: str, seen: str, hint: str = "") -> UsageError:
    """The error for one place of a file."""
    return UsageError(f"{expected} at {dotted(location)} ({place(location)})", seen=seen, hint=hint)


def refusal(data: object, problem: msgspec.ValidationError, place: Place) -> UsageError:
    """What msgspec found wrong with the data, in our own words."""
    said, _, path = str(problem).partition(" - at ")
    location = _location(path, data)
    if match := _MISSING.fullmatch(said):
        return refused(place, location, expected=f"the field {match[1]}", seen="nothing", hint=f"add {match[1]}")
    if match := _UNKNOWN.fullmatch(said):
        known = _fields_at(location)
        close = get_close_matches(match[1], known, n=1)
        where = (*location, match[1])
        return refused(
            place, where, expected=f"one of the fields {', '.join(known)}", seen=shown(match[1]), hint=_first(close)
        )
    names = [step for step in location if isinstance(step, str)]
    field = next((name for name in reversed(names) if name in _EXPECTED), "")
    expected = _EXPECTED.get(field) or said.removeprefix("Expected ").replace("`", "")
    return refused(place, location, expected=expected, seen=_shown(data, location))


def dotted(location: Location) -> str:
    """``name_servers[0].address``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return text.removeprefix(".") or "the top level"


def _location(path: str, data: Any) -> Location:
    """
    From msgspec's `` `$.brokers[...].pause[0]` `` to steps.

    It does not tell keys, but it reads them in order: the first part of the mapping that is not right is meant.
    """
    steps: list[str | int] = []
    for name, number, anonymous in re.findall(r"\.(\w+)|\[(\d+)\]|(\[\.\.\.\])|key\(s\)", path):
        if anonymous:
            steps.append(_first_wrong(data))
        elif name or number:
            steps.append(name or int(number))
        data = data[steps[-1]] if steps else data
    return tuple(steps)


def _first_wrong(brokers: dict[str, Any]) -> str:
    for letter, part in brokers.items():
        try:
            msgspec.convert({letter: part}, dict[form.Letter, form.BrokerPart])
        except msgspec.ValidationError:
            return letter
    raise AssertionError("unreachable: msgspec found one of them wrong")


def _fields_at(location: Location) -> tuple[str, ...]:
    parts: dict[str | int, type[msgspec.Struct]] = {"name_servers": form.NameServerPart, "brokers": form.BrokerPart}
    part = parts[location[0]] if location else form.ClusterFile
    return tuple(field.encode_name for field in msgspec.structs.fields(part))


def _first(texts: list[str]) -> str:
    return texts[0] if texts else ""


def _shown(data: Any, location: Location) -> str:  # whatever YAML holds
    for step in location:
        data = data[step]
    return shown(data)
