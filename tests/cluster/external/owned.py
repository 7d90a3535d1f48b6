"""A cluster without JVMs: servers that answer, or are silent while a file exists."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rocketdiff.cluster.external import connect
from rocketdiff.cluster.external.cluster import ExternalCluster
from rocketdiff.cluster.external.described import DescribedCluster, DescribedNode, OwnersCommand, Verb
from rocketdiff.cluster.external.owners_commands import CommandResult, run_command
from rocketdiff.cluster.faults.schedule import FaultListener, ScheduleOutcome, run_schedule
from rocketdiff.core.tables.fault import FaultKind, FaultSpec
from rocketdiff.core.tables.topology import NodeKind, topology_named
from rocketmq_reference.remoting.codes import RequestCode, ResponseCode
from rocketmq_reference.remoting.frames import Command, respond_to
from tests.reference_impl.fake_broker import FakeBroker, FakeNameServer, Reply, Silence

PREFIX = "rocketdiff-unit"


class OwnedNameServer(FakeNameServer):
    """Also knows brokers by name and deletes routes."""

    def __init__(self) -> None:
        self.brokers: dict[str, str] = {}
        super().__init__()

    def serve(self, request: Command) -> Command | Reply:
        if request.code == RequestCode.GET_BROKER_CLUSTER_INFO:
            table = {
                name: {"cluster": "theirs", "brokerName": name, "brokerAddrs": {"0": address}}
                for name, address in self.brokers.items()
            }
            body = {"brokerAddrTable": table, "clusterAddrTable": {"theirs": list(table)}}
            return respond_to(request, ResponseCode.SUCCESS, body=json.dumps(body).encode())
        if request.code == RequestCode.DELETE_TOPIC_IN_NAMESRV:
            self.routes.pop(request.ext_fields["topic"], None)
        return super().serve(request)


class OwnedBroker(FakeBroker):
    """
    Silent while ``flag`` exists; registers topics. groups: in which a member has registered.

    held: groups of which it holds a pull, which makes a deleted group again. figures_refused: queries for runtime figures to
    refuse, as after a start.
    """

    def __init__(self, name: str, flag: Path, name_server: OwnedNameServer) -> None:
        self.flag = flag
        self.name_server = name_server
        self.topics: dict[str, int] = {}
        self.groups: set[str] = set()
        self.held: set[str] = set()
        self.booted = "1000"
        self.figures_refused = 0
        super().__init__(name)
        name_server.brokers[name] = self.address

    def serve(self, request: Command) -> Command | Reply:
        if self.flag.exists():
            return Silence()
        topic = request.ext_fields.get("topic", "")
        if request.code == RequestCode.UPDATE_AND_CREATE_TOPIC:
            self.topics[topic] = int(request.ext_fields["writeQueueNums"])
            self._register(topic)
        if request.code == RequestCode.DELETE_TOPIC_IN_BROKER:
            self.topics.pop(topic, None)
        if request.code == RequestCode.DELETE_SUBSCRIPTIONGROUP:
            assert request.ext_fields["cleanOffset"] == request.ext_fields["removeOffset"] == "true"
            group = request.ext_fields["groupName"]
            if group in self.held:
                self.held.discard(group)
            else:
                self.groups.discard(group)
            return respond_to(request, ResponseCode.SUCCESS)
        if request.code == RequestCode.GET_BROKER_RUNTIME_INFO and self.figures_refused > 0:
            self.figures_refused -= 1
            return respond_to(request, ResponseCode.SYSTEM_ERROR, remark="java.util.NoSuchElementException")
        if request.code == RequestCode.GET_BROKER_RUNTIME_INFO:
            table = {"brokerVersionDesc": "V5_3_3", "bootTimestamp": self.booted}
            return respond_to(request, ResponseCode.SUCCESS, body=json.dumps({"table": table}).encode())
        if request.code == RequestCode.GET_BROKER_CONFIG:
            body = f"brokerName={self.name}\nadminPassword=hidden\n".encode()
            return respond_to(request, ResponseCode.SUCCESS, body=body)
        return super().serve(request)

    def join(self, group: str) -> None:
        """A member registers, and one of its messages becomes a dead letter."""
        self.groups.add(group)
        for topic in (f"%RETRY%{group}", f"%DLQ%{group}"):
            self.topics[topic] = 1
            self._register(topic)

    def _register(self, topic: str) -> None:
        empty: dict[str, list[object]] = {"queueDatas": [], "brokerDatas": []}
        route = self.name_server.routes.setdefault(topic, {**empty, "filterServerTable": {}})
        count = self.topics[topic]
        queues = {
            "brokerName": self.name,
            "readQueueNums": count,
            "writeQueueNums": count,
            "perm": 6,
            "topicSysFlag": 0,
        }
        route["queueDatas"].append(queues)
        route["brokerDatas"].append({"cluster": "theirs", "brokerName": self.name, "brokerAddrs": {"0": self.address}})


@dataclass
class Owned:
    """Two brokers, ``mq-red`` and ``mq-blue``; scenarios call them a and b."""

    folder: Path
    name_server: OwnedNameServer = field(default_factory=OwnedNameServer)
    brokers: dict[str, OwnedBroker] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("mq-red", "mq-blue"):
            self.brokers[name] = OwnedBroker(name, self.folder / f"{name}.paused", self.name_server)

    @property
    def topics(self) -> set[str]:
        """Topics left at any server."""
        return {topic for broker in self.brokers.values() for topic in broker.topics} | set(self.name_server.routes)

    @property
    def groups(self) -> set[str]:
        """Groups left at any broker."""
        return {group for broker in self.brokers.values() for group in broker.groups}

    def described(self, timeout_s: float = 5.0, **instead: str | None) -> DescribedCluster:
        """As in a cluster file. instead: other commands by verb, None for no command."""
        lines = {"pause": "touch {flag}", "resume": "rm {flag}", **instead}

        def node(letter: str, name: str) -> DescribedNode:
            flag = str(self.brokers[name].flag)
            given = {Verb(verb): OwnersCommand.of(line.format(flag=flag)) for verb, line in lines.items() if line}
            return DescribedNode(NodeKind.BROKER, letter, name, "", given)

        name_server = DescribedNode(NodeKind.NAME_SERVER, "1", "name-server-1", self.name_server.address, {})
        return DescribedCluster(
            name="unit",
            origin="cluster.yaml",
            folder=self.folder,
            topic_prefix=PREFIX,
            name_servers=(name_server,),
            brokers=(node("a", "mq-red"), node("b", "mq-blue")),
            server_release=None,
            command_timeout_s=timeout_s,
        )


def retry_at_once(monkeypatch: pytest.MonkeyPatch, interval_s: float = 0.0) -> None:
    """No pauses between probes of a node or tries of a command."""
    monkeypatch.setattr("rocketdiff.cluster.external.actions._PROBE_INTERVAL_S", interval_s)
    monkeypatch.setattr("rocketdiff.cluster.external.cleanup._RETRY_INTERVAL_S", interval_s)


def give_commands_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands may take half a minute on a busy machine, whatever their limit; waits as long as the limit stay short."""

    def patient(command: OwnersCommand, folder: Path, timeout_s: float, *on_group: Any) -> CommandResult:
        return run_command(command, folder, max(timeout_s, 30.0), *on_group)

    monkeypatch.setattr("rocketdiff.cluster.external.actions.run_command", patient)
    monkeypatch.setattr("rocketdiff.cluster.external.cleanup.run_command", patient)


def run_fault(
    cluster: ExternalCluster,
    kind: FaultKind = FaultKind.PAUSE,
    for_s: float = 0.3,
    node: str = "broker-b",
    meanwhile: FaultListener = lambda _: None,
) -> ScheduleOutcome:
    """Run a schedule of one fault."""
    spec = FaultSpec(1, kind, node, 0.0, for_s)
    return run_schedule(cluster, [spec], time.monotonic_ns(), meanwhile, threading.Event())


def joined(owned: Owned, described: DescribedCluster | None = None, topology: str = "two-masters") -> ExternalCluster:
    shape = topology_named(topology)
    wanted = described or owned.described()
    return connect.connect(wanted, shape, owned.folder / "cluster")


@contextmanager
def owned_cluster(folder: Path) -> Iterator[Owned]:
    owned = Owned(folder)
    try:
        yield owned
    finally:
        for server in (owned.name_server, *owned.brokers.values()):
            server.close()
