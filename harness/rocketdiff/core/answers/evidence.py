"""
Evidence: facts about one check of one case that analysis hands to verdict.

Exact checks carry divergences. Statistical checks carry samples whose unit is the pause episode, never the message.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import log

from rocketdiff.core.answers.plots import Plots
from rocketdiff.core.answers.verdict import Divergence, Measure, Severity


class Standing(StrEnum):
    """What the evidence can decide. A divergence is certain for every standing except INVALID."""

    DECISIVE = "decisive"
    INDECISIVE = "indecisive"
    NOT_APPLICABLE = "not-applicable"
    INVALID = "invalid"


GROUPS_POOL = "groups"
"""Of the cases about consumers."""


def latency_pool(is_latency_on: bool) -> str:
    """Return the pool of the cases about producers with fault latency on or off."""
    return f"fault-latency-{'on' if is_latency_on else 'off'}"


def pool_name(baseline: str, candidate: str, pool: str) -> str:
    """Return the name, in the form of a case name, of all cases of a pool with a pause."""
    return f"pooled/pause/{pool}/{baseline}~{candidate}"


class Ending(StrEnum):
    """
    How a duration of a pause episode ended.

    FAILOVER (on to another broker) and RESUMED (the paused broker answered) are competing causes. OPEN is censored:
    observation ended first.
    """

    FAILOVER = "failover"
    RESUMED = "resumed"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Margin:
    """Durations are equal if their ratio is within [1/ratio, ratio]."""

    ratio: float
    reason: str


@dataclass(frozen=True, slots=True)
class OutagePair:
    """
    One pause episode in both arms: a duration in nanoseconds and how it ended.

    None: the arm made no attempt on the paused broker.
    """

    run: str
    case: str
    episode: int
    baseline_ns: float | None
    candidate_ns: float | None
    baseline_ended: Ending = Ending.FAILOVER
    candidate_ended: Ending = Ending.FAILOVER


FEWEST_TELLING = 2
"""Fewest pairs that can together point beyond a margin."""


@dataclass(frozen=True, slots=True)
class PairedSample:
    """
    Durations of the same episodes in both arms, for one log-ratio equivalence test.

    minimum_pairs: fewer complete pairs are never judged.
    """

    name: str
    margin: Margin
    pairs: tuple[OutagePair, ...]
    minimum_pairs: int
    minimum_reason: str

    def complete(self) -> tuple[tuple[float, float], ...]:
        """(baseline_ns, candidate_ns) of the pairs in which both arms failed over."""
        return tuple(
            (pair.baseline_ns, pair.candidate_ns)
            for pair in self.pairs
            if pair.baseline_ns is not None
            and pair.candidate_ns is not None
            and pair.baseline_ended is Ending.FAILOVER
            and pair.candidate_ended is Ending.FAILOVER
        )

    def points_beyond(self) -> bool:
        """
        True if the mean log-ratio of the complete pairs lies beyond the margin.

        With fewer than ``minimum_pairs`` each pair must lie beyond it on the same side. A single pair never counts:
        it may be one stall of the machine.
        """
        bound = log(self.margin.ratio)
        logs = [log(candidate / baseline) for baseline, candidate in self.complete()]
        if len(logs) < FEWEST_TELLING:
            return False
        if len(logs) < self.minimum_pairs:
            return min(logs) > bound or max(logs) < -bound
        return abs(sum(logs) / len(logs)) > bound

    def met(self) -> tuple[OutagePair, ...]:
        """Pairs in which both arms met the episode."""
        return tuple(pair for pair in self.pairs if pair.baseline_ns is not None and pair.candidate_ns is not None)

    def cut_short(self) -> tuple[int, int]:
        """
        Number of met pairs in which the duration of (baseline, candidate) was cut short before its failover.

        Cut short: by the end of observation, or by the broker's answer while the other arm failed over. If neither
            failed over, there may have been no other broker.
        """
        ended = [(pair.baseline_ended, pair.candidate_ended) for pair in self.met()]
        mine, others = (sum(_is_cut_short(*both[::side]) for both in ended) for side in (1, -1))
        return mine, others

    def discordant(self) -> tuple[int, int]:
        """Episodes in which only (the baseline, the candidate) failed over, for an exact McNemar test."""
        met = self.met()
        baseline_only = sum(
            p.baseline_ended is Ending.FAILOVER and p.candidate_ended is not Ending.FAILOVER for p in met
        )
        candidate_only = sum(
            p.candidate_ended is Ending.FAILOVER and p.baseline_ended is not Ending.FAILOVER for p in met
        )
        return baseline_only, candidate_only


def _is_cut_short(ended: Ending, other: Ending) -> bool:
    return ended is Ending.OPEN or (ended is Ending.RESUMED and other is Ending.FAILOVER)


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """
    Number of units in which an event occurred more often in one arm, for an exact McNemar test.

    name: event and phase (``failed/calm``).
    unit: in words, plural.
    """

    name: str
    unit: str
    baseline_more: int
    candidate_more: int


@dataclass(frozen=True, slots=True)
class ComparedShares:
    """
    How often a situation ended in one way in each arm, for Fisher's exact test.

    name: end and situation (``failed/after-a-failed-attempt``).
    met, ended: occurrences, and those that ended so; baseline first.
    """

    name: str
    situation: str
    end: str
    met: tuple[int, int]
    ended: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Concentration:
    """
    How many of an arm's random choices fell on its most frequent place.

    signature: of the difference, if not chance.
    where: the candidate's most frequent place.
    chance: probability of a given place per choice; places: number of possible places.
    """

    signature: str
    where: str
    chance: float
    places: int
    baseline_most: int
    baseline_total: int
    candidate_most: int
    candidate_total: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """
    Everything known about one check of one case.

    case: a case name, or a pool (``pooled/pause/fault-latency-on/<baseline>~<candidate>``) with the episodes of all
        cases. A statistical check is ``must`` in a pool only, because one case rarely has enough episodes.
    decisions: number of relevant observations.
    legal_share: mean share of queues that the rules allowed there. Near 1 nothing was excluded; None if the check is
        not about a choice of queue.
    """

    runs: tuple[str, ...]
    case: str
    check: str
    standing: Standing
    reason: str = ""
    severity: Severity = Severity.MUST
    decisions: int = 0
    legal_share: float | None = None
    divergences: tuple[Divergence, ...] = ()
    samples: tuple[PairedSample, ...] = ()
    measures: tuple[Measure, ...] = ()
    counts: tuple[PairedCounts | ComparedShares | Concentration, ...] = ()


@dataclass(frozen=True, slots=True)
class SpellCount:
    """Spells of pauses of one situation (``fault latency on, one of several brokers``) that both arms met."""

    situation: str
    n: int


@dataclass(frozen=True, slots=True)
class TraceCounts:
    """Amount of data read, both arms of all runs. attempts None: not counted. calls: of listeners."""

    runs: int
    cases: int
    sends: int
    attempts: int | None
    stored: int
    foreign: int
    faults: int
    spells: tuple[SpellCount, ...] = ()
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Analysis:
    """Result of one analysis over one or several runs."""

    evidence: tuple[Evidence, ...]
    plots: Plots
    counts: TraceCounts
