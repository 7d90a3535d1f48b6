"""A scenario as a script: the same sends, times and faults."""

from dataclasses import replace

import pytest

from rocketdiff.core.resources import resource
from rocketdiff.core.tables.fault import FaultKind, FaultSpec
from rocketdiff.lab.scenario_scripts import simulated, simulated_scenarios
from rocketdiff.scenario import Scenario, load, load_all, parse, plan_of
from rocketdiff.simulation.script import Script, canonical, parse_script
from rocketdiff.simulation.script.answers import BrokerRoute, ServerAnswer
from rocketdiff.simulation.script.model import Entry, Timeline
from rocketdiff.simulation.script.steps.environment import (
    BrokerAnswers,
    Kill,
    NameServerAnswers,
    Pause,
    Restart,
    Resume,
    RouteChange,
)
from rocketdiff.simulation.script.steps.sending import QueueOf, Send
from rocketdiff.simulation.script.vocabulary import BrokerFault, Depth

ROOT = resource("fixtures/scenarios")
ALL = load_all()


def scenario(name: str) -> Scenario:
    return load(ROOT / f"{name}.yaml")


def script_of(name: str, seed: int = 7) -> Script:
    script = simulated(scenario(name), seed).script
    assert script is not None
    return script


def entries(script: Script) -> tuple[Entry, ...]:
    (timeline,) = script.steps
    assert isinstance(timeline, Timeline)
    return timeline.entries


def faults(script: Script) -> list[Entry]:
    return [entry for entry in entries(script) if not isinstance(entry.action, Send)]


def test_the_sends_are_those_of_the_plan() -> None:
    """The sends are the plan's, by thread and time in whole milliseconds."""
    script = script_of("round-robin/pause-one-of-two-two-threads")
    plan = plan_of(scenario("round-robin/pause-one-of-two-two-threads"), 7)
    seen = [(entry.at_ms, entry.action.thread) for entry in entries(script) if isinstance(entry.action, Send)]
    assert seen == [(send.due_ns // 1_000_000, send.thread) for send in plan.sends]


def test_brokers_have_the_names_of_the_cluster() -> None:
    """Brokers have the names of the cluster, because names determine hash orders."""
    assert script_of("round-robin/calm-three-brokers").route == (
        BrokerRoute("broker-a", 3), BrokerRoute("broker-b", 3), BrokerRoute("broker-c", 3),
    )  # fmt: skip


def test_settings_seed_and_late_waits_come_along() -> None:
    """Settings and seed are kept; a wait ends 1 ms late, as on most machines."""
    script = script_of("fault-latency/kill-and-restart", seed=9)
    assert script.settings.send_latency_fault_enable
    assert script.settings.send_msg_timeout_ms == 500
    assert script.settings.heartbeat_broker_interval_ms == 600_000
    assert (script.seed, script.expired_wait_extra_ms) == (9, 1)


def test_a_pause_begins_and_ends_at_its_times() -> None:
    """A pause begins and ends at its times, at a depth that includes connections."""
    script = script_of("fault-latency/pause-one-of-two")
    (fault,) = scenario("fault-latency/pause-one-of-two").faults[:1]
    assert fault.for_s is not None
    assert faults(script)[:2] == [
        Entry(round(fault.at_s * 1_000), Pause("broker-b")),
        Entry(round((fault.at_s + fault.for_s) * 1_000), Resume("broker-b")),
    ]
    assert script.depth is Depth.REMOTING


def test_without_faults_the_least_depth_will_do() -> None:
    """Without faults the depth is open, because connections do not matter."""
    assert script_of("round-robin/calm").depth is None


A, B = BrokerRoute("broker-a", 4), BrokerRoute("broker-b", 4)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "fault-latency/kill-and-restart",
            [
                Entry(1_500, Kill("broker-b")),
                Entry(1_500, RouteChange((A,))),
                Entry(2_500, Restart("broker-b")),
                Entry(2_500, RouteChange((A, B))),
            ],
        ),
        (
            "route/broker-moved",
            [
                Entry(1_500, Kill("broker-a")),
                Entry(1_500, RouteChange((B,))),
                Entry(2_000, RouteChange((replace(A, at="broker-a-elsewhere"), B))),
            ],
        ),
        (
            "name-server/pause-with-cached-route",
            [
                Entry(1_500, NameServerAnswers(ServerAnswer(fault=BrokerFault.TIMEOUT))),
                Entry(4_500, NameServerAnswers(ServerAnswer())),
            ],
        ),
        (
            "double-write/slave-paused",
            [
                Entry(1_500, BrokerAnswers("broker-b", (ServerAnswer(latency_ms=500, code=12),))),
                Entry(3_500, BrokerAnswers("broker-b", (ServerAnswer(),))),
            ],
        ),
        ("async-copy/slave-killed", []),
        (
            "flow-control/one-of-two-busy",
            [
                Entry(1_500, BrokerAnswers("broker-b", (ServerAnswer(code=2),))),
                Entry(3_000, BrokerAnswers("broker-b", (ServerAnswer(),))),
            ],
        ),
    ],
)
def test_a_fault_is_what_clients_meet_of_it(name: str, expected: list[Entry]) -> None:
    """
    A killed broker leaves the route until its restart, a moved one until it is another server of that name, and a paused name server answers nothing.

    A paused slave delays its master's answer by 500 ms, with FLUSH_SLAVE_TIMEOUT, unless replication is asynchronous. A busy
    broker answers at once.
    """
    assert faults(script_of(name)) == expected


