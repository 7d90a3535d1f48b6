"""The aggregated facts of one case, from which its checks are evaluated."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rocketdiff.analysis.facts import OutageValue
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Divergence, Measure
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.checks import ABOUT_THE_RUN, CHECKS
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.traces.manifest import CaseEntry, CaseStatus

LEGAL_SHARE_BOUND = 0.9
"""
Mean share of legal queues above which a choice shows nothing: at nine queues in ten a blind client errs once in ten
decisions, so a handful may look right by luck.
"""

CLUSTER_GUARDS = ("cluster", "fault-", "read-back", "clock-steady", "started-together", "control", "awake-")
"""
Prefixes of guards about what both arms share: if one is broken, no difference can be attributed to a client. Guards of
one arm (``plan-done-*``, ``on-schedule-*``) are about its client. Runs before 1.10 have ``clock-steady``.
"""

AWAKE_GUARDS = "awake-"
"""Prefix of guards that the protocol check needs too: a client looks stalled if it, or its machine, was stopped."""

WITNESS_GUARDS = "witness-"
"""Prefix of guards broken when a client and the wire report different attempts."""

UNKNOWABLE = "unknowable: "
"""Prefix of the tally of a check that the case cannot answer; its keys are the reasons."""

INCOMPARABLE = "incomparable"
"""
Tally of a case in which the arms cannot be compared; its keys are the reasons. Nothing conforms there, but what a client
certainly did remains a difference.
"""

TallyKey = tuple[str, str, str, str]
TallyOfCheck = tuple[str, str, str, tuple[int, float]]
"""Arm, phase, key and (n, total)."""


@dataclass(frozen=True, slots=True)
class CaseFacts:
    """
    One case: its entry in ``run.json``, divergences by check, tallies (n, total) by (check, arm, phase, key), values by outage.
    """

    run: str
    subjects: Mapping[Arm, str]
    entry: CaseEntry
    divergences: Mapping[str, tuple[Divergence, ...]] = field(default_factory=dict)
    tallies: Mapping[TallyKey, tuple[int, float]] = field(default_factory=dict)
    episodes: tuple[OutageValue, ...] = ()
    faults: tuple[FaultRecord, ...] = ()
    _by_check: Mapping[str, Sequence[TallyOfCheck]] = field(init=False, repr=False, compare=False)
    """The tallies again: all checks together ask thousands of times, and most tallies are points of pictures."""

    def __post_init__(self) -> None:
        found: defaultdict[str, list[TallyOfCheck]] = defaultdict(list)
        for (check, arm, phase, key), value in self.tallies.items():
            found[check].append((arm, phase, key, value))
        object.__setattr__(self, "_by_check", dict(found))

    def tallies_of(self, check: str) -> Sequence[TallyOfCheck]:
        """The tallies of one check, or of one kind of picture."""
        return self._by_check.get(check, ())

    def n(self, check: str, *keys: str, arm: str | None = None, phase: str | None = None) -> int:
        """Count of a check's keys (none: all), over all arms and phases unless given."""
        return sum(n for n, _ in self._matching(check, keys, arm, phase))

    def mean(self, check: str, *keys: str, arm: str | None = None, phase: str | None = None) -> float | None:
        """Mean of the tallied values; None without a count."""
        rows = list(self._matching(check, keys, arm, phase))
        count = sum(n for n, _ in rows)
        return sum(total for _, total in rows) / count if count else None

    def keys(self, check: str, arm: str) -> tuple[str, ...]:
        return tuple(sorted({key for side, _, key, _ in self.tallies_of(check) if side == arm}))

    def _matching(
        self, check: str, keys: Sequence[str], arm: str | None, phase: str | None
    ) -> Sequence[tuple[int, float]]:
        return [
            value
            for side, when, key, value in self.tallies_of(check)
            if (not keys or key in keys) and (arm is None or side == arm) and (phase is None or when == phase)
        ]

    def evidence(
        self,
        check: str,
        standing: Standing,
        reason: str = "",
        *,
        decisions: int = 0,
        legal_share: float | None = None,
        measures: tuple[Measure, ...] = (),
    ) -> Evidence:
        """
        Evidence of an exact check with this case's divergences, which are always kept.

        INVALID, whatever the check found: an incomplete case; a case whose cluster was not as planned (for the
        protocol, only broken ``awake-*`` guards); a check of attempts whose two witnesses disagree. Never decisive: a
        case in which a subject broke off, because half a case must not conform.
        """
        if self.entry.breaches and standing in (Standing.DECISIVE, Standing.INDECISIVE) and check not in ABOUT_THE_RUN:
            lost = ", ".join(self.subjects[arm] for arm in self.entry.lost_arms)
            standing, reason = Standing.INDECISIVE, f"{lost} broke off"
        broken = [guard for guard in self.entry.broken_guards if guard.name.startswith(CLUSTER_GUARDS)]
        if CHECKS[check].reads_attempts:  # one of the two witnesses is wrong, and it is unknown which
            broken += [guard for guard in self.entry.broken_guards if guard.name.startswith(WITNESS_GUARDS)]
        if broken and check not in ABOUT_THE_RUN:
            standing, reason = Standing.INVALID, "; ".join(guard.why_broken for guard in broken)
        asleep = [guard for guard in broken if guard.name.startswith(AWAKE_GUARDS)]
        if asleep and check == "protocol":
            standing, reason = Standing.INVALID, "; ".join(guard.why_broken for guard in asleep)
        if self.entry.status is not CaseStatus.COMPLETE:
            ended = self.entry.reason or "no reason was recorded"
            standing, reason = Standing.INVALID, f"the case did not complete: {ended}"
        return Evidence(
            runs=(self.run,),
            case=self.entry.name,
            check=check,
            standing=standing,
            reason=reason,
            decisions=decisions,
            legal_share=legal_share,
            divergences=self.divergences.get(check, ()),
            measures=measures,
        )


UNDECIDED_BOUND = 0.05
"""
Share of what was looked at that rules may leave open in a decisive case (unreported route, too many hidden states). A route change
or two cost one in twenty; with more, a client could be wrong most of the time unnoticed.
"""


def standing_with(facts: CaseFacts, seen: Mapping[Arm, int], lacking: str) -> tuple[Standing, str]:
    """DECISIVE if both arms have something to judge; else INDECISIVE with ``lacking``, where ``{}`` is the subject."""
    without = [facts.subjects[arm] for arm in Arm if not seen[arm]]
    return (Standing.INDECISIVE, lacking.format(without[0])) if without else (Standing.DECISIVE, "")


def counted(facts: CaseFacts, name: str, check: str, *keys: str) -> tuple[Measure, ...]:
    """One count per arm as measures, ``<name> baseline`` and ``<name> candidate``."""
    return tuple(
        Measure(f"{name} {arm}", facts.n(check, *keys, arm=str(arm)), "count", facts.n("sends", arm=str(arm)))
        for arm in Arm
    )
