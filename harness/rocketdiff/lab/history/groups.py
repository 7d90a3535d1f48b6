"""
Groups of releases with equal answers to all scripts.

A depth includes the scripts of all shallower depths, because releases that choose queues differently also send differently.
A fixed set of random scripts finds changes that no standard script shows.
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
from rocketdiff.simulation.golden.standard import StandardScript, depths_up_to, up_to
from rocketdiff.simulation.script import Depth, NamedScript, depth_of, parse_script

LETTER: Mapping[Depth, str] = {
    Depth.SELECTION: "S",
    Depth.SEND_LOOP: "L",
    Depth.REMOTING: "R",
    Depth.ALLOCATION: "A",
    Depth.PROCESS_QUEUE: "Q",
    Depth.REBALANCE: "B",
    Depth.CONSUMER: "C",
}
"""First letter of a group's name: Selection, Loop, Remoting, Allocation, process Queue, reBalance, Consumer."""


@dataclass(frozen=True, slots=True)
class ReleaseGroup:
    """Releases that no script distinguishes, in release-line order."""

    name: str
    releases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grouping:
    """The groups at one depth, by first release, and the numbers of scripts."""

    depth: Depth
    groups: tuple[ReleaseGroup, ...]
    standard_scripts: int
    random_scripts: int


@dataclass(frozen=True, slots=True)
class GroupsReport:
    """Groups at every requested depth and the changes at each edge."""

    groupings: tuple[Grouping, ...]
    edges: tuple[EdgeChanges, ...]


def corpus_of(depths: Sequence[Depth], standard: Sequence[StandardScript], golden: Mapping[str, Golden]) -> Corpus:
    """Return all scripts of the depths."""
    return Corpus(
        tuple(script for script in standard if script.depth in depths),
        tuple(script for depth in depths for script in fixed_random(depth)),
        golden,
    )


def grouping(executions: Executions, corpus: Corpus, depth: Depth, releases: Sequence[str]) -> Grouping:
    """Group the releases by their answers to all scripts of the corpus."""
    digests = executions.digests(releases, corpus.scripts)
    alike: dict[tuple[str, ...], list[str]] = {}
    for release in releases:
        behaviour = tuple(digests[release, script.name] for script in corpus.scripts)
        alike.setdefault(behaviour, []).append(release)
    groups = tuple(ReleaseGroup(_name(depth, number), tuple(members)) for number, members in enumerate(alike.values()))
    return Grouping(depth, groups, len(corpus.standard), len(corpus.random))


def groups_report(
    executions: Executions, corpus: Corpus, depths: Sequence[Depth], releases: Sequence[str]
) -> GroupsReport:
    """Return the groups at each depth and the changes between them; corpus: that of all these depths."""
    groupings = tuple(grouping(executions, _part(corpus, depth), depth, releases) for depth in depths)
    edges = tuple(edge for edge in every_edge(releases) if edge.before in releases)
    return GroupsReport(groupings, changelog(executions, corpus, Way(edges)))


def _part(corpus: Corpus, depth: Depth) -> Corpus:
    depths = depths_up_to(depth)
    shallow = tuple(script for script in corpus.random if depth_of(script.script) in depths)
    return Corpus(up_to(depth, corpus.standard), shallow, corpus.golden)


def _name(depth: Depth, number: int) -> str:
    """SA … SZ, then SZ1, SZ2 …"""
    last = len(ascii_uppercase) - 1
    return LETTER[depth] + (ascii_uppercase[number] if number <= last else f"Z{number - last}")


COUNTS: Mapping[Depth, int] = {
    Depth.SELECTION: 60,
    Depth.SEND_LOOP: 30,
    Depth.REMOTING: 15,
    Depth.ALLOCATION: 20,
    Depth.PROCESS_QUEUE: 20,
    Depth.REBALANCE: 15,
    Depth.CONSUMER: 8,
}
"""Scripts per depth: several distinguish each differing pair of neighbours; all releases take about a minute."""


@cache
def fixed_random(depth: Depth) -> tuple[NamedScript, ...]:
    """Return the fixed random scripts of one depth."""
    names = (f"random-{depth}-{seed}" for seed in range(COUNTS[depth]))
    return tuple(NamedScript(name, parse_script(generate(str(depth), seed), name)) for seed, name in enumerate(names))
