"""The guards of a case about producers: both arms sent what was planned, together and on time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Send
from rocketdiff.core.run_info import Guard
from rocketdiff.core.sends.plan import Plan
from rocketdiff.core.tables.fault import FaultSpec
from rocketdiff.core.units import NS_PER_S

START_SPREAD_LIMIT_NS = 50_000_000
"""50 ms: less than the shortest pause that both arms must meet."""

LATENESS_LIMIT_NS = 250_000_000
OF_A_FAULT = 0.5
"""
Median lateness of an arm's sends in calm: at most half of the shortest fault, and a quarter of a second. Later ones miss the fault
phases that they were planned for. Medians are a few ms even with both cores kept busy.
"""


@dataclass(frozen=True, slots=True)
class SendMeasurements:
    """
    What the runner measured of the sends of one case.

    planned: sends per arm. first_ns: start of each arm's first send. late_ns: median lateness in calm. lost: arms whose
    client broke the protocol. lateness_limit_ns: of its faults.
    """

    case_name: str
    planned: int
    first_ns: Mapping[Arm, int]
    late_ns: Mapping[Arm, int]
    answered: Mapping[Arm, int]
    lost: frozenset[Arm] = frozenset()
    lateness_limit_ns: int = LATENESS_LIMIT_NS

    @property
    def spread_ns(self) -> int | None:
        """None if an arm never sent."""
        return (
            abs(self.first_ns[Arm.BASELINE] - self.first_ns[Arm.CANDIDATE]) if len(self.first_ns) == len(Arm) else None
        )

    def measured(self) -> dict[str, int | float]:
        """Numbers for ``run.json``, with the unit in the name."""
        numbers: dict[str, int | float] = {f"late_ns_{arm}": late for arm, late in self.late_ns.items()}
        if self.spread_ns is not None:
            numbers["start_spread_ns"] = self.spread_ns
        return numbers


def lateness_limit_ns(faults: Iterable[FaultSpec]) -> int:
    """How late an arm's sends in calm may be for these faults."""
    shortest_s = min((fault.for_s for fault in faults if fault.for_s is not None), default=NS_PER_S)
    return min(LATENESS_LIMIT_NS, int(OF_A_FAULT * shortest_s * NS_PER_S))


def median_lateness_ns(plan: Plan, reported: Mapping[Arm, Sequence[Send]], origin_ns: int) -> dict[Arm, int]:
    """
    Median lateness of each arm's sends whose thread was free when they were due.

    Sending is a closed loop: a send that waits for the previous one is late because of the fault, not the machine.
    """
    due = {send.send: origin_ns + send.due_ns for send in plan.sends}
    return {arm: _median_lateness_ns(due, sends) for arm, sends in reported.items() if sends}


def _median_lateness_ns(due: Mapping[int, int], sends: Iterable[Send]) -> int:
    free: dict[int, int] = {}
    late = []
    for send in sorted(sends, key=lambda send: send.start_ns):
        if free.get(send.thread, 0) <= due[send.send]:
            late.append(send.start_ns - due[send.send])
        free[send.thread] = send.end_ns
    return int(median(late)) if late else 0


def sending_guards_of(facts: SendMeasurements) -> tuple[Guard, ...]:
    """The guards about sends. What a lost client left undone is up to the protocol check."""
    return (*_start(facts), *_lateness(facts), *_complete(facts))


def _start(facts: SendMeasurements) -> tuple[Guard, ...]:
    spread = facts.spread_ns
    if spread is None:
        return ()
    return (
        Guard(
            name="started-together",
            held=spread <= START_SPREAD_LIMIT_NS,
            expected=f"first sends within {START_SPREAD_LIMIT_NS / 1e6:.0f} ms of each other",
            seen=f"{spread / 1e6:.1f} ms",
            case=facts.case_name,
        ),
    )


def _lateness(facts: SendMeasurements) -> tuple[Guard, ...]:
    return tuple(
        Guard(
            name=f"on-schedule-{arm}",
            held=late <= facts.lateness_limit_ns,
            expected=f"sends in calm at most {facts.lateness_limit_ns / 1e6:.0f} ms late (median)",
            seen=f"{late / 1e6:.1f} ms",
            case=facts.case_name,
        )
        for arm, late in facts.late_ns.items()
    )


def _complete(facts: SendMeasurements) -> tuple[Guard, ...]:
    return tuple(
        Guard(
            f"plan-done-{arm}", count == facts.planned, f"{facts.planned} sends answered", f"{count}", facts.case_name
        )
        for arm, count in facts.answered.items()
        if arm not in facts.lost
    )
