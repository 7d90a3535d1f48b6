"""
Finds the releases that explain observed behaviour, and how certain that is; the result for people and for programs.

Observations are answer lines of scripts; they are compared with every release's own answers to the same scripts.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from rocketdiff.core.errors import UsageError
from rocketdiff.lab.history.coverage import coverage_of
from rocketdiff.lab.history.execution_cache import Executions
from rocketdiff.lab.history.groups_page import span
from rocketdiff.simulation.golden.answers import Lines
from rocketdiff.simulation.golden.files import Golden
from rocketdiff.simulation.golden.standard import SCRIPTS, StandardScript
from rocketdiff.simulation.script import NamedScript

NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Rejected:
    """Releases that would have behaved differently: where first, what they would have done, and what was observed."""

    releases: tuple[str, ...]
    where: str
    expected: str
    seen: str


@dataclass(frozen=True, slots=True)
class Identified:
    """
    The result for one client.

    releases: those that explain everything. telling of observations: how many could distinguish them from the rejected ones.
    undecided: observations that could not be judged. unexercised: situations that did not occur. separating: scripts that
    distinguish the remaining releases.
    """

    releases: tuple[str, ...]
    rejected: tuple[Rejected, ...]
    telling: int
    observations: int
    unexercised: tuple[str, ...]
    separating: tuple["Separator", ...]
    undecided: int = 0


@dataclass(frozen=True, slots=True)
class Separator:
    """A standard script and how it divides the remaining releases."""

    script: StandardScript
    parts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class GoldenAnswers:
    """The standard scripts and every release's answers to them, to suggest what would distinguish more."""

    standard: Sequence[StandardScript]
    golden: Mapping[str, Golden]


def read_observed(text: str, scripts: Sequence[NamedScript]) -> dict[str, Lines]:
    """
    Answer lines by script, as ``simulate`` printed them.

    A single script may have had another name. UsageError for a line that is no answer, or of an unknown script.
    """
    seen: dict[str, list[dict[str, Any]]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and (answer := _answer(line, number)) is not None:
            seen.setdefault(str(answer["script"]), []).append(answer)
    names = {script.name for script in scripts}
    if not seen:
        raise UsageError("answer lines, as rocketdiff simulate prints them", seen="none in the file")
    if len(seen) == len(names) == 1:
        ((name, lines),) = zip(names, seen.values(), strict=True)
        # It may have come from standard input then.
        seen = {name: [answer | {"script": name} for answer in lines]}
    if unknown := sorted(seen.keys() - names):
        raise UsageError("the --script of every answer", seen=f"answers to {', '.join(unknown)}", hint="add it")
    if silent := sorted(names - seen.keys()):
        raise UsageError("answers to every --script", seen=f"none to {', '.join(silent)}", hint="leave it out")
    return {name: tuple(json.dumps(answer, ensure_ascii=False) for answer in lines) for name, lines in seen.items()}


def identify(
    executions: Executions,
    observed: Mapping[str, Lines],
    scripts: Sequence[NamedScript],
    releases: Sequence[str],
    known: GoldenAnswers,
) -> Identified:
    """The releases whose answers equal the observed ones."""
    answers = executions.lines((release, script) for release in releases for script in scripts)
    predicted = {release: {script.name: answers[release, script.name] for script in scripts} for release in releases}
    explaining = tuple(release for release in releases if _contradiction(predicted[release], observed) is None)
    others = [release for release in releases if release not in explaining]
    telling = sum(
        any(not _is_same(_line(predicted[release][name], number), line) for release in others)
        for name, lines in observed.items()
        for number, line in enumerate(lines)
    )
    happened = coverage_of((script.script, observed[script.name]) for script in scripts)
    return Identified(
        releases=explaining,
        rejected=_rejected(others, predicted, observed),
        telling=telling,
        observations=sum(map(len, observed.values())),
        unexercised=happened.missing,
        separating=separators(explaining, known),
    )


def separators(releases: Sequence[str], known: GoldenAnswers) -> tuple[Separator, ...]:
    """A small set of small standard scripts that distinguishes the releases as far as any script does."""
    chosen: list[Separator] = []
    together = [tuple(releases)]
    while splits := [
        split for script in known.standard if (split := _split(script, together, known.golden)) is not None
    ]:
        best = min(splits, key=lambda split: (-len(split.parts), split.script.size))
        chosen.append(best)
        together = [part for part in best.parts if len(part) > 1]
    return tuple(chosen)


def _split(
    script: StandardScript, together: Sequence[tuple[str, ...]], golden: Mapping[str, Golden]
) -> Separator | None:
    answers = golden.get(script.name)
    if answers is None:
        return None
    parts: dict[tuple[int, Lines], list[str]] = {}
    for number, releases in enumerate(together):
        for release in releases:
            group = answers.of(release)
            parts.setdefault((number, group.lines if group else ()), []).append(release)
    found = tuple(tuple(part) for part in parts.values())
    return Separator(script, found) if len(found) > len(together) else None


def _rejected(
    others: Sequence[str], predicted: Mapping[str, Mapping[str, Lines]], observed: Mapping[str, Lines]
) -> tuple[Rejected, ...]:
    found: dict[tuple[str, str, str], list[str]] = {}
    for release in others:
        contradiction = _contradiction(predicted[release], observed)
        assert contradiction is not None
        found.setdefault(contradiction, []).append(release)
    return tuple(Rejected(tuple(releases), *contradiction) for contradiction, releases in found.items())


def _contradiction(predicted: Mapping[str, Lines], observed: Mapping[str, Lines]) -> tuple[str, str, str] | None:
    """The first difference between a release and the observation: where, expected, observed; None without one."""
    for name, lines in observed.items():
        for number, (expected, seen) in enumerate(zip_longest(predicted[name], lines)):
            if not _is_same(expected, seen):
                return f"{name}, line {number}", expected or NOTHING, seen or NOTHING
    return None


def _is_same(one: str | None, other: str | None) -> bool:
    """Whether two lines are equal, ignoring the order of keys."""
    return one == other or (one is not None and other is not None and _meaning(one) == _meaning(other))


@lru_cache(maxsize=65_536)
def _meaning(line: str) -> str:
    return json.dumps(json.loads(line), sort_keys=True)


def _line(lines: Lines, number: int) -> str | None:
    return lines[number] if number < len(lines) else None


def _answer(line: str, number: int) -> dict[str, Any] | None:
    """A line's answer without the state that a trace adds; None for a line with state only."""
    try:
        answer = json.loads(line)
        is_answer = "script" in answer and isinstance(answer, dict)
    except (ValueError, TypeError, RecursionError):
        is_answer = False
    if not is_answer:
        hint = "give a run directory, or what rocketdiff simulate printed"
        raise UsageError("an answer with its script in every line", seen=f"line {number}: {line[:80]}", hint=hint)
    answer.pop("state", None)
    return None if any(value is True for value in answer.values()) else answer


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
    for rejected in found.rejected:
        yield f"  {span(rejected.releases)}: {rejected.where}"
        yield f"    expected {_short(rejected.expected)}"
        yield f"    saw      {_short(rejected.seen)}"
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
            {
                "releases": list(rejected.releases),
                "where": rejected.where,
                "expected": rejected.expected,
                "seen": rejected.seen,
            }
            for rejected in found.rejected
        ],
        "not_exercised": list(found.unexercised),
        "would_separate": [
            {"file": f"{SCRIPTS}/{separator.script.name}.json", "parts": [list(part) for part in separator.parts]}
            for separator in found.separating
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
