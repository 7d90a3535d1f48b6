"""A changelog for people and for programs."""

from collections.abc import Iterator, Sequence
from typing import Any

from rocketdiff.lab.history.changelog import Change, EdgeChanges
from rocketdiff.lab.history.lineage import Edge, Way
from rocketdiff.simulation.golden.standard import SCRIPTS
from rocketdiff.simulation.golden.wording import told
from rocketdiff.simulation.script import canonical, to_dict


def changelog_lines(way: Way, found: Sequence[EdgeChanges]) -> Iterator[str]:
    """Lines for a terminal: edges with changes in order, the others in one list at the end."""
    if way.turns_at:
        yield f"neither release comes from the other: back to their common ancestor {way.turns_at}, forward from there"
        yield ""
    for one in found:
        if one.changes:
            yield f"{one.edge} (side line; not on the way)" if one.edge.side else str(one.edge)
            for change in one.changes:
                yield from _change_lines(change)
            if one.random:
                yield f"  {random_words(one.random)}"
            yield ""
    if unchanged := [one.edge for one in found if not one.changes]:
        yield f"no observable change: {', '.join(str(edge) for edge in unchanged)}"


def changelog_data(way: Way, found: Sequence[EdgeChanges]) -> dict[str, Any]:
    """The same as data: ``edges`` with changes, ``unchanged`` the others."""
    return {
        "turns_at": way.turns_at,
        "edges": [
            _edge_data(one.edge)
            | {"changes": [change_data(change) for change in one.changes], "random_scripts": one.random}
            for one in found
            if one.changes
        ],
        "unchanged": [_edge_data(one.edge) for one in found if not one.changes],
    }


def change_data(change: Change) -> dict[str, Any]:
    """One change; ``file`` is null for a shrunk random script."""
    standard = change.standard
    return {
        "behaviour": change.behaviour,
        "depth": str(change.depth),
        "sentence": change.sentence,
        "matters": standard.about.matters if standard else None,
        "rows": list(standard.about.rows) if standard else [],
        "name": change.script.name,
        "file": script_file(change),
        "script": to_dict(change.script.script),
        "line": change.difference.line,
        "differs": str(change.difference.compared),
        "before": change.difference.lines[0],
        "after": change.difference.lines[1],
        "also": list(change.also),
    }


def random_words(number: int) -> str:
    """A sentence that further random scripts differ at an edge."""
    return f"{number} random script{'s differ' if number > 1 else ' differs'} as well"


def script_file(change: Change) -> str | None:
    """The path of the script that shows the change."""
    return f"{SCRIPTS}/{change.script.name}.json" if change.standard else None


def _edge_data(edge: Edge) -> dict[str, Any]:
    return {"from": edge.before, "to": edge.after, "side": edge.side}


def _change_lines(change: Change) -> Iterator[str]:
    rows = f"; {' '.join(change.standard.about.rows)}" if change.standard else ""
    yield f"  {change.behaviour} ({change.depth}{rows})"
    yield f"    {change.sentence}"
    if change.standard:
        yield f"    matters: {change.standard.about.matters}"
    yield f"    script: {script_file(change) or canonical(change.script.script)}"
    yield f"    answer: {told(change.difference)}"
    if change.also:
        yield f"    follows from it: {', '.join(change.also)}"
