"""``--cluster external:FILE``: an existing cluster described by its owner: names of its nodes, and commands for them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from rocketdiff.cluster.external.cluster_file import FORM, read
from rocketdiff.cluster.external.connect import clean_and_inspect, connect
from rocketdiff.cluster.external.described import (
    UNDONE_BY,
    DescribedCluster,
    NamedTopology,
    Verb,
    named_topology,
    why_not,
)
from rocketdiff.cluster.interface import TO_MOVE, Cluster
from rocketdiff.cluster.operations.readiness import READY_TIMEOUT_S
from rocketdiff.cluster.security_file import SecurityAsked
from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.fault import ON_THE_WIRE, FaultKind, FaultSpec, Means
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE
from rocketdiff.core.tables.topology import NodeKind, Topology
from rocketdiff.releases.progress import ProgressListener

NAME = "external"

_VERBS = {Means.PAUSE: Verb.PAUSE, Means.KILL: Verb.KILL}

_ACTIONS = {
    kind: _VERBS[kind.traits.means]
    for kind in FaultKind
    if kind.traits.means in _VERBS and kind.traits.node is not NodeKind.SLAVE
}
"""Fault kinds for which an owner can give commands. Other kinds would change settings of the owner's brokers."""


@dataclass(frozen=True, slots=True)
class External:
    """
    An existing cluster; methods as in Backend.

    file: path as the user wrote it. server_release: from the file or reported by the brokers; empty until they are asked.
    """

    file: str
    described: DescribedCluster
    server_release: str
    asked: SecurityAsked | None = None

    @classmethod
    def of(cls, file: str, server_release: str, asked: SecurityAsked | None = None) -> Self:
        """
        file: the text after ``external:``. server_release: of ``--server``; its default is indistinguishable from no option.

        Raises UsageError for an invalid file (with its line), and for a release, because the cluster already has one.
        """
        if not file:
            raise UsageError("a cluster file", seen=f"--cluster {NAME}", hint=FORM)
        described = read(Path(file))
        if server_release != DEFAULT_RELEASE:
            raise UsageError(
                f"no --server with --cluster {NAME}",
                seen=server_release,
                hint="set server_release in the cluster file, or omit it: then the brokers are asked",
            )
        if asked is not None and (asked.makes_account or asked.makes_tls):
            raise UsageError(
                f"the account and the TLS files of {described.name} in {asked.origin}",
                seen="made",
                hint="made accounts and certificates are only for servers that the run starts; see fixtures/examples/security.yaml",
            )
        if asked is not None:
            described = replace(described, security=asked.given, security_file=str(Path(asked.origin).resolve()))
        return cls(file, described, described.server_release or "", asked)

    @property
    def name(self) -> str:
        return f"{NAME}:{self.file}"

    @property
    def title(self) -> str:
        secured = "" if self.asked is None else f", with {self.asked.title}"
        return f"{NAME} ({self.described.name}){secured}"

    @property
    def security_file(self) -> str | None:
        return None if self.asked is None else self.asked.origin

    @property
    def demands(self) -> tuple[str, ...]:
        return () if self.asked is None else self.asked.demands

    @property
    def is_shared(self) -> bool:
        return True

    @property
    def topic_prefix(self) -> str:
        return self.described.topic_prefix

    def why_not(self, topology: Topology, faults: Sequence[FaultSpec], *, delayed: bool) -> str | None:
        """
        The cluster may lack a node or a command for a fault; delayed messages are not supported, nor retries of a group.

        Brokers keep delayed messages in a topic that all users share. To find a run's messages, those of all users would have
        to be read, and they would remain after their own topic is deleted.
        """
        if delayed:
            return "delayed messages are in a topic shared by all users, which rocketdiff must neither read nor clean"
        missing = why_not(topology, self.described)
        if missing is not None:
            return missing
        here = named_topology(topology, self.described)
        return next(filter(None, (self._lacking(fault, here) for fault in faults)), None)

    def refused(self, scenario: str, reason: str) -> UsageError:
        return UsageError(
            f"everything that {scenario} does to the cluster spelled out in {self.described.origin}",
            seen=reason,
            hint="leave the scenario out; or, for a fault, state a command for its node in the cluster file",
        )

    def brokers(self, topology: Topology) -> tuple[str, ...]:
        return named_topology(topology, self.described).broker_names

    def named(self, topology: Topology, faults: Sequence[FaultSpec]) -> tuple[FaultSpec, ...]:
        here = named_topology(topology, self.described)
        return tuple(replace(fault, node=_node_name(fault, here)) for fault in faults)

    def introduction(self) -> Iterator[str]:
        described = self.described
        release = self.server_release or "as its brokers say"
        yield f"cluster {described.name} of {described.origin}, RocketMQ {release}; commands run in {described.folder}"
        for node in described.name_servers:
            yield f"  {node.name} {node.address}"
        for node in described.brokers:
            yield f"  broker {node.letter} is {node.name}; a pause of it is witnessed by its {node.witness}"
        names = ", ".join(node.name for node in described.brokers)
        yield f"topic {described.topic_prefix}-probe-<random>, 4 queues on each broker used of {names}: one message in each"

    def planned_commands(self, fault: FaultSpec) -> tuple[str, ...]:
        if fault.kind in ON_THE_WIRE:
            return ("by a relay on this machine; the cluster is not touched",)
        action = _ACTIONS[fault.kind]
        commands = self.described.nodes[fault.node].commands
        begin, end = commands[action].shown, commands[UNDONE_BY[action]].shown
        until = "at the end of the case" if fault.for_s is None else f"at {fault.at_s + fault.for_s:g} s"
        return (f"at {fault.at_s:g} s: {begin}", f"{until}: {end}")

    def ending(self) -> str:
        names = f"({self.topic_prefix}-…)"
        return f"in the end: every paused or killed node is resumed or restarted, and all topics and groups {names} are deleted"

    def fetch(self, _progress: ProgressListener | None = None) -> Self:
        """Ask the brokers for their release, after pending undo actions of earlier runs."""
        return replace(self, server_release=clean_and_inspect(self.described)[0])

    def start(
        self,
        topology: Topology,
        folder: Path,
        *,
        name_server_port: int | None = None,  # noqa: ARG002 - its ports are fixed
        timeout_s: float = READY_TIMEOUT_S,  # noqa: ARG002 - it runs already
        progress: ProgressListener | None = None,  # noqa: ARG002 - nothing is fetched
    ) -> Cluster:
        """Connect and prove that the cluster serves; close() leaves it as it was found."""
        return connect(self.described, topology, folder)

    def sweep(self) -> None:
        """Does nothing: pending undo actions are on disk, and the next run performs them (``connect``)."""

    def _lacking(self, fault: FaultSpec, here: NamedTopology) -> str | None:
        if fault.kind in ON_THE_WIRE:
            return None
        action = _ACTIONS.get(fault.kind)
        if fault.kind is FaultKind.MOVE:
            return f"the ports of {self.described.name} are not ours, so no broker can move; {TO_MOVE}"
        if action is None:
            return f"{fault.kind} is not a fault that a cluster file has a command for"
        return self.described.nodes[_node_name(fault, here)].lacks(action)


def _node_name(fault: FaultSpec, here: NamedTopology) -> str:
    return here.node_named(fault.kind.traits.node, fault.node)
