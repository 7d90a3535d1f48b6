"""
Finds the edges of the release lines at which a script's answer changes.

Every edge is tried, because an answer may change back.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rocketdiff.lab.history.execution_cache import Executions
from rocketdiff.lab.history.lineage import Edge, every_edge, releases_on, way
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.simulation.comparison import AnswerDifference, first_difference
from rocketdiff.simulation.golden.answers import Lines
from rocketdiff.simulation.golden.wording import difference_words
from rocketdiff.simulation.script import NamedScript


@dataclass(frozen=True, slots=True)
class Turn:
    """An edge at which the answer changes."""

    edge: Edge
    before: Lines
    after: Lines
    difference: AnswerDifference


def edges_between(first: str | None, last: str | None) -> tuple[Edge, ...]:
    """Return the edges between two releases, by default the oldest and the newest; without both, every edge of every line."""
    if first is None and last is None:
        return every_edge()
    releases = client_releases()
    return way(first or releases[0], last or releases[-1]).edges


def bisect(executions: Executions, script: NamedScript, edges: Sequence[Edge]) -> tuple[Turn, ...]:
    """Return the edges at which the answer changes, in order."""
    answers = executions.lines((release, script) for release in releases_on(edges))
    turns = []
    for edge in edges:
        before, after = answers[edge.before, script.name], answers[edge.after, script.name]
        difference = first_difference(script.name, before, after)
        if difference is not None:
            turns.append(Turn(edge, before, after, difference))
    return tuple(turns)


def bisect_lines(script: NamedScript, turns: Sequence[Turn], edges: Sequence[Edge]) -> Iterator[str]:
    """Yield lines for a terminal."""
    yield f"{script.name}: {len(turns) or 'no'} change{'s' * (len(turns) != 1)} at {len(edges)} steps between releases"
    for turn in turns:
        yield f"{turn.edge}, {difference_words(turn.difference)}"
        yield f"  before: {turn.difference.lines[0] or 'no such line'}"
        yield f"  after:  {turn.difference.lines[1] or 'no such line'}"


def bisect_data(script: NamedScript, turns: Sequence[Turn], edges: Sequence[Edge]) -> dict[str, Any]:
    """Return the result as JSON data, with both complete answers."""
    return {
        "script": script.name,
        "edges": [
            {
                "from": turn.edge.before,
                "to": turn.edge.after,
                "side": turn.edge.side,
                "line": turn.difference.line,
                "before": list(turn.before),
                "after": list(turn.after),
            }
            for turn in turns
        ],
        "steps": len(edges),
    }
