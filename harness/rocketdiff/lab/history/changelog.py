"""
The changes between two releases, found by executing every release on the way.

A standard script names a change. Where only random scripts show a change, one of them is shrunk. A script that follows
others (``follows``) is not listed where their change explains its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rocketdiff.core.tables.checks import Concern
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.lab.fuzz.shrink import shrink
from rocketdiff.lab.history.beyond_scripts import CANNOT_SHOW, known_at
from rocketdiff.lab.history.concerns import concern_of
from rocketdiff.lab.history.execution_cache import Executions
from rocketdiff.lab.history.lineage import Edge, Way, releases_on
from rocketdiff.simulation.comparison import (
    AnswerDifference,
    OutcomeDifference,
    first_difference,
    outcome_of,
    sends_end,
)
from rocketdiff.simulation.golden.answers import Lines
from rocketdiff.simulation.golden.files import Golden
from rocketdiff.simulation.golden.standard import SCRIPTS, StandardScript
from rocketdiff.simulation.golden.wording import before_after, change_sentence, difference_words, known_side, meaning
from rocketdiff.simulation.script import Depth, NamedScript, canonical, depth_of, parse_script, to_dict
from rocketdiff.simulation.script.roles import role_with

MOST_TRIALS = 1_500
"""Limit of runs to shrink a random script, about ten seconds; by then the script is small."""


@dataclass(frozen=True, slots=True)
class BehaviourChange:
    """
    A behaviour that changes at an edge, and a small script that shows it.

    standard: None if only a random script shows the change. also: standard scripts whose change follows from it. known: the
    words of an answer (``before: …``) if only one of the two has words; else empty. outcome: of answers of a member. is_unknown: an answer has no
    words. ends: how a send ends before and after, if otherwise. alike: other scripts whose answers first differ in the same.
    """

    behaviour: str
    sentence: str
    script: NamedScript
    difference: AnswerDifference
    standard: StandardScript | None = None
    also: tuple[str, ...] = ()
    known: str = ""
    outcome: OutcomeDifference | None = None
    is_unknown: bool = False
    ends: str = ""
    alike: tuple[str, ...] = ()

    @property
    def concern(self) -> Concern:
        return concern_of(self.difference.compared, self.outcome)

    @property
    def depth(self) -> Depth:
        return depth_of(self.script.script)


@dataclass(frozen=True, slots=True)
class EdgeChanges:
    """
    The changes at one edge.

    random: number of further random scripts with changed answers, whose reasons are not examined.
    """

    edge: Edge
    changes: tuple[BehaviourChange, ...]
    random: int = 0

    @property
    def known(self) -> tuple[str, ...]:
        """Sentences about changes that are known and that no script can show."""
        return tuple(known_at(self.edge))


@dataclass(frozen=True, slots=True)
class Corpus:
    """The executed scripts; golden: the answers to which the words of standard scripts belong."""

    standard: tuple[StandardScript, ...]
    random: tuple[NamedScript, ...]
    golden: Mapping[str, Golden]

    @property
    def scripts(self) -> tuple[NamedScript, ...]:
        return (*self.standard, *self.random)


def changelog(executions: Executions, corpus: Corpus, way: Way) -> tuple[EdgeChanges, ...]:
    """Return the edges of the way with their changes, in order."""
    digests = executions.digests(releases_on(way.edges), corpus.scripts)
    changed = {
        edge: tuple(
            script for script in corpus.scripts if digests[edge.before, script.name] != digests[edge.after, script.name]
        )
        for edge in way.edges
    }
    named = {edge: _standard(scripts) for edge, scripts in changed.items()}
    answers = executions.lines(
        (release, script)
        for edge, scripts in named.items()
        for script in scripts
        for release in (edge.before, edge.after)
    )
    found = []
    for edge in way.edges:
        named_changes = _named(_change(edge, script, corpus, answers, changed[edge]) for script in named[edge])
        unnamed = _only_random(executions, edge, changed[edge])
        random = sum(not isinstance(script, StandardScript) for script in changed[edge]) - len(unnamed)
        found.append(EdgeChanges(edge, (*named_changes, *unnamed), random))
    return tuple(found)


def _standard(changed: Sequence[NamedScript]) -> tuple[StandardScript, ...]:
    return tuple(script for script in changed if isinstance(script, StandardScript))


def _named(changes: Iterable[BehaviourChange]) -> tuple[BehaviourChange, ...]:
    """Leave out what follows from another change, unless its answer is without words and graver."""
    by_name = {change.behaviour: change for change in changes}
    return _together([change for change in by_name.values() if not _follows(change, by_name)])


def _together(changes: Sequence[BehaviourChange]) -> tuple[BehaviourChange, ...]:
    """
    Of a build's sends, list what differs first in the same way once: by the smallest script in which a send ends with another result, or else otherwise.

    Answers that have words are those of a release, and stand for themselves.
    """
    groups: dict[object, list[BehaviourChange]] = {}
    for change in changes:
        is_alone = not change.is_unknown or change.outcome is not None
        groups.setdefault(change.behaviour if is_alone else change.difference.compared, []).append(change)
    shown = []
    for group in groups.values():
        first = min(group, key=_clearness)
        shown.append(replace(first, alike=tuple(change.behaviour for change in group if change is not first)))
    return tuple(shown)


def _clearness(change: BehaviourChange) -> tuple[bool, bool, int]:
    before, _, after = change.ends.partition(" → ")
    is_result_equal = before.partition(" ")[0] == after.partition(" ")[0]
    return not change.ends, is_result_equal, len(change.script.script.steps)


def _follows(change: BehaviourChange, changes: Mapping[str, BehaviourChange]) -> bool:
    assert change.standard is not None
    causes = [changes[name] for name in change.standard.about.follows if name in changes]
    is_graver = change.outcome is not None and all(change.concern < cause.concern for cause in causes)
    return bool(causes) and not (change.is_unknown and is_graver)


def _change(
    edge: Edge,
    script: StandardScript,
    corpus: Corpus,
    answers: Mapping[tuple[str, str], Lines],
    changed: Sequence[NamedScript],
) -> BehaviourChange:
    before, after = answers[edge.before, script.name], answers[edge.after, script.name]
    difference = first_difference(script.name, before, after)
    assert difference is not None
    followers = (
        follower
        for follower in changed
        if isinstance(follower, StandardScript) and script.name in follower.about.follows
    )
    sentence = change_sentence(script, corpus.golden, before, after)
    known = known_side(script, corpus.golden, before, after)
    also = tuple(follower.name for follower in followers)
    outcome, golden = outcome_of(before, after), corpus.golden.get(script.name)
    is_unknown = any(meaning(script, golden, lines) is None for lines in (before, after))
    ends = sends_end(before, after) if is_unknown else ""
    return BehaviourChange(script.name, sentence, script, difference, script, also, known, outcome, is_unknown, ends)


def _only_random(executions: Executions, edge: Edge, changed: Sequence[NamedScript]) -> tuple[BehaviourChange, ...]:
    """A shrunk random script, if no standard script shows a change at the edge."""
    if not changed or any(isinstance(script, StandardScript) for script in changed):
        return ()
    order = list(Depth)
    shallowest = min(changed, key=lambda script: (order.index(depth_of(script.script)), len(script.script.steps)))
    small = smallest(executions, edge, shallowest)
    before, after = _both(executions, edge, small)
    difference = first_difference(small.name, before, after)
    assert difference is not None
    outcome = outcome_of(before, after)
    shown = outcome.words if outcome else before_after(difference)
    sentence = f"A random script, made small, is answered otherwise: {shown}"
    return (BehaviourChange(f"unnamed/{small.name}", sentence, small, difference, outcome=outcome),)


def smallest(executions: Executions, edge: Edge, script: NamedScript) -> NamedScript:
    """Shrink a script while the two releases of an edge differ."""

    def separates(candidate: dict[str, object]) -> bool:
        smaller = NamedScript(script.name, parse_script(candidate, script.name))
        before, after = _both(executions, edge, smaller)
        return before != after

    small = shrink(to_dict(script.script), separates, max_trials=MOST_TRIALS)
    return NamedScript(script.name, parse_script(small, script.name))


def _both(executions: Executions, edge: Edge, script: NamedScript) -> tuple[Lines, Lines]:
    answers = executions.lines([(edge.before, script), (edge.after, script)])
    return answers[edge.before, script.name], answers[edge.after, script.name]


def roles_of(corpus: Corpus) -> tuple[ClientRole, ...]:
    """Return the roles whose scripts a corpus has."""
    return tuple(dict.fromkeys(role_with(depth_of(script.script)) for script in corpus.scripts))


def gravest_first(changes: Sequence[BehaviourChange]) -> list[BehaviourChange]:
    """Return the changes by their cost to the owner of a client."""
    return sorted(changes, key=lambda change: change.concern)


def changelog_lines(way: Way, found: Sequence[EdgeChanges]) -> Iterator[str]:
    """Yield lines for a terminal: edges with changes in order, then the unchanged ones in one line."""
    if way.turns_at:
        yield f"neither release comes from the other: back to their common ancestor {way.turns_at}, forward from there"
        yield ""
    for step in found:
        if step.changes or step.known:
            yield f"{step.edge} (side line; not on the way)" if step.edge.side else str(step.edge)
            yield from (f"  no script can show: {sentence}" for sentence in step.known)
            for change in gravest_first(step.changes):
                yield from _change_lines(change)
            if step.random:
                yield f"  {random_words(step.random)}"
            yield ""
    if unchanged := [step.edge for step in found if not step.changes]:
        yield f"no change that scripts can show: {', '.join(str(edge) for edge in unchanged)}"
        yield f"they cannot show {CANNOT_SHOW}"


def changelog_data(way: Way, found: Sequence[EdgeChanges]) -> dict[str, Any]:
    """Return the changelog as JSON data."""
    return {
        "turns_at": way.turns_at,
        "edges": [
            _edge_data(step.edge)
            | {
                "changes": [change_data(change) for change in gravest_first(step.changes)],
                "random_scripts": step.random,
            }
            | {"known": list(step.known)}
            for step in found
            if step.changes
        ],
        "unchanged": [_edge_data(step.edge) | {"known": list(step.known)} for step in found if not step.changes],
    }


def change_data(change: BehaviourChange) -> dict[str, Any]:
    """Return a change as JSON data; ``file`` is null for a shrunk random script."""
    standard = change.standard
    return {
        "behaviour": change.behaviour,
        "depth": str(change.depth),
        "sentence": change.sentence,
        "known": change.known,
        "outcome": change.outcome.words if change.outcome else None,
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
        "ends": change.ends,
        "alike": list(change.alike),
    }


def random_words(number: int) -> str:
    """Return the number of further random scripts that differ, in words."""
    return f"{number} random script{'s differ' if number > 1 else ' differs'} as well"


def script_file(change: BehaviourChange) -> str | None:
    """Return the path of the change's standard script, if any."""
    return f"{SCRIPTS}/{change.script.name}.json" if change.standard else None


def _edge_data(edge: Edge) -> dict[str, Any]:
    return {"from": edge.before, "to": edge.after, "side": edge.side}


def _change_lines(change: BehaviourChange) -> Iterator[str]:
    rows = f"; {' '.join(change.standard.about.rows)}" if change.standard else ""
    yield f"  {change.behaviour} ({change.depth}{rows})"
    if change.outcome and change.outcome.words not in change.sentence:
        yield f"    outcome: {change.outcome.words}"
    if change.ends:
        yield f"    a send: {change.ends}"
    yield f"    {change.sentence}"
    if change.known:
        yield f"    {change.known}"
    if change.standard:
        yield f"    matters: {change.standard.about.matters}"
    yield f"    script: {script_file(change) or canonical(change.script.script)}"
    is_known = before_after(change.difference) in change.sentence
    yield f"    answer: {f'differs at {change.difference.place}' if is_known else difference_words(change.difference)}"
    if change.alike:
        yield f"    differs first in the same: {', '.join(change.alike)}"
    if change.also:
        yield f"    follows from it: {', '.join(change.also)}"
