"""Expand a file's faults one by one, and refuse those that cannot be injected."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from rocketdiff.core.tables.fault import KILLS, FaultKind, FaultSpec, Frames, RequestKind
from rocketdiff.core.tables.topology import TOPOLOGIES, NodeKind, broker_name, name_server_name, proxy_name, slave_name
from rocketdiff.documents.refusal import refused
from rocketdiff.documents.yaml_source import Location, YamlSource
from rocketdiff.scenario.file_format import (
    FaultPart,
    KillPart,
    MovePart,
    NameServerPausePart,
    ProxyKillPart,
    ProxyPausePart,
    ScenarioFile,
    WireDelayPart,
    WirePart,
)

MINIMUM_GAP_S = 0.2
"""Between two faults of one node: the first must be healed and its healing proven by a response."""

RESTART_S = 5.0
"""Time for a killed broker to start, register and serve again; 3 to 4 s are usual."""

SHARE_OF_A_PROOF = 0.5
"""Share of a fault's duration for proving that it is in effect; as for a pause."""

_WITH_SLAVES = "one of " + ", ".join(name for name, nodes in TOPOLOGIES.items() if nodes.has_slaves)

_WITH_PROXIES = ", ".join(name for name, nodes in TOPOLOGIES.items() if nodes.proxy_count)

_MASTERS_ALONE = "one of " + ", ".join(
    name for name, nodes in TOPOLOGIES.items() if not nodes.has_slaves and not nodes.has_proxies
)
"""Slaves and proxies of a broker would look for it at its old address for a while."""

_WITH_FLUSH = ", ".join(name for name, nodes in TOPOLOGIES.items() if nodes.waits_for_disk)

_SAME_TIME_S = 1e-9
"""Sums of decimal seconds differ in their last bits; no schedule needs nanoseconds."""


def scheduled(file: ScenarioFile, source: YamlSource) -> tuple[FaultSpec, ...]:
    """
    Return every single fault by time, episodes numbered from 1.

    Raises UsageError for a node that the topology lacks, a fault that outlasts the workload, and faults of one node
    that overlap or leave no time to prove the healing.
    """
    placed = [
        (location, spec)
        for number, part in enumerate(file.faults)
        for location, spec in _written_out(part, file, source, ("faults", number))
    ]
    placed.sort(key=lambda pair: (pair[1].at_s, pair[1].node))
    for location, spec in placed:
        _require_inside(spec, file.workload.duration_s, source, location)
    for node in {spec.node for _, spec in placed}:
        for (_, earlier), (location, later) in pairwise(pair for pair in placed if pair[1].node == node):
            _require_apart(earlier, later, source, location)
    return tuple(replace(spec, episode=episode) for episode, (_, spec) in enumerate(placed, start=1))


def _written_out(
    part: FaultPart, file: ScenarioFile, source: YamlSource, location: Location
) -> Iterator[tuple[Location, FaultSpec]]:
    node = _node(part, file, source, location)
    kind = FaultKind(part.kind)
    if isinstance(part, KillPart | MovePart | ProxyKillPart):
        yield location, FaultSpec(0, kind, node, part.at_s, part.for_s)
        return
    if (part.repeat > 1) != (part.every_s is not None):
        raise refused(
            source.place,
            location,
            expected="repeat and every_s together",
            seen=f"repeat {part.repeat}, every_s {part.every_s}",
            hint="every_s is the time from one start to the next",
        )
    frames = Frames(part.frames) if isinstance(part, WirePart | WireDelayPart) else None
    of = RequestKind(part.of) if isinstance(part, WirePart | WireDelayPart) and part.of is not None else None
    delay_ms = _delay_ms(part, source, location) if isinstance(part, WireDelayPart) else 0.0
    for number in range(part.repeat):
        at_s = part.at_s + number * (part.every_s or 0)
        yield location, FaultSpec(0, kind, node, round(at_s, 9), part.for_s, frames, delay_ms, of)


