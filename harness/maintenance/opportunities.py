"""
``python -m maintenance.opportunities``: writes how often each suite gives a defect of a class an opportunity.

Counted in one run of the reference in virtual time, with healthy brokers that answer in 1 to 4 ms. Each count is a
function of what the client did, so a scenario that no longer meets a situation shows.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from operator import attrgetter
from random import Random

from maintenance.faithful.laboratory import arm_of, script_of
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.resources import resource
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind, SendMode
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.suites import SUITES
from rocketdiff.core.tables.topology import TOPOLOGIES
from rocketdiff.core.units import NS_PER_S
from rocketdiff.scenario import Scenario, load_all, plan_of, select
from rocketdiff.simulation.virtual import run_reference
from rocketmq_reference.dialects import dialect_of
from tests.analysis.synthetic import ORIGIN_NS, ArmRecords

RELEASE, SEED = "5.3.3", 1
TABLE = resource("fixtures") / "opportunities.md"

PAGE_BYTES, LARGE_BYTES = 4_096, 65_536
"""Usual sizes of buffers: a body that is larger and no multiple ends within one."""


@dataclass(frozen=True)
class Played:
    """A scenario, its sends, and the records of a client that played them."""

    scenario: Scenario
    plan: Plan
    records: ArmRecords

    @cached_property
    def attempts(self) -> Mapping[int, Sequence[Attempt]]:
        """By send."""
        made: defaultdict[int, list[Attempt]] = defaultdict(list)
        for attempt in self.records.attempts:
            made[attempt.send].append(attempt)
        return made

    def sends(self, mode: SendMode) -> Iterator[PlannedSend]:
        return (planned for planned in self.plan.sends if planned.mode is mode)


def played(scenario: Scenario) -> Played | None:
    """Play a scenario; None for one with proxies, which a script has not."""
    if TOPOLOGIES[scenario.topology].has_proxies:
        return None
    script, plan = script_of(scenario, SEED, SEED), plan_of(scenario, SEED)
    lines = run_reference(dialect_of(RELEASE), scenario.name, script, trace=True)
    return Played(scenario, plan, arm_of(scenario, plan, script, lines, Random(SEED)))


Count = Callable[[Played], int]


def _retries(which: Callable[[Played, PlannedSend], bool] = lambda _case, _send: True) -> Count:
    return lambda case: sum(len(case.attempts[send.send][1:]) for send in case.plan.sends if which(case, send))


def _is_compressed(case: Played, send: PlannedSend) -> bool:
    return send.body_bytes > case.scenario.settings.compress_msg_body_over_howmuch


def _is_large_and_odd(_: Played, send: PlannedSend) -> bool:
    return send.body_bytes > LARGE_BYTES and send.body_bytes % PAGE_BYTES != 0


def _resets_its_index(case: Played, send: PlannedSend) -> bool:
    is_chosen = send.mode is SendMode.SYNC and not send.kind.names_queue
    return is_chosen and case.scenario.settings.send_latency_fault_enable


def _streaks(case: Played) -> int:
    ended = sorted(case.records.attempts, key=attrgetter("end_ns"))
    runs = groupby(ended, key=lambda attempt: attempt.error is not None)
    return sum(failed and len([*run]) >= 3 for failed, run in runs)


def _timeouts(case: Played) -> int:
    return sum(attempt.error == "RemotingTimeoutException" for attempt in case.records.attempts)


def _failed(case: Played) -> int:
    return sum(send.error is not None for send in case.records.sends)


def _starts(case: Played) -> int:
    chosen = (SendKind.PLAIN, SendKind.BATCH)
    return len({send.thread for send in case.plan.sends if send.kind in chosen and send.mode is not SendMode.ASYNC})


def _route_changes(case: Played) -> Iterator[int]:
    """When each list other than the one before was first seen by a send, in ns from the origin."""
    lists = {route.route: route.queues for route in case.records.routes}
    for before, after in pairwise(sorted(case.records.sends, key=attrgetter("start_ns"))):
        if lists[before.route] != lists[after.route]:
            yield after.start_ns - ORIGIN_NS


def _after_a_name_server(case: Played) -> int:
    ends = [
        fault.at_s + (fault.for_s or 0) for fault in case.scenario.faults if fault.kind is FaultKind.PAUSE_NAME_SERVER
    ]
    return sum(at_ns > min(ends) * NS_PER_S for at_ns in _route_changes(case)) if ends else 0


def _other_calls(case: Played) -> int:
    of_thread = sorted(case.plan.sends, key=attrgetter("thread", "send"))
    return sum(one.thread == other.thread and one.kind is not other.kind for one, other in pairwise(of_thread))


def _met_again(case: Played, kind: FaultKind) -> int:
    """Restarted brokers that answered afterwards."""
    restarts = [fault for fault in case.scenario.faults if fault.kind is kind and fault.for_s is not None]
    return sum(
        any(
            one.broker == fault.node
            and one.error is None
            and one.start_ns - ORIGIN_NS > (fault.at_s + fault.for_s) * NS_PER_S
            for one in case.records.attempts
        )
        for fault in restarts
        if fault.for_s is not None
    )


def _connecting(case: Played) -> int:
    """One-way sends that find no connection: the first to their broker, or the first after a failed one."""
    count, connected = 0, set[str]()
    for send in case.sends(SendMode.ONEWAY):
        for attempt in case.attempts[send.send]:
            count += attempt.broker not in connected
            (connected.add if attempt.error is None else connected.discard)(attempt.broker)
    return count


def _failed_callbacks(case: Played) -> int:
    failed = {attempt.send for attempt in case.records.attempts if attempt.error is not None}
    return len({send.send for send in case.sends(SendMode.ASYNC)} & failed)


def _overtaken(case: Played) -> int:
    """Asynchronous sends that end before an earlier one."""
    ends = [send.end_ns for send in sorted(case.records.sends, key=attrgetter("start_ns")) if send.returned_ns]
    return sum(end_ns < max(ends[:number], default=0) for number, end_ns in enumerate(ends))


OCCASIONS: Mapping[str, Count] = {
    "send": lambda case: len(case.plan.sends),
    "first choice of a thread": _starts,
    "retry": _retries(),
    "retry with tags and keys": _retries(lambda _, send: bool(send.tags and send.keys)),
    "retry with a delay": _retries(lambda _, send: send.delay_level > 0),
    "retry of a compressed body": _retries(_is_compressed),
    "retry of a body over 64 KiB, no multiple of 4,096": _retries(_is_large_and_odd),
    "retry beside other threads": _retries(lambda case, _: case.plan.threads > 1),
    "retry of an asynchronous send": _retries(lambda _, send: send.mode is SendMode.ASYNC),
    "retry that starts from a new index": _retries(_resets_its_index),
    "three failed attempts in a row": _streaks,
    "attempt that times out": _timeouts,
    "send that fails": _failed,
    "change of the route": lambda case: len([*_route_changes(case)]),
    "change of the route after a name server's pause": _after_a_name_server,
    "send by another call than the one before": _other_calls,
    "restarted broker that answers again": lambda case: _met_again(case, FaultKind.KILL),
    "broker that answers again at another address": lambda case: _met_again(case, FaultKind.MOVE),
    "one-way send that makes a connection": _connecting,
    "callback after a failed attempt": _failed_callbacks,
    "callback before that of an earlier send": _overtaken,
}
"""What a defect of a class needs, and how many of them an arm meets in a case."""


@dataclass(frozen=True, slots=True)
class Opportunities:
    """What an arm meets in one run of a suite; scenarios: how many it has, played: how many of them were counted."""

    scenarios: int
    played: int
    occasions: Mapping[str, int]


def opportunities(scenarios: Sequence[Scenario]) -> Opportunities:
    cases = [case for scenario in scenarios if (case := played(scenario)) is not None]
    counts = {name: sum(map(count, cases)) for name, count in OCCASIONS.items()}
    return Opportunities(len(scenarios), len(cases), counts)


def table(suites: Mapping[str, Opportunities]) -> str:
    """Return the document."""
    head = [
        "# Opportunities",
        "",
        "What a defect needs to show, and how often one arm meets it in a run of each suite. Counted in virtual time with",
        f"the rules of Java {RELEASE}; a `.` is none. Made by `python -m maintenance.opportunities`.",
        "",
        f"| Occasion | {' | '.join(suites)} |",
        f"|---|{'---:|' * len(suites)}",
        _row("scenarios counted", [f"{one.played} of {one.scenarios}" for one in suites.values()]),
    ]
    rows = (_row(name, [_cell(one.occasions[name]) for one in suites.values()]) for name in OCCASIONS)
    return "\n".join([*head, *rows, ""])


def _cell(count: int) -> str:
    return f"{count:,}" if count else "."


def _row(name: str, cells: Sequence[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


def scenarios_counted() -> list[Scenario]:
    """Return the shipped scenarios about producers."""
    return [scenario for scenario in load_all() if scenario.role is ClientRole.PRODUCER]


def main() -> int:
    scenarios = scenarios_counted()
    by_suite = {suite: opportunities(select(scenarios, suite)) for suite in SUITES}
    TABLE.write_text(table({suite: one for suite, one in by_suite.items() if one.played}), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