def test_without_any_broker_the_topic_is_unknown() -> None:
    """If the only broker is dead, the name server's answer has no route."""
    changes = [entry.action for entry in faults(script_of("retries/ten-with-the-only-broker-dead"))]
    assert RouteChange(None) in changes


def test_a_dead_master_with_a_slave_stays_in_the_route_without_a_master() -> None:
    """A dead master with a slave stays in the route, but no release writes to it."""
    a, b = BrokerRoute("broker-a", 4), BrokerRoute("broker-b", 4, master=False)
    assert Entry(2_000, RouteChange((a, b))) in faults(script_of("double-write/master-killed"))


def test_a_read_only_broker_is_in_the_route_and_refuses_ordered_topics() -> None:
    """A read-only broker changes the route, but refuses only messages of ordered topics."""
    a, b = BrokerRoute("broker-a", 4), BrokerRoute("broker-b", 4, perm=4)
    change = Entry(1_500, RouteChange((a, b)))
    assert faults(script_of("read-only/old-route"))[0] == change
    refusing = Entry(1_500, BrokerAnswers("broker-b", (ServerAnswer(code=16),)))
    assert faults(script_of("read-only/ordered-topic-and-old-route"))[:2] == [refusing, change]


def test_a_fault_that_ends_leaves_what_another_does_to_the_broker() -> None:
    """Busy takes precedence over a missing slave, whose effect returns afterwards."""
    synchronous = replace(
        scenario("flow-control/one-of-two-busy"),
        topology="two-masters-with-slaves-sync",
        faults=(
            FaultSpec(1, FaultKind.FLOW_CONTROL, "broker-b", 1.0, 1.0),
            FaultSpec(2, FaultKind.KILL_SLAVE, "broker-b-slave-1", 1.5, None),
            FaultSpec(3, FaultKind.FLUSH_TIMEOUT, "broker-a", 1.5, 1.0),
        ),
    )
    script = simulated(synchronous, 7).script
    assert script is not None
    busy, late = (
        BrokerAnswers("broker-b", (ServerAnswer(code=2),)),
        BrokerAnswers("broker-b", (ServerAnswer(latency_ms=500, code=12),)),
    )
    assert [entry for entry in faults(script) if entry.action in (busy, late, BrokerAnswers("broker-b", (ServerAnswer(),)))] == [
        Entry(1_000, busy), Entry(1_500, busy), Entry(2_000, late),
    ]  # fmt: skip


def test_calls_that_name_their_queue_pass_the_timeout() -> None:
    """Calls that name their queue pass the timeout, like the drivers; queues count in publish order."""
    timeout_ms = scenario("explicit-queue/calm").settings.send_msg_timeout_ms
    sends = [entry.action for entry in entries(script_of("explicit-queue/calm")) if isinstance(entry.action, Send)]
    assert sends[5] == Send(timeout_ms=timeout_ms, queue=QueueOf("broker-b", 1))
    selected = [entry.action for entry in entries(script_of("selector/even-and-odd")) if isinstance(entry.action, Send)]
    assert all(isinstance(send, Send) and send.selector is not None and send.queue is None for send in selected)


def test_faults_of_a_cluster_only_are_named() -> None:
    """A scenario that needs two name servers has the reason why a cluster must run it."""
    one = simulated(scenario("name-server/pause-one-of-two"), 1)
    assert one.script is None
    assert one.live_only == "one of 2 name servers is paused, and a script has a single one"


def test_parts_that_a_script_leaves_out_are_named() -> None:
    """Omissions are listed: checks of storage and timing, batches, compression, a broker's start."""
    assert simulated(scenario("fault-latency/pause-one-of-two"), 1).checks
    assert "batch" in simulated(scenario("batch/one-message"), 1).notes[0]
    assert "compression" in simulated(scenario("compressed/around-the-threshold"), 1).notes[0]
    assert "restarted" in simulated(scenario("fault-latency/kill-and-restart"), 1).notes[0]


@pytest.mark.parametrize("one", ALL, ids=[one.name for one in ALL])
def test_every_shipped_scenario_is_a_script_or_has_a_reason(one: Scenario) -> None:
    """Each shipped scenario becomes a valid script or has a reason why not."""
    result = simulated(one, 3)
    if result.script is None:
        assert result.live_only
        return
    assert parse_script(canonical(result.script), one.name) == result.script


def test_another_seed_gives_another_plan() -> None:
    """Another seed gives another plan, the same seed the same script."""
    name = "fault-latency/pause-one-of-two"
    assert canonical(script_of(name, 1)) == canonical(script_of(name, 1)) != canonical(script_of(name, 2))


def test_scenarios_are_chosen_as_run_chooses_them() -> None:
    """Scenarios are selected by suite and by glob, as in ``run``."""
    chosen = simulated_scenarios(["fault-latency/pause-*"], None, None, 1)
    assert {one.name.split("/")[0] for one in chosen} == {"fault-latency"}
    assert len(simulated_scenarios([], "quick", None, 1)) < len(ALL)
    assert parse(chosen[0].scenario.text, "kept").name == chosen[0].name
