"""One clear sentence for whatever is wrong with a ledger: where it stands, what was expected there, what was seen."""

import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import msgspec

from rocketdiff.core.errors import UsageError
from rocketdiff.core.plain import shown
from rocketdiff.ledger import file_format as form

Location = tuple[str | int, ...]
Place = Callable[[Location], str]
"""From a location in the data to ``file line 12``."""

_EXPECTED = {
    "schemaVersion": f'the text "{form.VERSION}", in quotes',
    "id": "an id of letters, digits, dots and hyphens",
    "check": "a glob over <scenario>/<check>, without the pair of subjects, such as fault-latency/**/avoidance",
    "fault": "one of paused_brokers, killed_brokers, paused_name_servers, paused_slaves, killed_slaves, read_only_brokers, "
    "flow_controlled_brokers, unflushed_brokers, delayed_brokers, reset_brokers, swallowed_brokers, with a range such as '>=1'",
    "occurrence": "always, or {rate: [0.02, 0.20]}",
    "severity": "must, should or info",
    "status": "active or proposed",
    "reason": "a sentence of at least 20 characters",
    "ref": "an issue, a pull request or a page",
    "added": "a date such as 2026-11-21",
    "trace": "sha256: and 64 hexadecimal digits",
}
"""By field, where msgspec does not say what would be right."""

_PARTS: dict[str, type[msgspec.Struct]] = {
    "entries": form.EntryPart,
    "when": form.WhenPart,
    "against": form.AgainstPart,
    "occurrence": form.RatePart,
    "evidence": form.EvidencePart,
    "defaults": form.DefaultsPart,
}

_MISSING = re.compile(r"Object missing required field `(.+?)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(.+?)`")


def refused(place: Place, location: Location, *, expected: str, seen: str, hint: str = "") -> UsageError:
    """The error for one place of a file."""
    return UsageError(f"{expected} at {dotted(location)} ({place(location)})", seen=seen, hint=hint)


def refusal(data: object, problem: msgspec.ValidationError, place: Place, above: Location = ()) -> UsageError:
    """What msgspec found wrong in a file's data, in our own words; ``above``: where the part stands that it was given."""
    said, _, path = str(problem).partition(" - at ")
    location = (*above, *_location(path))
    if match := _MISSING.fullmatch(said):
        return refused(place, location, expected=f"the field {match[1]}", seen="nothing", hint=f"add {match[1]}")
    if match := _UNKNOWN.fullmatch(said):
        known = _fields_at(location)
        close = get_close_matches(match[1], known)
        hint = close[0] if close else ""
        return refused(
            place, location, expected=f"one of the fields {', '.join(known)}", seen=shown(match[1]), hint=hint
        )
    names = [step for step in location if isinstance(step, str)]
    expected = _EXPECTED.get(names[-1] if names else "") or said.removeprefix("Expected ").replace("`", "")
    return refused(place, location, expected=expected, seen=_shown(data, location))


def dotted(location: Location) -> str:
    """``entries[0].when``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return text.removeprefix(".") or "the top level"


def _location(path: str) -> Location:
    """From msgspec's `` `$.entries[0].when.fault[...]` `` to its named steps."""
    steps = re.findall(r"\.(\w+)|\[(\d+)\]", path)
    return tuple(name or int(number) for name, number in steps)


def _fields_at(location: Location) -> tuple[str, ...]:
    names = [step for step in location if isinstance(step, str)]
    part = _PARTS[names[-1]] if names else form.LedgerFile
    return tuple(field.encode_name for field in msgspec.structs.fields(part))


def _shown(data: Any, location: Location) -> str:  # whatever YAML holds
    for step in location:
        data = data[step]
    return shown(data)