def _delay_ms(part: WireDelayPart, source: YamlSource, location: Location) -> float:
    """A delay is proven by one delayed response, which may take half of the fault's duration."""
    if part.delay_ms <= part.for_s * 1_000 * SHARE_OF_A_PROOF:
        return part.delay_ms
    raise refused(
        source.place,
        (*location, "delay_ms"),
        expected=f"at most half of for_s, {part.for_s * 1_000 * SHARE_OF_A_PROOF:g} ms",
        seen=f"{part.delay_ms:g}",
        hint="a delay that is not over within its time could not be proven",
    )


def _node(part: FaultPart, file: ScenarioFile, source: YamlSource, location: Location) -> str:
    nodes, traits = TOPOLOGIES[file.topology], FaultKind(part.kind).traits
    if isinstance(part, NameServerPausePart):
        if part.name_server <= nodes.name_server_count:
            return name_server_name(part.name_server)
        raise refused(
            source.place,
            (*location, "name_server"),
            expected=f"a name server of {file.topology}, 1 to {nodes.name_server_count}",
            seen=str(part.name_server),
        )
    if isinstance(part, ProxyPausePart | ProxyKillPart):
        if part.proxy <= nodes.proxy_count:
            return proxy_name(part.proxy)
        seen = f"{part.proxy}, and {file.topology} has {nodes.proxy_count or 'none'}"
        expected = "a proxy of the topology that is a node of its own"
        raise refused(source.place, (*location, "proxy"), expected=expected, seen=seen, hint=_WITH_PROXIES)
    is_slave = traits.node is NodeKind.SLAVE
    if traits.needs_sync_flush and not nodes.waits_for_disk:
        expected, hint = "a topology that waits for the disk", _WITH_FLUSH
    elif is_slave and not nodes.has_slaves:
        expected, hint = "a topology with slaves", _WITH_SLAVES
    elif isinstance(part, MovePart) and (nodes.has_slaves or nodes.has_proxies):
        expected, hint = "a topology without slaves and proxies, in which a broker can move", _MASTERS_ALONE
    elif part.broker in nodes.broker_letters:
        return slave_name(part.broker, 1) if is_slave else broker_name(part.broker)
    else:
        expected = f"a broker of {file.topology}: {', '.join(nodes.broker_letters)}"
        raise refused(source.place, (*location, "broker"), expected=expected, seen=repr(part.broker))
    raise refused(source.place, (*location, "kind"), expected=expected, seen=file.topology, hint=hint)


def _end_s(spec: FaultSpec) -> float:
    """End of a fault; infinite for a kill without restart."""
    return float("inf") if spec.for_s is None else spec.at_s + spec.for_s


def _require_inside(spec: FaultSpec, duration_s: float, source: YamlSource, location: Location) -> None:
    end_s = spec.at_s if spec.for_s is None else _end_s(spec)
    if end_s > duration_s + _SAME_TIME_S or spec.at_s >= duration_s:
        raise refused(
            source.place,
            location,
            expected=f"a fault that is over within the {duration_s:g} s of the workload",
            seen=f"{spec.node} from {spec.at_s:g} s to {end_s:g} s",
            hint="make the workload longer: what the client does afterwards is what is judged",
        )


def _require_apart(earlier: FaultSpec, later: FaultSpec, source: YamlSource, location: Location) -> None:
    gap_s = RESTART_S if earlier.kind in KILLS else MINIMUM_GAP_S
    if later.at_s - _end_s(earlier) >= gap_s - _SAME_TIME_S:
        return
    end = "for good" if earlier.for_s is None else f"until {_end_s(earlier):g} s"
    raise refused(
        source.place,
        location,
        expected=f"faults of {later.node} at least {gap_s:g} s apart",
        seen=f"one from {earlier.at_s:g} s {end} and another at {later.at_s:g} s",
        hint="leave time to heal the first and to prove it",
    )
