"""
Translates a scenario and a seed into a script with the faults, and with the same sends at the same times as on a cluster.

Everything that only a cluster can show is reported, with the reason.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rocketdiff.core.sends.plan import PlannedSend, SendKind
from rocketdiff.core.tables.checks import CHECKS
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.topology import TOPOLOGIES
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.lab.scenario_faults import fault_entries
from rocketdiff.scenario import Scenario, load_all, plan_of, select
from rocketdiff.simulation.script.answers import BrokerRoute
from rocketdiff.simulation.script.model import Entry, Script, Timeline
from rocketdiff.simulation.script.steps.sending import QueueOf, Send
from rocketdiff.simulation.script.vocabulary import Depth, Mode, ScriptSettings

EXPIRED_WAIT_EXTRA_MS = 1
"""On real machines an expired wait ends slightly after its deadline; exactly at it is a rare race."""


@dataclass(frozen=True, slots=True)
class SimulatedScenario:
    """
    A scenario as a script, or ``live_only``, the reason why it needs a cluster.

    checks: the checks that need a cluster. notes: other omissions of the script.
    """

    scenario: Scenario
    script: Script | None
    checks: tuple[str, ...]
    notes: tuple[str, ...]
    live_only: str = ""

    @property
    def name(self) -> str:
        return self.scenario.name


def simulated_scenarios(
    patterns: Sequence[str], suite: str | None, folder: Path | None, seed: int
) -> tuple[SimulatedScenario, ...]:
    """Return the scenarios that `run` would select, as scripts; UsageError if none matches."""
    scenarios = load_all(folder)
    return tuple(simulated(scenario, seed) for scenario in select(scenarios, suite=suite, patterns=patterns))


def simulated(scenario: Scenario, seed: int) -> SimulatedScenario:
    """Translate a scenario; its plan is that of a cluster run with the same seed."""
    checks = tuple(check for check in scenario.checks if CHECKS[check].cluster_only)
    obstacle = _obstacle(scenario)
    script = None if obstacle else _script(scenario, seed)
    return SimulatedScenario(scenario, script, checks, tuple(_notes(scenario)), obstacle)


def _script(scenario: Scenario, seed: int) -> Script:
    brokers = TOPOLOGIES[scenario.topology].broker_names
    route = tuple(BrokerRoute(broker, scenario.queues_per_broker) for broker in brokers)
    sends = [_send_entry(send, route, scenario.settings) for send in plan_of(scenario, seed).sends]
    faults = list(fault_entries(scenario, route))
    return Script(
        route=route,
        steps=(Timeline((*faults, *sends)),),
        settings=ScriptSettings(**asdict(scenario.settings)),
        # A client notices faults through its connections, which break, block and close.
        depth=Depth.REMOTING if scenario.faults else None,
        seed=seed,
        expired_wait_extra_ms=EXPIRED_WAIT_EXTRA_MS,
    )


def _send_entry(send: PlannedSend, route: Sequence[BrokerRoute], settings: ClientSettings) -> Entry:
    """One planned call; calls with a queue or selector pass the timeout, as in the drivers."""
    queue = selector = timeout_ms = None
    if send.kind is SendKind.QUEUE:
        queue = _queue_at(send.argument, route)
    elif send.kind is SendKind.SELECTOR:
        selector = send.argument
    if queue is not None or selector is not None:
        timeout_ms = settings.send_msg_timeout_ms
    mode = Mode(send.mode)
    timeout_ms = None if mode is Mode.ONE_WAY else timeout_ms
    action = Send(mode=mode, thread=send.thread, timeout_ms=timeout_ms, queue=queue, selector=selector)
    return Entry(send.due_ns // NS_PER_MS, action)


def _queue_at(argument: int, route: Sequence[BrokerRoute]) -> QueueOf:
    """The queue at this index, modulo their number, ordered by broker and queue id."""
    queues = [(broker.name, queue_id) for broker in route for queue_id in range(broker.queues)]
    return QueueOf(*queues[argument % len(queues)])


def _obstacle(scenario: Scenario) -> str:
    name_servers = TOPOLOGIES[scenario.topology].name_server_count
    paused = any(fault.kind is FaultKind.PAUSE_NAME_SERVER for fault in scenario.faults)
    if scenario.role is ClientRole.CONSUMER:
        return "a script has no group of consumers"
    if why := next(filter(None, (fault.kind.traits.cluster_only for fault in scenario.faults)), ""):
        return why
    if paused and name_servers > 1:
        return f"one of {name_servers} name servers is paused, and a script has a single one"
    return ""


def _notes(scenario: Scenario) -> Iterator[str]:
    if SendKind.BATCH in scenario.workload.calls:
        yield "a batch of one message is sent as that message: its encoding is not checked"
    if max(scenario.workload.body_bytes) > scenario.settings.compress_msg_body_over_howmuch:
        yield "bodies are short: their compression is not checked"
    if any(scenario.workload.delay_levels):
        yield "messages are not delayed: only a broker does that"
    if scenario.workload.keys != ("",) or scenario.workload.tags != ("",) or scenario.workload.properties:
        yield "keys, tags and properties are left out"
    if any(fault.kind is FaultKind.KILL and fault.for_s is not None for fault in scenario.faults):
        yield "a restarted broker serves at once, where a real one takes some seconds"
