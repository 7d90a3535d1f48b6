"""
Groups of releases with equal answers to all scripts.

A depth includes all above it: releases that choose queues differently also send differently.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from rocketdiff.lab.history.changelog import Corpus, EdgeChanges, changelog
from rocketdiff.lab.history.execution_cache import Executions
from rocketdiff.lab.history.fixed_random import fixed_random_up_to
from rocketdiff.lab.history.lineage import Way, every_edge
from rocketdiff.simulation.golden.files import Golden
from rocketdiff.simulation.golden.standard import StandardScript, up_to
from rocketdiff.simulation.script import Depth, depth_of

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
