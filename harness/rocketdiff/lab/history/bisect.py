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
from rocketdiff.simulation.comparison import AnswerDifference, first_difference, outcome_of
from rocketdiff.simulation.golden.answers import Lines
from rocketdiff.simulation.golden.files import load_golden
from rocketdiff.simulation.golden.standard import StandardScript
from rocketdiff.simulation.golden.wording import change_sentence, difference_words
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
    """Yield lines for a terminal; of a standard script, each change in its words first."""
    yield f"{script.name}: {len(turns) or 'no'} change{'s' * (len(turns) != 1)} at {len(edges)} steps between releases"
    for turn in turns:
        shown = difference_words(turn.difference)
        if isinstance(script, StandardScript):
            yield f"{turn.edge}: {_sentence(script, turn)}"
            yield f"  differs: {shown}"
        else:
            yield f"{turn.edge}, {shown}"
        if outcome := outcome_of(turn.before, turn.after):
            yield f"  outcome: {outcome.words}"
        yield f"  before: {turn.difference.lines[0] or 'no such line'}"
        yield f"  after:  {turn.difference.lines[1] or 'no such line'}"


def bisect_data(script: NamedScript, turns: Sequence[Turn], edges: Sequence[Edge]) -> dict[str, Any]:
    """Return the result as JSON data, with both complete answers."""
    words = {} if not isinstance(script, StandardScript) else {"shows": script.about.shows}
    return {
        "script": script.name,
        **words,
        "edges": [
            {
                "from": turn.edge.before,
                "to": turn.edge.after,
                "side": turn.edge.side,
                **({"sentence": _sentence(script, turn)} if isinstance(script, StandardScript) else {}),
                "line": turn.difference.line,
                "before": list(turn.before),
                "after": list(turn.after),
            }
            for turn in turns
        ],
        "steps": len(edges),
    }


def _sentence(script: StandardScript, turn: Turn) -> str:
    return change_sentence(script, load_golden(), turn.before, turn.after)
