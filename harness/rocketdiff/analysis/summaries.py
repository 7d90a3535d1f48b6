"""
Sums facts: those of a case by the task that judges it, and those of all cases.

A task has whole cases, so nothing is left to be summed between tasks; sums of parts of a case could be.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
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
    """Sum facts, or sums of them."""
    clusters: list[DifferenceCluster] = []
    tallies: list[CaseFact] = []
    loose: list[CaseFact] = []
    for found in summed(facts):
        match found.fact:
            case DifferenceFact() as example:
                clusters.append(DifferenceCluster(found.run, found.number, found.count, example))
            case Tally():
                tallies.append(found)
            case _:
                loose.append(found)
    return in_order(clusters, tallies, loose)


def summed(facts: Iterable[CaseFact]) -> Iterator[CaseFact]:
    """
    Yield facts, those that can be summed as one.

    All differences of a case, check, arm and signature become the one that is easiest to follow, with their count; all tallies of a
    case, check, arm, phase and key are added. Every other fact is yielded as it comes.
    """
    examples: dict[tuple[str, int, str, str, str], tuple[tuple[object, ...], DifferenceFact]] = {}
    counts: defaultdict[tuple[str, int, str, str, str], int] = defaultdict(int)
    tallies: dict[tuple[str, int, str, str, str, str], tuple[int, float]] = {}
    for row in facts:
        match row.fact:
            case DifferenceFact() as found:
                of = (row.run, row.number, found.check, found.signature, found.arm)
                counts[of] += row.count
                known = examples.get(of)
                if known is None or ease(found) < known[0]:
                    examples[of] = (ease(found), found)
            case Tally(check, arm, phase, key, n, total):
                same = (row.run, row.number, check, arm, phase, key)
                known_n, known_total = tallies.get(same, (0, 0.0))
                tallies[same] = (known_n + n, known_total + total)
            case _:
                yield row
    for of, (_, example) in examples.items():
        yield CaseFact(*of[:2], example, counts[of])
    for same, sums in tallies.items():
        yield CaseFact(*same[:2], Tally(*same[2:], *sums))


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
