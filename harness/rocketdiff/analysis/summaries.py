"""Sums the facts of many cases: the result type of the Spark job, and the same sums without Spark, in the same order."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from rocketdiff.analysis.facts import CaseFact, DifferenceFact, LaneBar, OutageValue, Tally
from rocketdiff.core.tables.fault import FaultRecord

CaseKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class DifferenceCluster:
    """All differences of one case, check and arm with the same signature; the example is the easiest to follow."""

    run: str
    number: int
    count: int
    example: DifferenceFact


@dataclass(frozen=True, slots=True)
class Summaries:
    """
    Everything that the driver needs from all cases.

    Order: clusters by (run, case, check, signature, arm); tallies by (run, case, check, arm, phase, key); the others by case
    and a key of their own.
    """

    clusters: tuple[DifferenceCluster, ...]
    tallies: tuple[CaseFact, ...]
    episodes: tuple[CaseFact, ...]
    lanes: tuple[CaseFact, ...]
    faults: tuple[CaseFact, ...]


def summarise(facts: Iterable[CaseFact]) -> Summaries:
    """Sum facts in this process."""
    clusters: defaultdict[tuple[str, int, str, str, str], list[DifferenceFact]] = defaultdict(list)
    tallies: defaultdict[tuple[str, int, str, str, str, str], list[Tally]] = defaultdict(list)
    loose: list[CaseFact] = []
    for fact in facts:
        match fact.fact:
            case DifferenceFact() as found:
                clusters[fact.run, fact.number, found.check, found.signature, found.arm].append(found)
            case Tally() as tally:
                tallies[fact.run, fact.number, tally.check, tally.arm, tally.phase, tally.key].append(tally)
            case _:
                loose.append(fact)
    return in_order(
        [DifferenceCluster(*key[:2], len(members), min(members, key=ease)) for key, members in clusters.items()],
        [
            CaseFact(*key[:2], Tally(*key[2:], sum(tally.n for tally in same), sum(tally.total for tally in same)))
            for key, same in tallies.items()
        ],
        loose,
    )


def ease(difference: DifferenceFact) -> tuple[object, ...]:
    """Return the sort key of examples: easiest to follow, then earliest; the rest only makes the choice unique."""
    attempt = -1 if difference.attempt is None else difference.attempt
    return difference.weight, difference.at_ns, difference.thread, difference.send, attempt, difference.observed


def in_order(
    clusters: Iterable[DifferenceCluster], tallies: Iterable[CaseFact], loose: Iterable[CaseFact]
) -> Summaries:
    """Return the summed facts sorted."""
    rows = list(loose)
    return Summaries(
        clusters=tuple(sorted(clusters, key=_cluster_key)),
        tallies=tuple(sorted(tallies, key=_tally_key)),
        episodes=tuple(sorted((row for row in rows if isinstance(row.fact, OutageValue)), key=_episode_key)),
        lanes=tuple(sorted((row for row in rows if isinstance(row.fact, LaneBar)), key=_lane_key)),
        faults=tuple(sorted((row for row in rows if isinstance(row.fact, FaultRecord)), key=_fault_key)),
    )


def _cluster_key(cluster: DifferenceCluster) -> tuple[str, int, str, str, str]:
    return cluster.run, cluster.number, cluster.example.check, cluster.example.signature, cluster.example.arm


def _tally_key(row: CaseFact) -> tuple[str, int, str, str, str, str]:
    tally = row.fact
    assert isinstance(tally, Tally)
    return row.run, row.number, tally.check, tally.arm, tally.phase, tally.key


def _episode_key(row: CaseFact) -> tuple[str, int, str, str, int, str]:
    value = row.fact
    assert isinstance(value, OutageValue)
    return row.run, row.number, value.check, value.sample, value.episode, value.arm


def _lane_key(row: CaseFact) -> tuple[str, int, int, str, int, int, int, int, str]:
    bar = row.fact
    assert isinstance(bar, LaneBar)
    own = (bar.window, bar.arm, bar.thread, bar.send, bar.attempt)
    # Tenures have no send of their own; the queue and the kind of its topic tell those of one instant apart.
    return row.run, row.number, *own, bar.start_ns, f"{bar.reason} {bar.broker} {bar.queue_id} {bar.outcome}"


def _fault_key(row: CaseFact) -> tuple[str, int, int, str, int]:
    fault = row.fact
    assert isinstance(fault, FaultRecord)
    return row.run, row.number, fault.inject_ns, fault.node, fault.episode
