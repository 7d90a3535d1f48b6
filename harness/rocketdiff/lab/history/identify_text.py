"""The result of identify, for people and for programs."""

from collections.abc import Iterator
from typing import Any

from rocketdiff.lab.history.groups_page import span
from rocketdiff.lab.history.identify import Identified, Separator
from rocketdiff.simulation.golden.standard import SCRIPTS

MOST_CHARACTERS = 300
"""Length of an answer line on a terminal; the JSON form has all of it."""

MOST_SEPARATORS = 5
"""Suggested scripts on a terminal: after these the user asks again; the JSON form has all."""

MOST_PARTS = 4
"""Groups of releases, and releases of a group, that are listed one by one."""


def identified_lines(found: Identified) -> Iterator[str]:
    """Lines for a terminal."""
    if found.releases and not found.rejected:
        yield "behaves like every published release: nothing that was seen tells them apart"
    elif found.releases:
        yield f"behaves like {', '.join(found.releases)}"
    else:
        yield "behaves like no published release"
    yield f"{found.telling} of {found.observations} observations tell releases apart"
    if found.undecided:
        yield f"{found.undecided} observations could not be judged"
    if found.rejected:
        yield "not explained by"
    for one in found.rejected:
        yield f"  {span(one.releases)}: {one.where}"
        yield f"    expected {_short(one.expected)}"
        yield f"    saw      {_short(one.seen)}"
    if found.unexercised:
        yield f"nothing was seen of: {', '.join(found.unexercised)}"
    for separator in found.separating[:MOST_SEPARATORS]:
        yield f"would tell more: {SCRIPTS}/{separator.script.name}.json separates {_parts(separator)}"
    if len(found.separating) > MOST_SEPARATORS:
        yield f"and {len(found.separating) - MOST_SEPARATORS} more scripts; --json lists them"


def identified_data(found: Identified) -> dict[str, Any]:
    """The same as data."""
    return {
        "releases": list(found.releases),
        "telling": found.telling,
        "observations": found.observations,
        "undecided": found.undecided,
        "rejected": [
            {"releases": list(one.releases), "where": one.where, "expected": one.expected, "seen": one.seen}
            for one in found.rejected
        ],
        "not_exercised": list(found.unexercised),
        "would_separate": [
            {"file": f"{SCRIPTS}/{one.script.name}.json", "parts": [list(part) for part in one.parts]}
            for one in found.separating
        ],
    }


def _parts(separator: Separator) -> str:
    """The groups of releases by first and last; many groups by their number."""
    parts = separator.parts
    if len(parts) > MOST_PARTS:
        return f"{sum(map(len, parts))} releases into {len(parts)} groups"
    return " | ".join(f"{part[0]} … {part[-1]}" if len(part) > MOST_PARTS else span(part) for part in parts)


def _short(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} …"
