"""
`rocketdiff identify` of a release or a build: executes every standard script, and finds the releases that answer alike.

The answers of the published releases are the golden data, so one client is executed only.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocketdiff.core.errors import ExitCode
from rocketdiff.lab.history.concerns import concern_of
from rocketdiff.lab.history.execution_cache import Executions
from rocketdiff.lab.history.groups_page import span
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.simulation.comparison import first_difference, outcome_of
from rocketdiff.simulation.golden.answers import Lines
from rocketdiff.simulation.golden.files import Golden
from rocketdiff.simulation.golden.standard import StandardScript
from rocketdiff.simulation.golden.wording import change_sentence

MOST_OTHERS = 5
"""Most releases that are listed individually after the nearest; the JSON form has all."""


@dataclass(frozen=True, slots=True)
class Departure:
    """A script that a client answers otherwise than the nearest release, in words of before (the release) and now."""

    script: str
    sentence: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Likeness:
    """Releases from which the client differs in the same scripts."""

    releases: tuple[str, ...]
    scripts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IdentifiedBuild:
    """
    The result for one client.

    scripts: number that were executed. likenesses: all releases, the nearest first. departures: from the nearest, gravest first.
    """

    client: str
    scripts: int
    likenesses: tuple[Likeness, ...]
    departures: tuple[Departure, ...]

    @property
    def releases(self) -> tuple[str, ...]:
        """Releases that answer every script alike."""
        return tuple(release for each in self.likenesses if not each.scripts for release in each.releases)


def identify_build(
    executions: Executions, client: str, scripts: Sequence[StandardScript], golden: Mapping[str, Golden]
) -> IdentifiedBuild:
    """Compare the client's answers to the scripts with those of every published release."""
    digests = executions.digests((client,), scripts)
    otherwise: dict[tuple[str, ...], list[str]] = {}
    for release in client_releases():
        named = tuple(
            script.name for script in scripts if _digest(golden, script, release) != digests[client, script.name]
        )
        otherwise.setdefault(named, []).append(release)
    likenesses = sorted(
        (Likeness(tuple(of), named) for named, of in otherwise.items()), key=lambda each: len(each.scripts)
    )
    nearest = likenesses[0]
    changed = [script for script in scripts if script.name in nearest.scripts]
    answers = executions.lines((client, script) for script in changed)
    found = [_departure(script, golden, nearest.releases[-1], answers[client, script.name]) for script in changed]
    departures = tuple(departure for _, departure in sorted(found, key=lambda each: each[0]))
    return IdentifiedBuild(client, len(scripts), tuple(likenesses), departures)


def _digest(golden: Mapping[str, Golden], script: StandardScript, release: str) -> str | None:
    group = golden[script.name].of(release)
    return group.digest if group else None


def _departure(
    script: StandardScript, golden: Mapping[str, Golden], release: str, lines: Lines
) -> tuple[int, Departure]:
    """Its gravity, and the departure."""
    group = golden[script.name].of(release)
    before = group.lines if group else ()
    difference, outcome = first_difference(script.name, before, lines), outcome_of(before, lines)
    assert difference is not None, "digests that differ are of answers that differ"
    sentence = change_sentence(script, golden, before, lines)
    return concern_of(difference.compared, outcome), Departure(script.name, sentence, outcome.words if outcome else "")


def exit_code(found: IdentifiedBuild) -> ExitCode:
    """Return DIVERGES if no published release behaves like the client, else CONFORMS."""
    return ExitCode.CONFORMS if found.releases else ExitCode.DIVERGES


def identified_build_lines(found: IdentifiedBuild) -> Iterator[str]:
    """Yield lines for a terminal."""
    nearest, *others = found.likenesses
    if found.releases:
        yield f"behaves like {', '.join(found.releases)} in {found.scripts} scripts"
    else:
        yield "behaves like no published release"
        alike = found.scripts - len(nearest.scripts)
        yield f"nearest: {span(nearest.releases)}, in {alike} of {found.scripts} scripts, but not in"
    for departure in found.departures:
        if departure.outcome and departure.outcome not in departure.sentence:
            yield f"  {departure.script}: {departure.outcome}; {departure.sentence}"
        else:
            yield f"  {departure.script}: {departure.sentence}"
    for other in others[:MOST_OTHERS]:
        rest = f", {other.scripts[1]} …" if len(other.scripts) > 1 else ""
        yield f"not {span(other.releases)}: {len(other.scripts)} scripts, {other.scripts[0]}{rest}"
    if len(others) > MOST_OTHERS:
        yield f"and {len(others) - MOST_OTHERS} more groups of releases; --json lists them"


def identified_build_data(found: IdentifiedBuild) -> dict[str, Any]:
    """Return the result as JSON data."""
    return {
        "client": found.client,
        "releases": list(found.releases),
        "scripts": found.scripts,
        "departures": [
            {"script": each.script, "outcome": each.outcome, "sentence": each.sentence} for each in found.departures
        ],
        "likenesses": [{"releases": list(each.releases), "otherwise": list(each.scripts)} for each in found.likenesses],
    }
