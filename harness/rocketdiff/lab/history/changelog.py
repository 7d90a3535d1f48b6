"""
The changes between two releases, found by executing every release on the way.

A standard script names a change; where only the fixed random scripts show one, one of them is shrunk. A script that follows
others (``follows``) is not listed where their change explains its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocketdiff.lab.fuzz.shrink import shrink
from rocketdiff.lab.history.executed import Executions
from rocketdiff.lab.history.lineage import Edge, Way, releases_on
from rocketdiff.simulation.comparison import Difference, first_difference
from rocketdiff.simulation.golden.answers import Lines
from rocketdiff.simulation.golden.files import Golden
from rocketdiff.simulation.golden.standard import StandardScript
from rocketdiff.simulation.golden.wording import change_sentence, unworded
from rocketdiff.simulation.script import Depth, NamedScript, depth_of, parse_script, to_dict

MOST_TRIALS = 1_500
"""Limit of runs to shrink one random script: some ten seconds; by then it is small, if not the smallest."""


@dataclass(frozen=True, slots=True)
class Change:
    """
    One behaviour that changes at an edge, and the smallest script that shows it.

    standard: the standard script, None if only a random one shows the change. also: standard scripts whose change follows from it.
    """

    behaviour: str
    sentence: str
    script: NamedScript
    difference: Difference
    standard: StandardScript | None = None
    also: tuple[str, ...] = ()

    @property
    def depth(self) -> Depth:
        """The depth at which the change shows."""
        return depth_of(self.script.script)


@dataclass(frozen=True, slots=True)
class EdgeChanges:
    """
    The changes at one edge; empty if no script shows a difference.

    random: number of further random scripts with another answer; their reasons were not examined.
    """

    edge: Edge
    changes: tuple[Change, ...]
    random: int = 0


@dataclass(frozen=True, slots=True)
class Corpus:
    """The scripts for every release: standard ones with the golden data their words belong to, and random ones."""

    standard: tuple[StandardScript, ...]
    random: tuple[NamedScript, ...]
    golden: Mapping[str, Golden]

    @property
    def scripts(self) -> tuple[NamedScript, ...]:
        """All of them."""
        return (*self.standard, *self.random)


def changelog(executions: Executions, corpus: Corpus, way: Way) -> tuple[EdgeChanges, ...]:
    """The edges of the way with their changes, in order."""
    digests = executions.digests(releases_on(way.edges), corpus.scripts)
    changed = {
        edge: tuple(one for one in corpus.scripts if digests[edge.before, one.name] != digests[edge.after, one.name])
        for edge in way.edges
    }
    named = {edge: _named(scripts) for edge, scripts in changed.items()}
    answers = executions.lines(
        (release, one) for edge, scripts in named.items() for one in scripts for release in (edge.before, edge.after)
    )
    found = []
    for edge in way.edges:
        told = tuple(_change(edge, one, corpus, answers, changed[edge]) for one in named[edge])
        unnamed = _only_random(executions, edge, changed[edge])
        random = sum(not isinstance(one, StandardScript) for one in changed[edge]) - len(unnamed)
        found.append(EdgeChanges(edge, (*told, *unnamed), random))
    return tuple(found)


def _named(changed: Sequence[NamedScript]) -> tuple[StandardScript, ...]:
    """Standard scripts whose change no other script's change explains."""
    names = {one.name for one in changed}
    standard = (one for one in changed if isinstance(one, StandardScript))
    return tuple(one for one in standard if not names & set(one.about.follows))


def _change(
    edge: Edge,
    script: StandardScript,
    corpus: Corpus,
    answers: Mapping[tuple[str, str], Lines],
    changed: Sequence[NamedScript],
) -> Change:
    before, after = answers[edge.before, script.name], answers[edge.after, script.name]
    difference = first_difference(script.name, before, after)
    assert difference is not None
    followers = (one for one in changed if isinstance(one, StandardScript) and script.name in one.about.follows)
    sentence = change_sentence(script, corpus.golden, before, after)
    return Change(script.name, sentence, script, difference, script, tuple(one.name for one in followers))


def _only_random(executions: Executions, edge: Edge, changed: Sequence[NamedScript]) -> tuple[Change, ...]:
    """The shrunk change that random scripts show at an edge where no standard script shows one."""
    if not changed or any(isinstance(one, StandardScript) for one in changed):
        return ()
    order = list(Depth)
    shallowest = min(changed, key=lambda one: (order.index(depth_of(one.script)), len(one.script.steps)))
    small = smallest(executions, edge, shallowest)
    before, after = _both(executions, edge, small)
    difference = first_difference(small.name, before, after)
    assert difference is not None
    return (Change(f"unnamed/{small.name}", unworded(small.name, before, after), small, difference),)


def smallest(executions: Executions, edge: Edge, script: NamedScript) -> NamedScript:
    """The smallest script found on which the two releases of an edge still differ."""

    def tells_apart(candidate: dict[str, object]) -> bool:
        one = NamedScript(script.name, parse_script(candidate, script.name))
        before, after = _both(executions, edge, one)
        return before != after

    small = shrink(to_dict(script.script), tells_apart, max_trials=MOST_TRIALS)
    return NamedScript(script.name, parse_script(small, script.name))


def _both(executions: Executions, edge: Edge, script: NamedScript) -> tuple[Lines, Lines]:
    answers = executions.lines([(edge.before, script), (edge.after, script)])
    return answers[edge.before, script.name], answers[edge.after, script.name]
