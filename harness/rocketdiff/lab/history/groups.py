"""
Groups of releases with equal answers to all scripts.

A depth includes all above it: releases that choose queues differently also send differently. The scripts are the standard ones
and a fixed set of random ones, which finds changes that no standard script shows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from string import ascii_uppercase

from rocketdiff.lab.history.changelog import Corpus, EdgeChanges, changelog
from rocketdiff.lab.history.execution_cache import Executions
from rocketdiff.lab.history.lineage import Way, every_edge
from rocketdiff.simulation.generators import generate
from rocketdiff.simulation.golden.files import Golden
from rocketdiff.simulation.golden.standard import StandardScript, up_to
from rocketdiff.simulation.script import Depth, NamedScript, depth_of, parse_script

LETTER: Mapping[Depth, str] = {Depth.SELECTION: "S", Depth.SEND_LOOP: "L", Depth.REMOTING: "R"}
"""First letter of a group's name: selection, loop, remoting."""


@dataclass(frozen=True, slots=True)
class Group:
    """Releases that no script distinguishes, in release-line order."""

    name: str
    releases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grouping:
    """The groups at one depth, by first release, and the number of scripts."""

    depth: Depth
    groups: tuple[Group, ...]
    standard_scripts: int
    random_scripts: int


@dataclass(frozen=True, slots=True)
class GroupsReport:
    """Groups at every requested depth, and the changes at each edge."""

    groupings: tuple[Grouping, ...]
    edges: tuple[EdgeChanges, ...]


def corpus_up_to(depth: Depth, standard: Sequence[StandardScript], golden: Mapping[str, Golden]) -> Corpus:
    """All scripts for a depth."""
    return Corpus(up_to(depth, standard), fixed_random_up_to(depth), golden)


def grouping(executions: Executions, corpus: Corpus, depth: Depth, releases: Sequence[str]) -> Grouping:
    """Group the releases by their answers to every script of the corpus."""
    digests = executions.digests(releases, corpus.scripts)
    alike: dict[tuple[str, ...], list[str]] = {}
    for release in releases:
        behaviour = tuple(digests[release, script.name] for script in corpus.scripts)
        alike.setdefault(behaviour, []).append(release)
    groups = tuple(Group(_name(depth, number), tuple(members)) for number, members in enumerate(alike.values()))
    return Grouping(depth, groups, len(corpus.standard), len(corpus.random))


def groups_report(
    executions: Executions, corpus: Corpus, depths: Sequence[Depth], releases: Sequence[str]
) -> GroupsReport:
    """Groups at each of the depths and the changes between them; corpus: of the deepest."""
    groupings = tuple(grouping(executions, _part(corpus, depth), depth, releases) for depth in depths)
    edges = tuple(edge for edge in every_edge(releases) if edge.before in releases)
    return GroupsReport(groupings, changelog(executions, corpus, Way(edges)))


def _part(corpus: Corpus, depth: Depth) -> Corpus:
    order = list(Depth)
    shallow = tuple(script for script in corpus.random if order.index(depth_of(script.script)) <= order.index(depth))
    return Corpus(up_to(depth, corpus.standard), shallow, corpus.golden)


def _name(depth: Depth, number: int) -> str:
    """SA … SZ, then SZ1, SZ2 …"""
    last = len(ascii_uppercase) - 1
    return LETTER[depth] + (ascii_uppercase[number] if number <= last else f"Z{number - last}")


COUNTS: Mapping[Depth, int] = {Depth.SELECTION: 60, Depth.SEND_LOOP: 30, Depth.REMOTING: 15}
"""Scripts per depth: enough that several distinguish each pair of neighbours that differ at all; few enough for a minute over all releases."""


@cache
def fixed_random(depth: Depth) -> tuple[NamedScript, ...]:
    """The random scripts of one depth."""
    names = (f"random-{depth}-{seed}" for seed in range(COUNTS[depth]))
    return tuple(NamedScript(name, parse_script(generate(str(depth), seed), name)) for seed, name in enumerate(names))


def fixed_random_up_to(depth: Depth) -> tuple[NamedScript, ...]:
    """Those of a depth and of all below it."""
    order = list(Depth)
    return tuple(script for each in order[: order.index(depth) + 1] for script in fixed_random(each))
