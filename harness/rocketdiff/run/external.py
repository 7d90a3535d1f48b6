"""Somebody's own cluster at the stages: its file is read, scenarios are held against it, cases get its brokers' names."""

from dataclasses import replace
from pathlib import Path

from rocketdiff.cluster.described import UNDOES, DescribedCluster, DescribedNode, Verb
from rocketdiff.cluster.external.joining import look
from rocketdiff.cluster.external.named_topology import NamedTopology, named, why_not
from rocketdiff.cluster.external.parsing import parse
from rocketdiff.cluster.start import DEFAULT_SERVER_RELEASE, require_servers
from rocketdiff.core.errors import UsageError
from rocketdiff.core.fault import ON_THE_WIRE, FaultKind, FaultSpec
from rocketdiff.core.topology import topology_named
from rocketdiff.documents.yaml_source import parse_yaml, read_text
from rocketdiff.scenario import Case, Scenario

BACKEND = "external"
FORM = f"--cluster {BACKEND}:cluster.yaml"

_ACTS = {FaultKind.PAUSE: Verb.PAUSE, FaultKind.KILL: Verb.KILL, FaultKind.PAUSE_NAME_SERVER: Verb.PAUSE}
"""Kinds of fault that an owner can give commands for; any other would change what is not ours to change."""


def described_by(backend: str) -> DescribedCluster | None:
    """
    The cluster that ``--cluster external:FILE`` means; None for a backend that starts its own.

    Raises UsageError, with file and line, for a file that is refused.
    """
    name, _, file = backend.partition(":")
    if name != BACKEND:
        return None
    if not file:
        raise UsageError("a cluster file", seen=f"--cluster {backend}", hint=FORM)
    return read(Path(file))


def require_release(server_release: str, backend: str, described: DescribedCluster | None) -> None:
    """
    UsageError for a ``--server`` of which there are no servers, before any is fetched.

    And for one that somebody's own cluster would not heed; the default cannot be told from none at all.
    """
    if described is None:
        require_servers(backend, server_release)
    elif server_release != DEFAULT_SERVER_RELEASE:
        raise UsageError(
            f"no --server with --cluster {BACKEND}",
            seen=server_release,
            hint="server_release in the cluster file, or nothing: the brokers are asked",
        )


def release_there(described: DescribedCluster | None, asked: str) -> str:
    """Of which release the servers are: somebody's own cluster says it itself."""
    return asked if described is None else look(described)[0]


def read(path: Path) -> DescribedCluster:
    """One cluster file; UsageError names the file, the line and what was expected there."""
    source = parse_yaml(read_text(path, "cluster file", hint=FORM), str(path))
    return parse(source.data, path, source.place)


def why_not_there(scenario: Scenario, described: DescribedCluster) -> str | None:
    """
    What a cluster lacks for a scenario: a node, a command for one of its faults, a schedule of ours; None for nothing.

    A delayed message is also kept in a topic that all of a cluster's users share. To find ours there everybody's would
    have to be read, and ours would stay there after its own topic is deleted.
    """
    if any(scenario.workload.delay_levels):
        return "delayed messages are kept among everybody's, in a topic that is not ours to read or to clean"
    shape = topology_named(scenario.topology)
    missing = why_not(shape, described)
    if missing is not None:
        return missing
    topology = named(shape, described)
    return next(filter(None, (_lacking(fault, topology, described) for fault in scenario.faults)), None)


def on(described: DescribedCluster | None, case: Case) -> Case:
    """The case with the brokers' real names, where they have other names than ours."""
    if described is None:
        return case
    topology = named(topology_named(case.scenario.topology), described)
    faults = tuple(replace(fault, node=_node_name(fault, topology)) for fault in case.scenario.faults)
    return replace(case, scenario=replace(case.scenario, faults=faults), brokers=topology.broker_names)


def command_for(fault: FaultSpec, described: DescribedCluster) -> tuple[str, str]:
    """What would be run for a fault and for its end; the fault has the node's real name. Empty for one on the wire."""
    if fault.kind in ON_THE_WIRE:
        return "", ""
    act = _ACTS[fault.kind]
    commands = _nodes(described)[fault.node].commands
    return commands[act].shown, commands[UNDOES[act]].shown


def _lacking(fault: FaultSpec, topology: NamedTopology, described: DescribedCluster) -> str | None:
    if fault.kind in ON_THE_WIRE:
        return None
    act = _ACTS.get(fault.kind)
    if act is None:
        return f"{fault.kind} is not among the commands an owner can give"
    return _nodes(described)[_node_name(fault, topology)].lacks(act)


def _node_name(fault: FaultSpec, topology: NamedTopology) -> str:
    if fault.kind is FaultKind.PAUSE_NAME_SERVER:
        return topology.name_server_named(fault.node)
    return topology.broker_named(fault.node)


def _nodes(described: DescribedCluster) -> dict[str, DescribedNode]:
    return {node.name: node for node in (*described.name_servers, *described.brokers)}
