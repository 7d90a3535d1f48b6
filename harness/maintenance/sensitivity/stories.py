"""
Scenarios as scripted traces, played in virtual time by two faithful clients of the reference's rules.

All messages of a trace carry the scenario's first keys and tag.
"""

from collections.abc import Iterator

from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.fault import FaultKind, FaultSpec
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.topology import TOPOLOGIES
from rocketdiff.scenario import Scenario, load_all, select
from rocketdiff.scenario.sending.workload import Workload
from tests.analysis.synthetic import Pause
from tests.analysis.synthetic_modes import ModeStory

SCENARIOS = load_all()

PLAYED_SETTINGS = (
    "send_latency_fault_enable",
    "send_msg_timeout_ms",
    "retry_times_when_send_failed",
    "send_msg_max_timeout_per_request_ms",
)
"""Settings of the virtual clients; a scenario that changes others is not played."""

UNFELT_SETTINGS = ("heartbeat_broker_interval_ms", "poll_name_server_interval_ms")
"""Without effect: the virtual brokers' route never changes, and they receive no heartbeats."""

QUEUES = 4


def scenarios_of(suite: str) -> tuple[Scenario, ...]:
    """Return the suite's scenarios about producers; there is no bank of defective consumers yet."""
    return tuple(one for one in select(SCENARIOS, suite) if one.role is ClientRole.PRODUCER)


def stories_of(suite: str) -> Iterator[ModeStory]:
    """Return the suite's scenarios that can be played."""
    return (story_of(one) for one in scenarios_of(suite) if is_played(one))


def is_played(scenario: Scenario) -> bool:
    """Whether the scenario can be played: one kind of send, four queues, only pauses and brokers that stay dead."""
    work, latency = scenario.workload, scenario.settings.send_latency_fault_enable
    threads = work.threads == 1 or (work.mode is SendMode.SYNC and work.call is SendKind.PLAIN and not latency)
    call = work.call is SendKind.PLAIN or (work.call is SendKind.QUEUE and work.mode is not SendMode.ONEWAY)
    alike = len(work.calls) == len(work.delay_levels) == 1 and not work.properties
    short = max(work.body_bytes) < scenario.settings.compress_msg_body_over_howmuch
    faults = all(_is_played(fault, work) for fault in scenario.faults)
    queues = scenario.queues_per_broker == QUEUES and len(TOPOLOGIES[scenario.topology].broker_names) > 1
    return threads and call and alike and short and faults and queues and _settings_are_played(scenario.settings)


def _is_played(fault: FaultSpec, work: Workload) -> bool:
    if fault.kind is FaultKind.PAUSE:
        return fault.for_s is not None
    is_waited_for = work.mode is SendMode.SYNC and work.call is SendKind.PLAIN
    return fault.kind is FaultKind.KILL and fault.for_s is None and is_waited_for


def _settings_are_played(settings: ClientSettings) -> bool:
    usual = ClientSettings()
    names = [name for name in usual.__dataclass_fields__ if name not in (*PLAYED_SETTINGS, *UNFELT_SETTINGS)]
    return all(getattr(settings, name) == getattr(usual, name) for name in names)


def story_of(scenario: Scenario) -> ModeStory:
    work = scenario.workload
    return ModeStory(
        name=scenario.name,
        settings=scenario.settings,
        brokers=TOPOLOGIES[scenario.topology].broker_names,
        pauses=tuple(
            Pause(
                one.node,
                round(one.at_s * 1_000),
                round((one.for_s or 0) * 1_000),
                one.kind,
                refuses=one.kind is FaultKind.KILL,
            )
            for one in scenario.faults
        ),
        sends=scenario.sends,
        every_ms=round(1_000 / work.rate_per_s),
        threads=work.threads,
        kind=work.call,
        checks=scenario.checks,
        mode=work.mode,
        delay_level=work.delay_levels[0],
        keys=work.keys[0],
        tags=work.tags[0],
    )
