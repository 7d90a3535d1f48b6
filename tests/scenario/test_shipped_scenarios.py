"""The shipped scenarios: what they must cover and may cost."""

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.checks import ASKED, CHECKS
from rocketdiff.core.tables.fault import KILLS, OF_PROXIES, ON_THE_WIRE, FaultKind, FaultSpec
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.suites import SUITES
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.scenario import Scenario, load_all, select
from rocketdiff.scenario.stretch import stretched

FIXTURES = Path(__file__).parents[2] / "fixtures"
ALL = load_all()
BY_NAME = {scenario.name: scenario for scenario in ALL}
each = pytest.mark.parametrize("scenario", [pytest.param(scenario, id=scenario.name) for scenario in ALL])


@each
def test_a_shipped_files_name_is_its_path(scenario: Scenario) -> None:
    """A scenario's name is its path, for links in reports."""
    assert Path(scenario.source).relative_to(FIXTURES / "scenarios").as_posix() == f"{scenario.name}.yaml"


@pytest.mark.parametrize(
    "row", ["A1", "A3", "A4", "A5", "B1", "B2", "B3", "B4", "B5", "B10", "C1", "C2", "C3", "C4", "C5", "E4", "E5", "E6"]
)
def test_described_behaviour_has_a_scenario(row: str) -> None:
    """Each behaviour that a synchronous producer can show is covered by a scenario."""
    assert [scenario.name for scenario in ALL if row in scenario.covers]


@pytest.mark.parametrize(
    "situation",
    [
        "pause-one-of-two",
        "pause-one-of-three",
        "pause-both-of-two",
        "two-short-pauses",
        "pause-shorter-than-timeout",
        "pause-longer-than-timeout",
        "repeated-pauses",
        "kill-one-of-two",
        "calm",
    ],
)
def test_situation_is_there_with_fault_latency_off_and_on(situation: str) -> None:
    """Every situation is run with fault latency off and on."""
    off, on = BY_NAME[f"round-robin/{situation}"], BY_NAME[f"fault-latency/{situation}"]
    assert not off.settings.send_latency_fault_enable
    assert on.settings.send_latency_fault_enable
    assert off.topology == on.topology


@pytest.mark.parametrize(("suite", "left_out"), [("quick", {"order", "delay"}), ("full", set())])
def test_every_row_of_checks_is_asked_somewhere(suite: str, left_out: set[str]) -> None:
    """The full suite runs every check of producers; the quick one has no time for order and delay."""
    asked = {check for scenario in select(ALL, suite) for check in scenario.checks}
    about_producers = {name for name in ASKED if CHECKS[name].role is ClientRole.PRODUCER}
    assert asked & about_producers == about_producers - left_out


def test_every_mode_and_call_is_in_the_suite_of_modes() -> None:
    """The modes suite covers all modes, also under faults, all delays and properties, in at most two minutes."""
    modes = select(ALL, "modes")
    assert {scenario.workload.mode for scenario in modes} == set(SendMode)
    assert {mode for mode in SendMode if any(s.faults for s in modes if s.workload.mode is mode)} == set(SendMode)
    assert {level for scenario in modes for level in scenario.workload.delay_levels} == set(range(19))
    assert any(scenario.workload.properties for scenario in modes)
    assert sum(scenario.duration_s for scenario in modes) <= 120


def test_calls_and_retries_are_covered() -> None:
    """All calls and faults are covered, with no retry, the default and ten, and one thread and several."""
    assert {scenario.workload.call for scenario in ALL} == set(SendKind)
    assert {scenario.settings.retry_times_when_send_failed for scenario in ALL} == {0, 2, 10}
    assert {scenario.workload.threads for scenario in ALL} == {1, 2, 4}
    assert {fault.kind for scenario in ALL for fault in scenario.faults} == set(FaultKind)


def test_fault_latency_is_run_in_several_threads() -> None:
    """Fault latency is run in several threads, because they share the fault table."""
    shared = [s for s in ALL if s.settings.send_latency_fault_enable and s.workload.threads > 1]
    assert {s.workload.mode: s.name for s in shared} == {
        SendMode.SYNC: "fault-latency/pause-one-of-two-two-threads",
        SendMode.ASYNC: "async/pause-one-of-two-with-fault-latency",
    }
    assert all(fault.kind is FaultKind.PAUSE for s in shared for fault in s.faults)


