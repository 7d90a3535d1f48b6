"""Measured conditions for a valid case of any role. A guard that did not hold makes checks INVALID, never a pass."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from rocketdiff.core.arm import Member
from rocketdiff.core.run_info import Guard
from rocketdiff.core.tables.fault import KILLS, PAUSES, FaultKind, FaultRecord, FaultSpec
from rocketdiff.core.tables.settings import LEARNT_LATE_S, REQUEST_SCAN_S
from rocketdiff.core.units import NS_PER_S
from rocketdiff.run.case.stall_watch import MeasuredStalls
from rocketdiff.scenario import Case, Scenario

STALL_LIMIT_NS = 1_000_000_000
"""
How late a sleeping thread may wake while no subject shows a sign of life.

With both cores kept busy it is a few hundredths of a second. A full second means a suspended machine or one without free
CPU.
"""

SHORTENED_PAUSE_SHARE = 0.5
"""A pause shorter than half of the requested time is another scenario."""


FAULT_SLIP_LIMIT_S = 1.0
"""
How late a fault may begin.

Shipped plans have 1.5 s of calm before the first fault, and after it 1 s more than the 10 s that an avoidance takes to
end. With a slip of 1 s all phases are still there; shorter gaps between pauses are protected by checking that the pauses
stayed apart. Seen on two cores: a few hundredths of a second at rest, at most 0.53 s under a load of 25.
"""

APART_S = 0.1
"""Pauses planned at least this far apart are separate causes. Closer ones could not be kept apart."""


@dataclass(frozen=True, slots=True)
class WireReport:
    """
    What the wire showed of one client.

    witnesses: who saw its requests, in words; empty without a relay. unseen: frames that the relay could not see or read,
    as sentences; the record is incomplete then. against: where the client contradicts the wire. of: what both report, and
    differing: what differs, in words.
    """

    witnesses: str = ""
    unseen: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    of: str = "attempts"
    differing: str = "sends"


@dataclass(frozen=True, slots=True)
class CaseMeasurements:
    """
    What the runner measured in one case.

    wire: what the relay before a member saw. origin_ns: the schedule's zero, when the first operation was due.
    problems: unexpected events of the cluster, and expected ones that did not happen, as sentences.
    """

    case: Case
    case_name: str
    faults: Sequence[FaultRecord]
    problems: Sequence[str]
    is_read_back: bool
    origin_ns: int
    wire: Mapping[Member, WireReport] = field(default_factory=dict)
    stalls: MeasuredStalls = field(default_factory=MeasuredStalls)


def guards_of(facts: CaseMeasurements) -> tuple[Guard, ...]:
    """The guards of a case of any role."""
    return (*_faults(facts), _read_back(facts), *_awake(facts), *_witnesses(facts))


def _faults(facts: CaseMeasurements) -> tuple[Guard, ...]:
    held = tuple(_effective(facts, spec) for spec in facts.case.faults)
    wrong = tuple(
        Guard("cluster", held=False, expected="a cluster that follows the schedule", seen=seen, case=facts.case_name)
        for seen in facts.problems
    )
    return held + wrong + tuple(_on_time(facts))


def _effective(facts: CaseMeasurements, spec: FaultSpec) -> Guard:
    """Whether one fault was injected, proven, lasted long enough and (unless permanent) was proven over."""
    expected = f"{spec.kind} of {spec.node} at {spec.at_s:g} s in effect and proven"
    record = next((r for r in facts.faults if r.episode == spec.episode and r.node == spec.node), None)
    if record is None:
        seen = "not injected"
    else:
        seen = _flaw(record, spec) or _missed(record, facts.case.scenario, facts.origin_ns)
    return Guard(f"fault-{spec.episode}", not seen, expected, seen or "proven", facts.case_name)


def _flaw(record: FaultRecord, spec: FaultSpec) -> str:
    if record.proven_ns is None:
        return "its effect was not shown"
    if spec.for_s is None or spec.kind in KILLS:
        return ""
    if record.heal_ns is None or record.heal_proven_ns is None:
        return "its end was not shown"
    lasted_s = (record.heal_ns - record.injected_ns) / 1e9
    return f"it lasted {lasted_s:.2f} s only" if lasted_s < SHORTENED_PAUSE_SHARE * spec.for_s else ""


def _missed(record: FaultRecord, scenario: Scenario, origin_ns: int) -> str:
    """
    A moved broker must be back before the end, or no client shows whether it finds it at its new address.

    It is looked for from the next poll of the route on, and judged when requests to its old address may no longer be due to
    its death.
    """
    if record.kind is not FaultKind.MOVE or record.healed_ns is None:
        return ""
    settings = scenario.settings
    learnt_s = settings.poll_name_server_interval_ms / 1_000 + LEARNT_LATE_S
    felt_s = settings.send_msg_timeout_ms / 1_000 + REQUEST_SCAN_S
    left_s = scenario.duration_s - (record.healed_ns - origin_ns) / NS_PER_S
    if left_s >= max(learnt_s, felt_s):
        return ""
    return f"the broker was back {max(left_s, 0):.1f} s before the end: at least {max(learnt_s, felt_s):g} s are needed"


def _on_time(facts: CaseMeasurements) -> Iterator[Guard]:
    """Whether every fault began on time and pauses planned apart stayed apart."""
    done = {(record.episode, record.node): record for record in facts.faults}
    pairs = [(spec, done[key]) for spec in facts.case.faults if (key := (spec.episode, spec.node)) in done]
    if not pairs:
        return
    slips = [*_late(pairs, facts.origin_ns), *_merged(pairs)]
    yield Guard(
        name="fault-on-time",
        held=not slips,
        expected=f"every fault within {FAULT_SLIP_LIMIT_S:g} s of its time, and no overlap of pauses that the plan keeps apart",
        seen="; ".join(slips) or "the schedule was kept",
        case=facts.case_name,
    )


def _late(pairs: Sequence[tuple[FaultSpec, FaultRecord]], origin_ns: int) -> Iterator[str]:
    for spec, record in pairs:
        began_s = (record.inject_ns - origin_ns) / 1e9
        if abs(began_s - spec.at_s) > FAULT_SLIP_LIMIT_S:
            yield f"{spec.kind} of {spec.node} due at {spec.at_s:.1f} s came at {began_s:.1f} s"


def _merged(pairs: Sequence[tuple[FaultSpec, FaultRecord]]) -> Iterator[str]:
    pauses = [(spec, record) for spec, record in pairs if spec.kind in PAUSES]
    for (spec, record), (later, other) in combinations(sorted(pauses, key=lambda pair: pair[0].at_s), 2):
        is_apart = spec.for_s is not None and later.at_s - spec.at_s - spec.for_s >= APART_S
        if is_apart and (record.healed_ns is None or other.inject_ns < record.healed_ns):
            yield f"the pauses of {spec.node} at {spec.at_s:g} s and {later.node} at {later.at_s:g} s overlapped"


def _awake(facts: CaseMeasurements) -> Iterator[Guard]:
    """A stopped machine or subject is not a stalling client."""
    gap_ns = facts.stalls.longest_gap_ns
    yield Guard(
        name="awake-machine",
        held=gap_ns <= STALL_LIMIT_NS,
        expected=f"a sleeping thread woken at most {STALL_LIMIT_NS / 1e6:.0f} ms late",
        seen=f"{gap_ns / 1e6:.0f} ms",
        case=facts.case_name,
    )
    for member, stopped_ns in facts.stalls.stopped_ns.items():
        seen = f"stopped for about {stopped_ns / 1e6:.0f} ms" if stopped_ns else "never stopped"
        yield Guard(f"awake-{member}", not stopped_ns, "processes that are not stopped", seen, facts.case_name)


def _witnesses(facts: CaseMeasurements) -> tuple[Guard, ...]:
    """Whether client and relay agree. If not, one is wrong, and no check based on requests is reliable."""
    return tuple(
        Guard(
            f"witness-{member}",
            held=not wire.against,
            expected=f"consistent reports of {member}'s {wire.of}",
            seen=f"{len(wire.against)} {wire.differing} differ, {wire.against[0]}" if wire.against else wire.witnesses,
            case=facts.case_name,
        )
        for member, wire in facts.wire.items()
        if wire.witnesses
    )


def _read_back(facts: CaseMeasurements) -> Guard:
    seen = "read" if facts.is_read_back else "not read"
    return Guard("read-back", facts.is_read_back, "every queue read to its end after healing", seen, facts.case_name)
