"""The guards of a case about consumers: both groups settled, one feed for both, joins at the same instants."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocketdiff.core.arm import Arm
from rocketdiff.core.run_info import Guard

SETTLED_WITHIN_S = 70.0
"""Three rounds of 20 s and a start."""

TOGETHER_NS = 100_000_000
"""Events reach both groups at the same phase of faults."""

LATENESS_LIMIT_NS = 250_000_000
"""As of producers: a later message misses the phase that it was planned for."""


@dataclass(frozen=True, slots=True)
class GroupMeasurements:
    """
    What the runner measured of both groups.

    settled_s: after the last join; None if not; without an arm whose member broke the protocol. apart_ns: between both arms' starts of the same member, the longest. answered:
    of the planned messages of the feeder; late_ns: median lateness of the feeder. caught_up_s: after the feed; None if not.
    """

    case_name: str
    planned: int
    answered: int
    late_ns: int
    apart_ns: int
    settled_s: Mapping[Arm, float | None] = field(default_factory=dict)
    caught_up_s: Mapping[Arm, float | None] = field(default_factory=dict)

    def measured(self) -> dict[str, int | float]:
        """Numbers for ``run.json``, with the unit in the name."""
        numbers: dict[str, int | float] = {"feeder_late_ns": self.late_ns, "joins_apart_ns": self.apart_ns}
        numbers |= {f"settled_s_{arm}": round(took, 3) for arm, took in self.settled_s.items() if took is not None}
        return numbers | {f"caught_up_s_{arm}": round(s, 3) for arm, s in self.caught_up_s.items() if s is not None}


def consuming_guards_of(facts: GroupMeasurements) -> tuple[Guard, ...]:
    """The guards about groups. How far a group has caught up is measured, not guarded."""
    return (
        *(_settled(facts, arm, took) for arm, took in facts.settled_s.items()),
        Guard(
            "fed",
            facts.answered == facts.planned,
            f"{facts.planned} sends answered",
            f"{facts.answered}",
            facts.case_name,
        ),
        Guard(
            "fed-on-schedule",
            held=facts.late_ns <= LATENESS_LIMIT_NS,
            expected=f"messages in calm at most {LATENESS_LIMIT_NS / 1e6:.0f} ms late (median)",
            seen=f"{facts.late_ns / 1e6:.1f} ms",
            case=facts.case_name,
        ),
        Guard(
            "together",
            held=facts.apart_ns <= TOGETHER_NS,
            expected=f"each member of both arms started within {TOGETHER_NS / 1e6:.0f} ms of the other",
            seen=f"{facts.apart_ns / 1e6:.1f} ms",
            case=facts.case_name,
        ),
    )


def _settled(facts: GroupMeasurements, arm: Arm, took_s: float | None) -> Guard:
    seen = "not settled" if took_s is None else f"after {took_s:.1f} s"
    return Guard(f"settled-{arm}", took_s is not None, f"settled within {SETTLED_WITHIN_S:g} s", seen, facts.case_name)