@pytest.mark.parametrize("mode", [SendMode.ASYNC, SendMode.ONEWAY])
def test_calls_that_do_not_wait_meet_every_kind_of_fault(mode: SendMode) -> None:
    """Calls that do not wait meet every fault in some suite, except a move; a kill is once followed by a restart."""
    met = {fault.kind for s in ALL for fault in s.faults if s.workload.mode is mode}
    # Clients that speak gRPC have no one-way call.
    assert met == set(FaultKind) - {FaultKind.MOVE} - (OF_PROXIES if mode is SendMode.ONEWAY else set())
    assert any(f.kind is FaultKind.KILL and f.for_s for s in ALL if s.workload.mode is mode for f in s.faults)


def test_quick_suite_fits_its_budget() -> None:
    """
    The quick suite has at most 45 s of sends, 9 s of consuming, and at least 12 pauses, simultaneous ones counted once.
    """
    quick = select(ALL, "quick")
    took_s = {role: sum(one.duration_s for one in quick if one.role is role) for role in ClientRole}
    assert took_s[ClientRole.PRODUCER] <= 45
    assert took_s[ClientRole.CONSUMER] <= 9
    assert {scenario.topology for scenario in quick} == {"two-masters"}
    moments = {(s.name, f.at_s) for s in quick for f in s.faults if f.kind is FaultKind.PAUSE}
    assert len(moments) >= 12


def test_quick_suite_can_answer_what_it_times() -> None:
    """
    The quick suite has at least five lone pauses a pool, which needs four fault periods that both arms leave: one may be missed.
    """
    quick = [one for one in select(ALL, "quick") if one.role is ClientRole.PRODUCER]
    for is_latency_on in (False, True):
        lone = [pause for s in quick if s.settings.send_latency_fault_enable is is_latency_on for pause in _alone(s)]
        assert len(lone) >= 5, is_latency_on


def _alone(scenario: Scenario) -> list[FaultSpec]:
    """Pauses during which no other broker is paused."""
    pauses = [fault for fault in scenario.faults if fault.kind is FaultKind.PAUSE]
    return [one for one in pauses if not any(other is not one and _overlap(one, other) for other in pauses)]


def _overlap(one: FaultSpec, other: FaultSpec) -> bool:
    assert one.for_s is not None and other.for_s is not None, "pauses end"
    return one.at_s < other.at_s + other.for_s and other.at_s < one.at_s + one.for_s


def test_full_suite_fits_its_budget() -> None:
    """
    The full suite takes at most twenty-three minutes and has at least 30 episodes.

    Counted: 3 s a case (set-up, warm-up, read-back), 4 s to restart a killed broker, 16 s to start each cluster (those with
    slaves have five nodes), and 60 s for analysis and report.
    """
    full = select(ALL, "full")
    kills = sum(fault.kind in KILLS for scenario in full for fault in scenario.faults)
    clusters = len({scenario.topology for scenario in full})
    work_s = sum(scenario.duration_s for scenario in full)
    assert work_s + 3 * len(full) + 4 * kills + 16 * clusters + 60 <= 1_380
    assert sum(scenario.episodes for scenario in full) >= 30


def test_every_scenario_is_in_a_suite() -> None:
    """Every scenario is in a suite."""
    assert {scenario.name for suite in SUITES for scenario in select(ALL, suite)} == set(BY_NAME)


def test_suite_of_the_wire_is_short() -> None:
    """The wire suite has at most 30 s of work and every fault on the wire."""
    suite = select(ALL, "wire")
    assert {scenario.topology for scenario in suite} == {"two-masters"}
    assert sum(scenario.duration_s for scenario in suite) <= 30
    assert {fault.kind for scenario in suite for fault in scenario.faults} >= ON_THE_WIRE


