"""
How long did a client stay away from a broker after an attempt there failed?

Measured from the end of a failed attempt to the same thread's next attempt on that broker; without one, at least to the
thread's last attempt. A measure beside the check ``avoidance``, in an operator's terms (600 s against 10 s); the replay
decides what was legal.
"""

from dataclasses import dataclass, field

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.core.answers.verdict import Measure
from rocketdiff.core.arm import Arm
from rocketdiff.core.units import NS_PER_MS

RETURNED = "returned"
STAYED_AWAY = "stayed-away"
NAME = "avoidance.absence"
"""The tally; its totals are milliseconds."""


@dataclass(slots=True)
class Absences:
    """Follows every thread. failed: end of the last failed attempt, by arm, thread and broker."""

    collector: SendFacts
    failed: dict[tuple[str, int, str], int] = field(default_factory=dict)
    latest: dict[tuple[str, int], int] = field(default_factory=dict)

    def observe(self, side: SendView) -> None:
        """Record the attempts of one send; a retry within it is no return."""
        arm = str(side.arm)
        failed_here: dict[tuple[str, int, str], int] = {}
        for attempt in side.attempts:
            key = (arm, side.thread, attempt.broker)
            failed_ns = self.failed.pop(key, None)
            if failed_ns is not None:
                away_ms = (attempt.start_ns - failed_ns) / NS_PER_MS
                self.collector.count(NAME, arm, str(side.phase), RETURNED, total=away_ms)
            if attempt.error is not None:
                failed_here[key] = attempt.end_ns
            self.latest[arm, side.thread] = attempt.start_ns
        self.failed |= failed_here

    def remark(self, side: SendView, attempt: int | None) -> str:
        """Words for the time since the last failed attempt on a broker used again; call before ``observe``."""
        tried = next((made for made in side.attempts if made.attempt == attempt), None)
        if tried is None:
            return ""
        failed_ns = self.failed.get((str(side.arm), side.thread, tried.broker))
        if failed_ns is None:
            return ""
        return f", {(tried.start_ns - failed_ns) / 1e9:,.1f} s after its last failed attempt there"

    def finish(self) -> None:
        for (arm, thread, _), failed_ns in self.failed.items():
            away_ms = max(0, self.latest[arm, thread] - failed_ns) / NS_PER_MS
            self.collector.count(NAME, arm, "calm", STAYED_AWAY, total=away_ms)


def absence_measures(facts: CaseFacts) -> tuple[Measure, ...]:
    """Mean absence of each arm in ms; for threads that never returned, a lower bound."""
    measures = []
    for arm in Arm:
        for key, name in ((RETURNED, "away-until-return"), (STAYED_AWAY, "away-at-least")):
            mean_ms = facts.mean(NAME, key, arm=str(arm))
            if mean_ms is not None:
                measures.append(Measure(f"{name} {arm}", mean_ms, "ms", facts.n(NAME, key, arm=str(arm))))
    return tuple(measures)
