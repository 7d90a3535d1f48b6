"""A changelog for an issue or a comment: what an application notices first, then what differs first, short at each edge."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from rocketdiff.core.text.markdown import code, inline
from rocketdiff.lab.history.beyond_scripts import CANNOT_SHOW
from rocketdiff.lab.history.changelog import BehaviourChange, EdgeChanges, gravest_first, random_words
from rocketdiff.lab.history.lineage import Way
from rocketdiff.simulation.golden.wording import before_after

MOST = 12
"""Limit of a list; with it an edge has at most 40 lines."""

MOST_CHARACTERS = 120
"""Longer values, such as lists of requests, are left to ``--json``."""

MOST_ALIKE = 3
"""Other scripts of one cause that are named; the others are counted."""


def changelog_markdown(way: Way, found: Sequence[EdgeChanges]) -> Iterator[str]:
    """Yield lines: a section for each edge with changes in order, then the unchanged ones in one line."""
    if way.turns_at:
        yield from (f"Neither release comes from the other: back to {way.turns_at}, forward from there.", "")
    for step in found:
        if step.changes or step.known:
            yield from _section(step)
    if unchanged := [str(step.edge) for step in found if not step.changes]:
        yield f"No change that scripts can show: {inline(', '.join(unchanged))}. They cannot show {inline(CANNOT_SHOW)}."


def _section(step: EdgeChanges) -> Iterator[str]:
    changes = gravest_first(step.changes)
    yield from (f"### {inline(str(step.edge))}{' (side line)' if step.edge.side else ''}", "")
    yield from _listed(
        "Noticed by an application",
        [f"{inline(_noticed(one))} ({code(one.script.name)})" for one in changes if _noticed(one)],
    )
    yield from _listed("What differs first", [_cause(one) for one in changes if one.is_unknown or not one.standard])
    yield from _listed("Known, and shown by no script", [inline(sentence) for sentence in step.known])
    if step.random:
        yield from (f"{random_words(step.random)}.", "")


def _noticed(change: BehaviourChange) -> str:
    """How a send ends or what a member does, before → after; the words of both answers where they have some."""
    end = change.ends or (change.outcome.words if change.outcome else "")
    if change.standard and not change.is_unknown:
        return change.sentence
    return f"{change.standard.about.shows.rstrip('.')}: {end}" if change.standard and end else end


def _cause(change: BehaviourChange) -> str:
    others = [code(name) for name in (*change.alike, *change.also)]
    more = f" and {len(others) - MOST_ALIKE} more" if len(others) > MOST_ALIKE else ""
    alike = f"; so in {', '.join(others[:MOST_ALIKE])}{more}" if others else ""
    shown = before_after(change.difference)
    shown = shown if len(shown) <= MOST_CHARACTERS else str(change.difference.compared)
    return f"{code(shown)} at {change.difference.place} of {code(change.script.name)}{alike}"


def _listed(title: str, items: Iterable[str]) -> Iterator[str]:
    every = iter(items)
    if first := list(islice(every, MOST)):
        left = sum(1 for _ in every)
        yield from (f"**{title}**", "", *(f"- {item}" for item in first))
        if left:
            yield f"- and {left} more: `--json`"
        yield ""