def test_suite_of_clients_meets_every_mode_with_every_fault_in_four_minutes() -> None:
    """
    The client suite takes at most four minutes, with each mode and sync call under each fault.

    Counted as for the full suite, with 30 s for the report. For attempts of 3 s it may take half as long again: pauses are four
    to ten times as long.
    """
    suite = select(ALL, "client")
    assert {scenario.topology for scenario in suite} == {"two-masters"}
    kills = sum(fault.kind in KILLS for scenario in suite for fault in scenario.faults)
    work_s = sum(scenario.duration_s for scenario in suite)
    assert work_s + 3 * len(suite) + 4 * kills + 16 + 30 <= 240
    longer_s = sum(stretched(scenario, 3_000).duration_s for scenario in suite) - work_s
    assert work_s + longer_s + 3 * len(suite) + 4 * kills + 16 + 30 <= 360
    kinds = ON_THE_WIRE | {FaultKind.PAUSE, FaultKind.KILL}
    calls = {(s.workload.mode, s.workload.call, f.kind) for s in suite for f in s.faults}
    remoting = [call for call in SendKind if call is not SendKind.GROUP]
    asked = [(SendMode.SYNC, call) for call in remoting] + [(mode, SendKind.PLAIN) for mode in SendMode]
    assert {(*call, kind) for call in asked for kind in kinds} <= calls


def test_suite_of_deployments_fits_its_budget() -> None:
    """
    The deployments suite takes at most six minutes, counted as for the full one with 30 s for the report.

    It starts the deployments of row E4 that other suites do not, with faults of slaves and settings.
    """
    suite = select(ALL, "deployments")
    kinds = {fault.kind for scenario in suite for fault in scenario.faults}
    kills = sum(fault.kind in KILLS for scenario in suite for fault in scenario.faults)
    clusters = {scenario.topology for scenario in suite}
    work_s = sum(scenario.duration_s for scenario in suite)
    assert work_s + 3 * len(suite) + 4 * kills + 16 * len(clusters) + 30 <= 360
    assert clusters >= {"two-masters-with-slaves-async", "two-masters-with-slaves-sync", "two-masters-sync-flush"}
    assert kinds >= {FaultKind.PAUSE_SLAVE, FaultKind.KILL_SLAVE, FaultKind.READ_ONLY, FaultKind.FLOW_CONTROL}


def test_quick_suite_sees_the_end_of_ten_seconds_of_avoidance() -> None:
    """At least 11 s are left after a failed send, because from 5.1.4 on a broker is avoided for 10 s."""
    scenario = BY_NAME["fault-latency/pause-one-of-two"]
    pause = scenario.faults[0]
    assert "quick" in scenario.suites
    # A send meets the pause within one turn of the other broker's queues; then the whole timeout passes.
    met_s = pause.at_s + 2 * scenario.queues_per_broker / scenario.workload.rate_per_s
    failed_s = met_s + scenario.settings.send_msg_timeout_ms / 1000
    assert scenario.duration_s - failed_s >= 11


def test_every_shipped_scenario_is_accepted_by_the_schema() -> None:
    """The published schema accepts every shipped scenario."""
    schema = json.loads((FIXTURES / "schema" / "scenario-1.json").read_text())
    Draft202012Validator.check_schema(schema)
    accepts = Draft202012Validator(schema).is_valid
    assert [scenario.name for scenario in ALL if not accepts(yaml.safe_load(scenario.text))] == []


@each
def test_faults_begin_after_the_first_heartbeat(scenario: Scenario) -> None:
    """No fault begins before 1.5 s, because a producer's first heartbeat comes 1 s after its start."""
    assert all(fault.at_s >= 1.5 for fault in scenario.faults)


@each
def test_no_heartbeat_meets_an_ill_broker(scenario: Scenario) -> None:
    """No heartbeat meets a faulty broker: from 4.9.1 on its timeout closes the channel of judged sends."""
    is_remoting = not topology_named(scenario.topology).has_proxies
    if is_remoting and any(fault.kind is not FaultKind.PAUSE_NAME_SERVER for fault in scenario.faults):
        assert scenario.settings.heartbeat_broker_interval_ms == 600_000


@each
def test_rates_leave_both_arms_room(scenario: Scenario) -> None:
    """
    Two arms on two cores need moderate rates (40 to 200 sends a second each); cases are short.

    One feeder feeds both groups, and brokers forget a connection after two minutes.
    """
    least, longest_s = (
        (10, 240)
        if scenario.role is ClientRole.CONSUMER and scenario.suites in (("full",), ("upgrades",))
        else (40, 35)
    )
    assert least <= scenario.workload.rate_per_s <= 200
    assert scenario.duration_s <= longest_s
