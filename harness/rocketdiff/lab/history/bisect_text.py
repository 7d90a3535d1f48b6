"""The changes of one script's answer, for people and for programs."""

from collections.abc import Iterator, Sequence
from typing import Any

from rocketdiff.lab.history.bisect import Turn
from rocketdiff.lab.history.lineage import Edge
from rocketdiff.simulation.golden.wording import told
from rocketdiff.simulation.script import NamedScript


def bisect_lines(script: NamedScript, turns: Sequence[Turn], edges: Sequence[Edge]) -> Iterator[str]:
    """Lines for a terminal."""
    yield f"{script.name}: {len(turns) or 'no'} change{'s' * (len(turns) != 1)} at {len(edges)} steps between releases"
    for turn in turns:
        yield f"{turn.edge}, {told(turn.difference)}"
        yield f"  before: {turn.difference.lines[0] or 'no such line'}"
        yield f"  after:  {turn.difference.lines[1] or 'no such line'}"


def bisect_data(script: NamedScript, turns: Sequence[Turn], edges: Sequence[Edge]) -> dict[str, Any]:
    """The same as data, with both answers whole."""
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
