"""
Somebody's cluster as a Cluster: topics of its prefix, the owner's commands and nothing else.

Whatever is owed is written down before it is done (``debts``). What a node does is what its state command says; where there
is none it is what we did to it, and the probe of ``faults`` is the only proof.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from rocketdiff.cluster.described import DescribedCluster, Verb
from rocketdiff.cluster.external.acts import Acts
from rocketdiff.cluster.external.commands import CommandLog
from rocketdiff.cluster.external.debts import ActionOwed, Debts, TopicOwed
from rocketdiff.cluster.external.evidence import write_evidence
from rocketdiff.cluster.external.guardian import Guard
from rocketdiff.cluster.external.named_topology import NamedTopology
from rocketdiff.cluster.external.settling import pay, settle
from rocketdiff.cluster.external.survey import SeenBroker, booted
from rocketdiff.cluster.interface import Node, NodeState, Role, Span, nodes_of
from rocketdiff.cluster.operations import admin, topics
from rocketdiff.core.errors import ClusterError, UsageError
from rocketmq_reference.connections.channels import Channels

# As long as a broker of ours is given to have its topics in the routes again.
_SERVE_AGAIN_S = 60.0


@dataclass(frozen=True, slots=True)
class Found:
    """A cluster as it was found: its description, the shape it stands for, its release, and what its brokers said."""

    described: DescribedCluster
    topology: NamedTopology
    server_release: str
    brokers: Mapping[str, SeenBroker]
    probe_topic: str


class ExternalCluster:
    """A Cluster (see interface) that ``joining.join`` has looked at; its files, which are few, lie in ``folder``."""

    def __init__(self, found: Found, folder: Path, debts: Debts) -> None:
        self._found = found
        self._debts = debts
        self._guard = Guard(debts.path)
        self._channels = Channels()
        self._log = CommandLog(folder / "commands.ndjson")
        self._acts = Acts(found.described, debts, self._log)
        self._booted = {name: broker.booted for name, broker in found.brokers.items()}
        self._topics: dict[str, dict[str, int]] = {}
        self._closing = threading.Lock()
        self._is_closed = False

    def __repr__(self) -> str:
        """As a failed assertion shows it."""
        return f"<RocketMQ {self.server_release}, {self.topology.name}, at {';'.join(self.name_server_addresses)}>"

    @property
    def topology(self) -> NamedTopology:
        """The shape that was asked for, with the brokers' own names."""
        return self._found.topology

    @property
    def server_release(self) -> str:
        """What the owner or the brokers say."""
        return self._found.server_release

    @property
    def name_servers(self) -> tuple[Node, ...]:
        """As many of the file's name servers as the topology has."""
        return self._all_name_servers[: self.topology.name_server_count]

    @property
    def brokers(self) -> tuple[Node, ...]:
        """The masters, by letter."""
        names = zip(self.topology.broker_letters, self.topology.given_names, strict=True)
        return tuple(
            Node(Role.BROKER, letter, name, self._found.brokers[name].address, None, self._found.probe_topic)
            for letter, name in names
        )

    @property
    def slaves(self) -> tuple[Node, ...]:
        """None that concern us."""
        return ()

    @property
    def name_server_addresses(self) -> tuple[str, ...]:
        """What a client is configured with."""
        return tuple(node.address for node in self.name_servers)

    @property
    def topic_prefix(self) -> str:
        """The owner's choice."""
        return self._found.described.topic_prefix

    def create_topic(self, name: str, queues_per_broker: int | Mapping[str, int], *, ordered: bool = False) -> None:
        """As Cluster.create_topic; a name without the prefix is refused, and so is a topic that is there already."""
        if not name.startswith(f"{self.topic_prefix}-"):
            raise UsageError(f"a topic that begins with {self.topic_prefix}-", seen=name)
        wanted = topics.queues_by_broker(queues_per_broker, self.brokers)
        if name not in self._topics:
            self._require_new(name)
            self._debts.owe(self._topic_owed(name))
        servers, brokers = self._all_name_servers, self.brokers
        topics.create_everywhere(self._channels, servers, brokers, name, wanted, ordered=ordered)
        self._topics[name] = wanted

    def delete_topic(self, name: str) -> None:
        """As Cluster.delete_topic; a topic that this run has not created is left alone."""
        if name not in self._topics:
            return
        debt = self._topic_owed(name)
        problem = pay(debt, self._channels)
        if problem is not None:
            raise ClusterError(f"topic {name} to be deleted everywhere", seen=problem)
        self._debts.paid(debt)
        self._topics.pop(name)

    def pause(self, node_name: str) -> Span:
        """The owner's pause command; returns when it has ended well and the state command, if any, says so."""
        return self._acts.begin(self._node(node_name), Verb.PAUSE)

    def resume(self, node_name: str) -> Span:
        """The owner's resume command; returns when the node answers."""
        return self._acts.end(self._node(node_name), Verb.RESUME)

    def kill(self, node_name: str) -> Span:
        """The owner's kill command."""
        return self._acts.begin(self._node(node_name), Verb.KILL)

    def restart(self, node_name: str) -> Span:
        """
        The owner's restart command; returns when the broker answers and its topics are in the routes again.

        ClusterError, and nothing is run, when it answers already: it was not down for as long as it should have been.
        """
        node = self._node(node_name)
        if self._is_up_again(node):
            raise ClusterError(
                f"{node.name} to stay down until its restart command",
                seen="an answer: its kill did not work, or somebody else has started it again",
                hint="keep supervisors from it while a run lasts, or give no kill command",
            )
        return self._restart(node)

    def state(self, node_name: str) -> NodeState:
        """What we did to it last: its state command is asked when something is done, not several times a second."""
        return self._acts.state(self._node(node_name).name)

    def heal_all(self) -> None:
        """Resume and restart whatever is owed, all of it, whatever becomes of one."""
        problems = []
        for debt in self._debts.owed:
            if isinstance(debt, ActionOwed):
                try:
                    self._heal(debt)
                except ClusterError as error:
                    problems.append(str(error))
        if problems:
            raise ClusterError("every node to be as it was found", seen="; ".join(problems))

    def require_sound(self) -> None:
        """See that no broker was restarted by anybody but us: no client would be to blame for what that does."""
        for node in self.brokers:
            now, before = self._booted_now(node), self._booted[node.name]
            if now != before:
                raise ClusterError(
                    f"{node.name} to be restarted by nobody else during a run",
                    seen=f"its store came up at {now} (ms since 1970), not at {before}",
                    hint="run again when nobody works on the cluster",
                )

    def unread_bytes(self, node_name: str) -> int | None:
        """Unknown: the kernel of another machine knows it."""
        self._node(node_name)
        return None

    def log_tail(self, node_name: str, lines: int = 20) -> tuple[str, ...]:
        """Its log is its owner's."""
        self._node(node_name)
        return ("its log is its owner's",)[:lines]

    def collect_evidence(self, folder: Path) -> None:
        """What the brokers answered when they were asked, in place of logs: addresses, releases, settings."""
        states = {node.name: self.state(node.name) for node in nodes_of(self)}
        nodes = {node.name: node for node in (*self._found.described.name_servers, *self._found.described.brokers)}
        described = [nodes[name] for name in states]
        write_evidence(folder, self.topology.name, self.server_release, described, self._found.brokers, states)

    def close(self) -> None:
        """
        Resume, restart and delete whatever is owed. A second call does nothing.

        Raises ClusterError, with what to do by hand, if something cannot be paid; it stays written down.
        """
        with self._closing:
            if self._is_closed:
                return
            self._is_closed = True
            problems = settle(self._debts, self._log.note)
            self._debts.close()
            self._guard.close()
            self._channels.close()
        if problems:
            raise ClusterError(
                f"cluster {self._found.described.name} to be left as it was found",
                seen="; ".join(problems),
                hint="do that, then: rocketdiff cluster clean",
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _heal(self, debt: ActionOwed) -> None:
        if debt.verb == Verb.RESUME:
            self.resume(debt.node)
            return
        node = self._node(debt.node)
        if not self._is_up_again(node):
            self._restart(node)

    def _restart(self, node: Node) -> Span:
        begin_ns = self._acts.end(node, Verb.RESTART).begin_ns
        self._booted[node.name] = self._booted_now(node)
        # A paused name server answers nobody, and learns of the broker when it is resumed.
        name_servers = tuple(one for one in self.name_servers if self.state(one.name) is NodeState.RUNNING)
        for topic, wanted in self._topics.items():
            topics.await_route(self._channels, name_servers, topic, wanted, _SERVE_AGAIN_S)
        return Span(begin_ns, time.monotonic_ns())

    def _is_up_again(self, node: Node) -> bool:
        is_up = self._acts.is_up_again(node)
        if is_up:
            # Whoever started it has been told of; the next case begins with it as it is.
            self._booted[node.name] = self._booted_now(node)
        return is_up

    @property
    def _all_name_servers(self) -> tuple[Node, ...]:
        """Every one that the file names: a topic must be forgotten by all of them."""
        return tuple(
            Node(Role.NAME_SERVER, node.letter, node.name, node.address, None, self._found.probe_topic)
            for node in self._found.described.name_servers
        )

    def _node(self, name: str) -> Node:
        nodes = {node.name: node for node in nodes_of(self)}
        if name not in nodes:
            raise UsageError("a node of this cluster", seen=repr(name), hint="one of " + ", ".join(nodes))
        return nodes[name]

    def _topic_owed(self, name: str) -> TopicOwed:
        brokers = tuple(node.address for node in self.brokers)
        return TopicOwed(name, brokers, self._found.described.name_server_addresses)

    def _require_new(self, name: str) -> None:
        """What is there already is somebody's, and would be deleted in the end."""
        for node in self._all_name_servers:
            try:
                is_there = admin.route(self._channels, node.address, name) is not None
            except admin.ADMIN_ERRORS as error:
                raise ClusterError(f"{node.name} to answer", seen=str(error)) from error
            if is_there:
                raise ClusterError(
                    f"no topic {name} before this run creates it", seen="one", hint="choose another prefix"
                )

    def _booted_now(self, node: Node) -> str:
        try:
            return booted(self._channels, node.address)
        except admin.ADMIN_ERRORS as error:
            raise ClusterError(f"{node.name} to say when it was started", seen=str(error)) from error
