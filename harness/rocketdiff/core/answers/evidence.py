"""
What analysis hands to verdict: facts about one check of one case, before anybody judges them.

Analysis says what was seen and whether it could have decided anything (Standing); verdict turns that into an answer.
Exact checks carry divergences, statistical checks carry samples whose unit is the pause episode, never the message.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import log

from rocketdiff.core.answers.plots import Plots
from rocketdiff.core.answers.verdict import Divergence, Measure, Severity


class Standing(StrEnum):
    """
    What the evidence is good for, before anyone looks at its differences.

    A divergence found is certain whatever the standing, unless it is INVALID.
    """

    DECISIVE = "decisive"
    INDECISIVE = "indecisive"
    NOT_APPLICABLE = "not-applicable"
    INVALID = "invalid"


def pool_name(baseline: str, candidate: str, *, is_latency_on: bool) -> str:
    """Name of the pool of all cases with a pause whose clients have fault latency on, or off; shaped like a case's."""
    return f"pooled/pause/fault-latency-{'on' if is_latency_on else 'off'}/{baseline}~{candidate}"


class Ending(StrEnum):
    """
    How a duration that belongs to a pause episode ended.

    FAILOVER and RESUMED are competing causes: the client went on elsewhere, or the paused broker answered after all.
    OPEN is censored: observation ended first.
    """

    FAILOVER = "failover"
    RESUMED = "resumed"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Margin:
    """Two durations are the same when their ratio lies within [1/ratio, ratio]; the figure carries its reason."""

    ratio: float
    reason: str


@dataclass(frozen=True, slots=True)
class EpisodePair:
    """
    One pause episode as both arms lived through it: one duration an arm, in nanoseconds, and how it ended.

    None: the arm never met the episode (it made no attempt on the paused broker), so there is nothing to pair.
    """

    run: str
    case: str
    episode: int
    baseline_ns: float | None
    candidate_ns: float | None
    baseline_ended: Ending = Ending.FAILOVER
    candidate_ended: Ending = Ending.FAILOVER


FEWEST_TELLING = 2
"""Pairs that may point beyond a margin together."""


@dataclass(frozen=True, slots=True)
class PairedSample:
    """
    Durations of the same episodes in both arms, for one log-ratio equivalence test.

    minimum_pairs: fewer complete pairs than this are never judged (``minimum_reason`` says why).
    """

    name: str
    margin: Margin
    pairs: tuple[EpisodePair, ...]
    minimum_pairs: int
    minimum_reason: str

    def complete(self) -> tuple[tuple[float, float], ...]:
        """(baseline_ns, candidate_ns) of the pairs that both arms lived through to a failover."""
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
        Whether the estimate, the mean log-ratio of the complete pairs, lies beyond the margin.

        Of fewer pairs than are judged each must lie beyond it, on the same side, and one alone says nothing: a machine
        that stood still once is not a client that waits.
        """
        bound = log(self.margin.ratio)
        logs = [log(candidate / baseline) for baseline, candidate in self.complete()]
        if len(logs) < FEWEST_TELLING:
            return False
        if len(logs) < self.minimum_pairs:
            return min(logs) > bound or max(logs) < -bound
        return abs(sum(logs) / len(logs)) > bound

    def met(self) -> tuple[EpisodePair, ...]:
        """Pairs that both arms ran into, however they ended."""
        return tuple(pair for pair in self.pairs if pair.baseline_ns is not None and pair.candidate_ns is not None)

    def cut_short(self) -> tuple[int, int]:
        """
        In how many of these the duration of the baseline, and of the candidate, was cut short before its failover.

        By the end of the case, or by the broker's answer where the other arm did fail over. Where neither did, there may have
        been nowhere to go.
        """
        ended = [(pair.baseline_ended, pair.candidate_ended) for pair in self.met()]
        mine, others = (sum(_is_cut_short(*both[::side]) for both in ended) for side in (1, -1))
        return mine, others

    def discordant(self) -> tuple[int, int]:
        """Episodes (failed over in the baseline only, failed over in the candidate only), for an exact McNemar test."""
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
    In how many units of time something befell one arm more often than the other, over what both arms went through.

    name: what, and in which phase (``failed/calm``). unit: in words, plural. An honest pair is as likely to be on the one side as
    on the other, for which an exact McNemar test asks.
    """

    name: str
    unit: str
    baseline_more: int
    candidate_more: int


@dataclass(frozen=True, slots=True)
class ComparedShares:
    """
    How often one situation, met so many times by each arm, ended in one way; for Fisher's exact test.

    name: the end, and the situation (``failed/after-a-failed-attempt``). met and ended: baseline first. situation and
    end: in words.
    """

    name: str
    situation: str
    end: str
    met: tuple[int, int]
    ended: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Concentration:
    """
    How many of an arm's random choices fell on the place where most of them fell.

    signature: what it is if it is no luck. where: that place, of the candidate. chance: of one choice, to fall on a given
    place; places: how many there are that could have been it.
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

    case: the case's name, or a pooled one (``pooled/pause/fault-latency-on/<baseline>~<candidate>``) that gathers the
    episodes of all cases of the runs; only pooled evidence of a statistical check is ``must``, because one case rarely
    has enough episodes.
    decisions: how many observations were relevant to the question. legal_share: mean share of queues that the rules
    allowed at those decisions (None where the check is not a choice among queues); near 1 nothing was excluded.
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
    """How many spells of pauses of one situation (``fault latency on, one of several brokers``) both arms ran into."""

    situation: str
    n: int


@dataclass(frozen=True, slots=True)
class TraceCounts:
    """How much was read; both arms of all runs together. attempts None: not counted. spells: as they happened."""

    runs: int
    cases: int
    sends: int
    attempts: int | None
    stored: int
    foreign: int
    faults: int
    spells: tuple[SpellCount, ...] = ()


@dataclass(frozen=True, slots=True)
class Analysis:
    """Result of one analysis over one or several runs."""

    evidence: tuple[Evidence, ...]
    plots: Plots
    counts: TraceCounts
