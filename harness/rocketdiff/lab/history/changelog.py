"""
What changes between two releases, found by executing both on every step of the way.

Standard scripts name a change; where only the fixed random scripts show one, the smallest such script is made of them.
A script that follows others is silent where a change of those accounts for its own.
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
"""Runs that making one random script small may take: some ten seconds; it is small, if not the smallest, by then."""


@dataclass(frozen=True, slots=True)
class Change:
    """
    One behaviour that changes at an edge, and the smallest script that shows it.

    standard: the script as a standard one, None if a random one had to show it. also: standard scripts that follow from it.
    """

    behaviour: str
    sentence: str
    script: NamedScript
    difference: Difference
    standard: StandardScript | None = None
    also: tuple[str, ...] = ()

    @property
    def depth(self) -> Depth:
        """The depth at which it shows."""
        return depth_of(self.script.script)


@dataclass(frozen=True, slots=True)
class EdgeChanges:
    """
    What changes at one edge; empty if nothing that was tried shows a difference.

    random: how many random scripts, besides those told, have another answer too; whether for the same reasons nobody looked.
    """

    edge: Edge
    changes: tuple[Change, ...]
    random: int = 0


@dataclass(frozen=True, slots=True)
class Corpus:
    """What every release is asked: standard scripts with the golden data their words hang on, and random ones."""

    standard: tuple[StandardScript, ...]
    random: tuple[NamedScript, ...]
    golden: Mapping[str, Golden]

    @property
    def scripts(self) -> tuple[NamedScript, ...]:
        """All of them."""
        return (*self.standard, *self.random)


def changelog(executions: Executions, corpus: Corpus, way: Way) -> tuple[EdgeChanges, ...]:
    """Every edge of the way with its changes, in order."""
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
    """Standard scripts whose change no other one accounts for."""
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
    """The change that random scripts show at an edge where no standard script shows any, made small."""
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
    """The smallest script found that still tells the two releases of an edge apart."""

    def tells_apart(candidate: dict[str, object]) -> bool:
        one = NamedScript(script.name, parse_script(candidate, script.name))
        before, after = _both(executions, edge, one)
        return before != after

    small = shrink(to_dict(script.script), tells_apart, max_trials=MOST_TRIALS)
    return NamedScript(script.name, parse_script(small, script.name))


def _both(executions: Executions, edge: Edge, script: NamedScript) -> tuple[Lines, Lines]:
    answers = executions.lines([(edge.before, script), (edge.after, script)])
    return answers[edge.before, script.name], answers[edge.after, script.name]
