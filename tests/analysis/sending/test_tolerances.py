"""
Every constant of the judge that is a time: does it hide what a shipped scenario was made to show?

A tolerance is compared with the effect in each scenario: the time from send to send, the timeout or cap of an attempt, the length
of a fault. Constants that tolerate nothing are listed with what they are, so that a new one must be placed here.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

import rocketdiff
from rocketdiff.analysis.sending.checks.by_rules import late_callbacks
from rocketdiff.analysis.sending.checks.by_rules.late_ends import LATE_MS as LATE_END_MS
from rocketdiff.analysis.sending.checks.durations import lateness
from rocketdiff.analysis.sending.checks.results import moments, outcomes, slower_sends
from rocketdiff.analysis.sending.checks.storage import acknowledged, loss
from rocketdiff.analysis.sending.send_arrays import Sends
from rocketdiff.analysis.sending.steps import causes
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.fault import HOLD_ANSWERS_BACK, PAUSES, FaultKind
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.producer import durations
from rocketdiff.run.case import guards
from rocketdiff.run.case.sending import guards as sending_guards
from rocketdiff.scenario import Scenario, load_all

HARNESS = Path(rocketdiff.__file__).parent

Compared = tuple[float, float]
"""Tolerance and effect, in ms."""


def timeout_ms(scenario: Scenario) -> int:
    return scenario.settings.send_msg_timeout_ms


def attempt_ms(scenario: Scenario) -> int:
    cap_ms = scenario.settings.send_msg_max_timeout_per_request_ms
    return min(cap_ms, timeout_ms(scenario)) if cap_ms > 0 else timeout_ms(scenario)


def lasting_ms(scenario: Scenario, *kinds: FaultKind) -> list[float]:
    """How long faults of these kinds (none: of any) last that end."""
    found = [fault for fault in scenario.faults if not kinds or fault.kind in kinds]
    return [fault.for_s * 1_000 for fault in found if fault.for_s is not None]


def least_delay(scenario: Scenario) -> Iterator[Compared]:
    """A thread that is slower than its plan by more falls behind."""
    work = scenario.workload
    due = np.arange(work.sends) * int(1e9 / work.rate_per_s)
    none = np.zeros(due.size, dtype=np.int64)
    never = none.astype(np.bool_)
    sends = Sends(
        number=none, thread=np.arange(due.size) % work.threads, due=due, start=due, end=due, free=due, ended=never,
        broker=none, brokers=(), went_well=never, waits=never, is_oneway=never,
    )  # fmt: skip
    yield moments.least_ns(sends) / NS_PER_MS, 1_000 * work.threads / work.rate_per_s


def late_attempts(scenario: Scenario) -> Iterator[Compared]:
    """Without its timeout or cap, an attempt lasts as long as the longest pause."""
    for allowed_ms in (timeout_ms(scenario), attempt_ms(scenario)):
        yield durations.tolerated_ms(allowed_ms), allowed_ms
    beyond_ms = max(lasting_ms(scenario, *PAUSES), default=0.0) - attempt_ms(scenario)
    if beyond_ms > 0 and scenario.workload.mode is SendMode.SYNC:
        yield lateness.LEAST_MS, beyond_ms
        yield durations.tolerated_ms(attempt_ms(scenario)), beyond_ms


def waiting_one_way_calls(scenario: Scenario) -> Iterator[Compared]:
    """A one-way call that waits for its answer waits until its timeout, or the end of the longest fault."""
    waits = [
        min(timeout_ms(scenario), fault.delay_ms or (fault.for_s or 1e9) * 1_000)
        for fault in scenario.faults
        if fault.kind in HOLD_ANSWERS_BACK
    ]
    if waits and scenario.workload.mode is SendMode.ONEWAY:
        yield durations.WAITED_MS, max(waits)


def delays_beside_faults(scenario: Scenario) -> Iterator[Compared]:
    """A thread that waits for a blocked one waits for its timeout, or the end of the fault."""
    for shortest_ms in sorted(lasting_ms(scenario))[:1]:
        allowed_ms = slower_sends.least_beside_ns(timeout_ms(scenario), int(shortest_ms * NS_PER_MS)) / NS_PER_MS
        yield allowed_ms, min(timeout_ms(scenario), shortest_ms)


def late_sends(scenario: Scenario) -> Iterator[Compared]:
    """Sends that come later, or apart, miss the shortest fault."""
    for shortest_ms in sorted(lasting_ms(scenario))[:1]:
        yield sending_guards.lateness_limit_ns(scenario.faults) / NS_PER_MS, shortest_ms
        yield sending_guards.START_SPREAD_LIMIT_NS / NS_PER_MS, shortest_ms


def impossible_answers(scenario: Scenario) -> Iterator[Compared]:
    """A client that makes up answers does so during all of a pause."""
    pauses = lasting_ms(scenario, *PAUSES)
    if pauses:
        yield outcomes.SETTLED_NS / NS_PER_MS, min(pauses)
    if max(pauses, default=0.0) >= attempt_ms(scenario):
        yield acknowledged.EARLY_MS, max(pauses)


def calm_before(scenario: Scenario) -> Iterator[Compared]:
    """One-way messages may be lost shortly before the first fault, and a fault may begin late, but some calm is left."""
    if scenario.faults:
        first_ms = min(fault.at_s for fault in scenario.faults) * 1_000
        yield guards.FAULT_SLIP_LIMIT_S * 1_000, first_ms
        if scenario.workload.mode is SendMode.ONEWAY:
            yield loss.UNDER_WAY_NS / NS_PER_MS, first_ms


def waiting_callbacks(scenario: Scenario) -> Iterator[Compared]:
    """A callback that waits for the next send is late by the time between them."""
    if scenario.workload.mode is SendMode.ASYNC:
        yield late_callbacks.LATE_MS, 1_000 * scenario.workload.threads / scenario.workload.rate_per_s


def late_ends(scenario: Scenario) -> Iterator[Compared]:
    """A client that rests before it tries again, or tells of a failure, does so for at least as long as an attempt may last."""
    yield LATE_END_MS, attempt_ms(scenario)


def growing_waits(scenario: Scenario) -> Iterator[Compared]:
    yield lateness.GROWTH_LEAST_MS, attempt_ms(scenario)


def judged_timeouts(scenario: Scenario) -> Iterator[Compared]:
    """Outcomes are compared from this timeout on."""
    yield causes.LEISURELY_MS, timeout_ms(scenario)


TOLERANCES: Mapping[Callable[[Scenario], Iterator[Compared]], tuple[str, ...]] = {
    least_delay: ("moments.LEAST_NS",),
    late_attempts: ("durations.BUSY_MS", "durations.BUSY_LEAST_MS", "lateness.LEAST_MS"),
    waiting_one_way_calls: ("durations.WAITED_MS",),
    delays_beside_faults: ("slower_sends.BESIDE_NS",),
    late_sends: ("guards.LATENESS_LIMIT_NS", "guards.START_SPREAD_LIMIT_NS"),
    impossible_answers: ("outcomes.SETTLED_NS", "acknowledged.EARLY_MS"),
    calm_before: ("guards.FAULT_SLIP_LIMIT_S", "loss.UNDER_WAY_NS"),
    waiting_callbacks: ("late_callbacks.LATE_MS",),
    late_ends: ("late_ends.LATE_MS",),
    growing_waits: ("lateness.GROWTH_LEAST_MS",),
    judged_timeouts: ("causes.LEISURELY_MS",),
}

NO_TOLERANCE = {
    "two readings of clocks": (
        "content.BORN_CLOCK_MS", "delay.DELIVERY_CLOCK_MS", "loss.STORED_LATE_MS", "case_columns.ROUNDING_MS",
        "interval.PHASE_MS", "hidden_state.OVER_MS", "durations.ROUNDED_MS", "sentences._ROUNDING_MS",
        "ends._ROUNDING_MS", "sends._ROUNDING_MS", "wire_faults._ROUNDED_MS", "turns.SPARE_MS",
    ),
    "constants of the clients": (
        "fault_windows._REQUEST_SCAN_NS", "decision_point.HARMLESS_MS", "hidden_state.SLOW_MS", "durations.CONNECTING_MS",
        "ends._GRACE_MS", "ends._ACTED_LATE_MS", "ends._AT_ONCE_MS", "excuses.IDLE_NS",
        "recovery.FIRST_WAIT_NS", "unequal_failures.LOOK_NS",
    ),
    "units of counting, in which several events have one cause": (
        "moments.MOMENT_NS", "outcomes.MOMENT_NS", "outcomes.FAILURES_APART_NS", "judged_views.STRETCHES_APART_NS",
        "guards.APART_S",
    ),
    "how long an event may have effects": (
        "moments.SETTLING_NS", "causes.REPORTED_LATE_NS", "torn_connections.AT_ONCE_NS",
        "torn_connections.CLOSED_LATE_NS", "resources.WARM_UP_NS",
    ),
    "what stops the machine, not a client": ("guards.STALL_LIMIT_NS", "stall_watch.WORTH_NOTING_NS"),
    "sampling, pictures, representation": (
        "stall_watch.TICK_S", "process_resources.AT_REST_EVERY_S", "open_connections.AT_REST_EVERY_S",
        "sending_run.PROGRESS_EVERY_S", "case_run.GO_AHEAD_NS", "lanes.BEFORE_NS",
        "lanes.AFTER_NS", "lanes.REACH_NS", "moments._LONGEST_NS", "delay._MS_PER_S", "case_columns._EXACT_NS", "fault_windows.FOREVER_NS",
        "tallies.BIN_NS", "clock_watch.CHANGE_NS", "clock_watch.BRIEF_NS", "shared_list._ROUNDING_MS",
        "ends.LIMIT_S", "ends._POLL_S", "other_servers.KEPT_NS", "one_way.UNKNOWN_NS", "stationary.NEVER_MS",
    ),
}  # fmt: skip

WHERE = ("analysis/sending", "analysis/checks", "analysis/fault_windows.py", "oracle", "run/case")


def test_every_time_of_the_judge_is_placed() -> None:
    """A new constant in ms, ns or s is a tolerance that is compared below, or is none."""
    files = [
        file
        for where in WHERE
        for file in ([HARNESS / where] if where.endswith(".py") else (HARNESS / where).rglob("*.py"))
        if file.parent.name not in ("consuming", "consumer")  # of groups: the table of reports/README.md has theirs
    ]
    found = {f"{file.stem}.{name}" for file in files for name in _times_of(file)}
    placed = {name for names in (*TOLERANCES.values(), *NO_TOLERANCE.values()) for name in names}
    assert found == placed


def _times_of(file: Path) -> Iterator[str]:
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            yield from (name for name in names if name.isupper() and name.endswith(("_MS", "_NS", "_S")))


@pytest.mark.parametrize("tolerance", TOLERANCES, ids=lambda one: one.__name__)
def test_no_tolerance_hides_what_a_scenario_shows(tolerance: Callable[[Scenario], Iterator[Compared]]) -> None:
    """In every shipped scenario each tolerance is at most as large as the effect."""
    compared = {scenario.name: list(tolerance(scenario)) for scenario in load_all()}
    assert any(compared.values())
    assert [(name, pair) for name, pairs in compared.items() for pair in pairs if pair[0] > pair[1]] == []
