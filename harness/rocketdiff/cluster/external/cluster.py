"""
An existing cluster as a Cluster: only topics and groups with its prefix are created, and only the owner's commands are run.

Every topic, group and action is in the undo log first (``undo_log``). The state of a node is its state command's report; without the
command it is the state after our last action, and the probe of ``faults`` is the only proof.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.cluster.access import channels_to, is_denied
from rocketdiff.cluster.external.actions import CommandLog, NodeActions
from rocketdiff.cluster.external.cleanup import Guardian, delete_everywhere, undo_all
from rocketdiff.cluster.external.described import DescribedCluster, DescribedNode, NamedTopology, Verb
from rocketdiff.cluster.external.inspect import BrokerInfo, boot_time, remedy_for
from rocketdiff.cluster.external.undo_log import DeleteGroup, DeleteTopic, RestoreNode, UndoLog
from rocketdiff.cluster.interface import TO_MOVE, Cluster, Node, NodeState, Span, node_named, nodes_of
from rocketdiff.cluster.operations import admin, topics
from rocketdiff.core.consuming.watched import RETRY_PREFIX
from rocketdiff.core.errors import ClusterError, UsageError
from rocketdiff.core.tables.topology import NodeKind
from rocketmq_reference.remoting.errors import MQBrokerException

# As for a restarted broker of a cluster that we start.
_SERVE_AGAIN_S = 60.0


@dataclass(frozen=True, slots=True)
class InspectedCluster:
    """The cluster before a run: description, topology, release, and brokers by name."""

    described: DescribedCluster
    topology: NamedTopology
    server_release: str
    brokers: Mapping[str, BrokerInfo]
    probe_topic: str


class ExternalCluster(Cluster):
    """A Cluster made by ``connect``. folder: for the command log and evidence."""

    def __init__(self, inspected: InspectedCluster, folder: Path, undo_log: UndoLog) -> None:
        self._inspected = inspected
        self._undo_log = undo_log
        self._guardian = Guardian(undo_log.path)
        self._channels = channels_to(inspected.described.security)
        self._log = CommandLog(folder / "commands.ndjson")
        self._actions = NodeActions(inspected.described, undo_log, self._log)
        self._boot_times = {name: broker.booted for name, broker in inspected.brokers.items()}
        self._topics: dict[str, dict[str, int]] = {}
        self._groups: set[str] = set()
        self._closing = threading.Lock()
        self._is_closed = False

    @property
    def described(self) -> DescribedCluster:
        return self._inspected.described

    @property
    def topology(self) -> NamedTopology:
        return self._inspected.topology

    @property
    def server_release(self) -> str:
        return self._inspected.server_release

    @property
    def name_servers(self) -> tuple[Node, ...]:
        """The first name servers of the file, as many as the topology has."""
        return self._all_name_servers[: self.topology.name_server_count]

    @property
    def brokers(self) -> tuple[Node, ...]:
        names = zip(self.topology.broker_letters, self.topology.given_names, strict=True)
        return tuple(
            Node(
                NodeKind.BROKER,
                letter,
                name,
                self._inspected.brokers[name].address,
                None,
                self._inspected.probe_topic,
                self._inspected.described.security,
            )
            for letter, name in names
        )

    @property
    def slaves(self) -> tuple[Node, ...]:
        """Always empty: the cluster's slaves are not used."""
        return ()

    @property
    def proxies(self) -> tuple[Node, ...]:
        return ()

    @property
    def grpc_endpoints(self) -> Mapping[str, str]:
        return {}

    @property
    def topic_prefix(self) -> str:
        return self._inspected.described.topic_prefix

    def create_topic(self, name: str, queues_per_broker: int | Mapping[str, int], *, ordered: bool = False) -> None:
        """Refuses a name without the prefix that is no retry topic of an announced group, and an existing topic."""
        is_of_group = name.removeprefix(RETRY_PREFIX) in self._groups
        if not is_of_group:
            self._require_prefix("topic", name)
        wanted = topics.queues_by_broker(queues_per_broker, self.brokers)
        if name not in self._topics and not is_of_group:
            self._require_new(name)
            self._undo_log.record(self._undo_entry(name))
        servers, brokers = self._all_name_servers, self.brokers
        try:
            topics.create_everywhere(self._channels, servers, brokers, name, wanted, ordered=ordered)
        except ClusterError as error:
            raise self._not_created(name, error) from error
        self._topics[name] = wanted

    @property
    def is_shared(self) -> bool:
        return True

    def announce_group(self, name: str) -> None:
        """Refuses a name without the prefix, and an existing group, which has a retry topic."""
        self._require_prefix("group", name)
        if name not in self._groups:
            self._require_new(RETRY_PREFIX + name)
            entry = self._undo_entry(name)
            self._undo_log.record(DeleteGroup(entry.name, entry.brokers, entry.name_servers))
            self._groups.add(name)

    def delete_topic(self, name: str) -> None:
        """Does nothing for a topic that this run has not created."""
        if name not in self._topics:
            return
        entry = self._undo_entry(name)
        problem = delete_everywhere(entry, self._channels, set())
        if problem is not None:
            raise ClusterError(f"topic {name} to be deleted everywhere", seen=problem)
        self._undo_log.done(entry)
        self._topics.pop(name)

    def pause(self, node_name: str) -> Span:
        """Return when the owner's command has succeeded and the state command, if any, confirms it."""
        return self._actions.disrupt(node_named(self, node_name), Verb.PAUSE)

    def resume(self, node_name: str) -> Span:
        """Return when the node answers."""
        return self._actions.restore(node_named(self, node_name), Verb.RESUME)

    def kill(self, node_name: str) -> Span:
        """Return when connections are refused."""
        return self._actions.disrupt(node_named(self, node_name), Verb.KILL)

    def restart(self, node_name: str) -> Span:
        """
        Run the owner's command; return when the broker answers and its topics are in the routes again.

        Raises ClusterError, and runs nothing, if the node answers already: it was not down as long as planned.
        """
        node = node_named(self, node_name)
        if self._is_up_already(node):
            raise ClusterError(
                f"{node.name} to stay down until its restart command",
                seen="an answer: its kill did not work, or it was started externally",
                hint="disable process supervision of it during a run, or give no kill command",
            )
        return self._restart(node)

    def restart_elsewhere(self, node_name: str, announce: Callable[[Node], None]) -> Span:  # noqa: ARG002 - as Cluster
        """Raises UsageError: its owner chose the ports."""
        raise UsageError("a broker that can move to another port", seen=f"{node_name} of {self!r}", hint=TO_MOVE)

    def state(self, node_name: str) -> NodeState:
        """The state after our last action: the state command runs only after actions."""
        return self._actions.state(node_named(self, node_name).name)

    def heal_all(self) -> None:
        """Resume and restart every node in the undo log, even after a failure."""
        problems = []
        for entry in self._undo_log.pending:
            if isinstance(entry, RestoreNode):
                try:
                    self._heal(entry)
                except ClusterError as error:
                    problems.append(str(error))
        if problems:
            raise ClusterError("every node to be as it was found", seen="; ".join(problems))

    def require_sound(self) -> None:
        """Check that no broker was restarted externally, because the effect could not be attributed to a client."""
        for node in self.brokers:
            now, before = self._boot_time(node), self._boot_times[node.name]
            if now != before:
                raise ClusterError(
                    f"{node.name} not to be restarted externally during a run",
                    seen=f"its store came up at {now} (ms since 1970), not at {before}",
                    hint="run again when the cluster is not in maintenance",
                )

    def unread_bytes(self, node_name: str) -> int | None:
        """Only the kernel of the broker's machine knows it."""
        node_named(self, node_name)
        return None

    def log_tail(self, node_name: str, lines: int = 20) -> tuple[str, ...]:
        node_named(self, node_name)
        return ("logs of an external cluster are not read",)[:lines]

    def collect_evidence(self, folder: Path) -> None:
        """Write ``nodes.json`` and the reported settings of every broker; logs stay with the owner."""
        states = {node.name: self.state(node.name) for node in nodes_of(self)}
        described = self._inspected.described.nodes
        brokers = self._inspected.brokers
        nodes = {name: _facts(described[name], brokers.get(name)) | {"state": state} for name, state in states.items()}
        facts = {"topology": self.topology.name, "server_release": self.server_release, "nodes": nodes}
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "nodes.json").write_text(json.dumps(facts, indent=2) + "\n")
        for name in nodes.keys() & brokers.keys():
            text = "".join(f"{key}={value}\n" for key, value in sorted(brokers[name].settings.items()))
            (folder / name).mkdir(exist_ok=True)
            (folder / name / "server.properties").write_text(text)

    def close(self) -> None:
        """
        Execute the undo log: resume, restart and delete. A second call does nothing.

        Raises ClusterError, with the commands to run by hand, for what cannot be undone; it stays in the log.
        """
        with self._closing:
            if self._is_closed:
                return
            self._is_closed = True
            problems = undo_all(self._undo_log, self._log.write)
            self._undo_log.close()
            self._guardian.close()
            self._channels.close()
        if problems:
            raise ClusterError(
                f"cluster {self._inspected.described.name} to be left as it was found",
                seen="; ".join(problems),
                hint="do that, then: rocketdiff cluster clean",
            )

    def _heal(self, entry: RestoreNode) -> None:
        if entry.verb == Verb.RESUME:
            self.resume(entry.node)
            return
        node = node_named(self, entry.node)
        if not self._is_up_already(node):
            self._restart(node)

    def _restart(self, node: Node) -> Span:
        begin_ns = self._actions.restore(node, Verb.RESTART).begin_ns
        self._boot_times[node.name] = self._boot_time(node)
        # A paused name server does not answer; it gets the broker's registration after the resume.
        name_servers = tuple(server for server in self.name_servers if self.state(server.name) is NodeState.RUNNING)
        for topic, wanted in self._topics.items():
            topics.await_route(self._channels, name_servers, topic, wanted, _SERVE_AGAIN_S)
        return Span(begin_ns, time.monotonic_ns())

    def _is_up_already(self, node: Node) -> bool:
        is_up = self._actions.is_up_already(node)
        if is_up:
            # The unexpected restart is reported once; the next case accepts the broker.
            self._boot_times[node.name] = self._boot_time(node)
        return is_up

    @property
    def _all_name_servers(self) -> tuple[Node, ...]:
        """All name servers of the file, because a topic must be deleted from each."""
        described, topic = self._inspected.described, self._inspected.probe_topic
        return tuple(
            Node(NodeKind.NAME_SERVER, node.letter, node.name, node.address, None, topic, described.security)
            for node in described.name_servers
        )

    def _not_created(self, name: str, error: ClusterError) -> ClusterError:
        """Add a remedy if the account may not create topics. A refusal by the first broker leaves nothing to undo."""
        cause = error.__cause__
        if (
            isinstance(cause, MQBrokerException)
            and is_denied(cause)
            and cause.broker_address == self.brokers[0].address
        ):
            self._undo_log.done(self._undo_entry(name))
        hint = error.hint if cause is None else remedy_for(cause, self.described)
        return ClusterError(error.expected, seen=error.seen, hint=hint)

    def _undo_entry(self, name: str) -> DeleteTopic:
        brokers = tuple(node.address for node in self.brokers)
        return DeleteTopic(name, brokers, self._inspected.described.name_server_addresses)

    def _require_prefix(self, kind: str, name: str) -> None:
        if not name.startswith(f"{self.topic_prefix}-"):
            raise UsageError(f"a {kind} that begins with {self.topic_prefix}-", seen=name)

    def _require_new(self, name: str) -> None:
        """An existing topic has another owner, and would be deleted at the end."""
        for node in self._all_name_servers:
            try:
                is_there = admin.route(self._channels, node.address, name) is not None
            except admin.ADMIN_ERRORS as error:
                raise ClusterError(f"{node.name} to answer", seen=str(error)) from error
            if is_there:
                raise ClusterError(
                    f"no topic {name} before this run creates it", seen="one", hint="choose another prefix"
                )

    def _boot_time(self, node: Node) -> str:
        try:
            return boot_time(self._channels, node.address)
        except admin.ADMIN_ERRORS as error:
            raise ClusterError(f"{node.name} to report when it was started", seen=str(error)) from error


def _facts(node: DescribedNode, broker: BrokerInfo | None) -> dict[str, object]:
    facts: dict[str, object] = {
        "address": node.address,
        "faults_witnessed_by": node.witness,
        "commands": {verb.value: command.shown for verb, command in node.commands.items()},
    }
    if broker is not None:
        seen = {"address": broker.address, "release": broker.release, "booted": broker.booted}
        facts |= seen | {"answer_ms": round(broker.answer_ms, 3)}
    return facts
