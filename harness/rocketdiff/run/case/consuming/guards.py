"""The guards of a case about consumers: both groups settled, one feed for both, joins at the same instants."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.consuming.plan import MemberEvent
from rocketdiff.core.consuming.watched import RESUME, OrderedMember
from rocketdiff.core.run_info import Guard
from rocketdiff.core.units import NS_PER_MS, NS_PER_S
from rocketdiff.run.case.guards import FAULT_SLIP_LIMIT_S, SHORTENED_PAUSE_SHARE

Event = tuple[int, str, int]
"""Member, change and the time at which it was due."""

Queue = tuple[str, int]
"""Broker and queue id."""

SETTLED_WITHIN_S = 70.0
"""Three rounds of 20 s and a start."""

TOGETHER_NS = 250_000_000
"""Events of the script reach both groups at the same phase of faults. After each join before it both groups settle."""

SERVED_WITHIN_S = 2.5
"""
A message of a settled group is delivered in milliseconds, and the first fault comes after 3 s.

A heartbeat that finds another one under way is left out (java:5.5.0: ``lock heartBeat, but failed``). Brokers then refuse pulls
(code 25, SUBSCRIPTION_NOT_LATEST) until the next one, up to ``heartbeat_broker_interval_ms`` later, though all ids are listed.
"""

LATENESS_LIMIT_NS = 250_000_000
"""As of producers: a later message misses the phase that it was planned for."""


@dataclass(frozen=True, slots=True)
class GroupMeasurements:
    """
    What the runner measured of both groups.

    settled_s: after the last join; None if not; without an arm whose member broke the protocol. apart_ns: between both arms' starts
    of the same event of the script, the longest. answered: of the planned messages of the feeder; late_ns: median lateness of the feeder.
    caught_up_s: after the feed; None if not. interrupted: by member that is killed or paused, why that is not proven; empty if it
    is.
    """

    case_name: str
    planned: int
    answered: int
    late_ns: int
    apart_ns: int
    settled_s: Mapping[Arm, float | None] = field(default_factory=dict)
    unserved: Mapping[Arm, str] = field(default_factory=dict)
    caught_up_s: Mapping[Arm, float | None] = field(default_factory=dict)
    interrupted: Mapping[Member, str] = field(default_factory=dict)

    def measured(self) -> dict[str, int | float]:
        """Numbers for ``run.json``, with the unit in the name."""
        numbers: dict[str, int | float] = {"feeder_late_ns": self.late_ns, "events_apart_ns": self.apart_ns}
        numbers |= {f"settled_s_{arm}": round(took, 3) for arm, took in self.settled_s.items() if took is not None}
        return numbers | {f"caught_up_s_{arm}": round(s, 3) for arm, s in self.caught_up_s.items() if s is not None}


def consuming_guards_of(facts: GroupMeasurements) -> tuple[Guard, ...]:
    """The guards about groups. How far a group has caught up is measured, not guarded."""
    return (
        *(_settled(facts, arm, took) for arm, took in facts.settled_s.items()),
        *(_served(facts, arm, seen) for arm, seen in facts.unserved.items()),
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
            expected=f"each event of a member in both arms within {TOGETHER_NS / 1e6:.0f} ms of the other",
            seen=f"{facts.apart_ns / 1e6:.1f} ms",
            case=facts.case_name,
        ),
        *(_interrupted(facts, member, seen) for member, seen in facts.interrupted.items()),
    )


def _settled(facts: GroupMeasurements, arm: Arm, took_s: float | None) -> Guard:
    seen = "not settled" if took_s is None else f"after {took_s:.1f} s"
    return Guard(f"settled-{arm}", took_s is not None, f"settled within {SETTLED_WITHIN_S:g} s", seen, facts.case_name)


def _served(facts: GroupMeasurements, arm: Arm, unserved: str) -> Guard:
    expected = f"the first message of each queue delivered within {SERVED_WITHIN_S:g} s"
    return Guard(f"served-{arm}", not unserved, expected, unserved or "all were", facts.case_name)


def _interrupted(facts: GroupMeasurements, member: Member, flaw: str) -> Guard:
    expected = "killed and paused as planned, and proven"
    name = f"member-{member.number}-{member.arm}"
    return Guard(name, not flaw, expected, flaw or "proven", facts.case_name)


def apart_ns(arms: Sequence[Mapping[Event, int]]) -> int:
    """Return how long after each other an event began in two arms, at most. arms: when each began, of those that did."""
    first, second = arms
    return max((abs(first[event] - second[event]) for event in first.keys() & second.keys()), default=0)


def why_unproven(event: MemberEvent, orders: Sequence[OrderedMember], origin_ns: int) -> str:
    """Return what a kill or a pause lacks, in words; empty if it was as planned. orders: to its member."""
    at_ns = origin_ns + round(event.at_s * NS_PER_S)
    order = next((each for each in orders if each.what == event.change and each.at_ns == at_ns), None)
    if order is None:
        return f"no {event}"
    if order.proven_ns is None:
        return f"no effect of: {event}"
    late_s = (order.ordered_ns - at_ns) / NS_PER_S
    if late_s > FAULT_SLIP_LIMIT_S:
        return f"{event}: {late_s:.1f} s late"
    if event.for_s is None:
        return ""
    resumed = next((each for each in orders if each.what == RESUME and each.ordered_ns > order.ordered_ns), None)
    if resumed is None or resumed.proven_ns is None:
        return f"{event}: it was not stopped until then, or did not go on"
    lasted_s = (resumed.ordered_ns - order.proven_ns) / NS_PER_S
    return f"{event}: it lasted {lasted_s:.2f} s only" if lasted_s < SHORTENED_PAUSE_SHARE * event.for_s else ""


def first_unserved(stored_ns: Mapping[Queue, int], called_ns: Mapping[Queue, int], until_ns: int, work_ms: int) -> str:
    """
    Return the first queue whose first message waited for too long, in words; empty if there is none.

    stored_ns, called_ns: when a queue's first message was answered, and when its first call began. until_ns: the first fault or
    event; a queue that is not due before is left out. work_ms: of one call, for which the other queues may wait.
    """
    within_ns = round(SERVED_WITHIN_S * NS_PER_S) + work_ms * len(stored_ns) * NS_PER_MS
    for (broker, queue_id), from_ns in sorted(stored_ns.items()):
        due_ns = from_ns + within_ns
        at_ns = called_ns.get((broker, queue_id))
        if due_ns < until_ns and (at_ns is None or at_ns > due_ns):
            took = "nothing" if at_ns is None else f"the first after {(at_ns - from_ns) / NS_PER_S:.1f} s"
            return f"{took} of queue {queue_id} of {broker}; did its member's heartbeat reach {broker}?"
    return ""
