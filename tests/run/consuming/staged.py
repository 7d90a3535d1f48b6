"""
A whole case about consumers with scripted programs: one broker that answers, a feeder with one message, one member an arm.

Deadlines are short, and a group counts as settled at once. Nothing is read back, so only the conversations are judged.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from maintenance.consumers.__main__ import new_run
from rocketdiff.analysis.run_analysis import analyze_here
from rocketdiff.cluster.interface import Node
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.plan import MemberEvent
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.topology import NodeKind, Topology, topology_named
from rocketdiff.judging.run_info import describe
from rocketdiff.run.case.cast import Pair
from rocketdiff.run.case.consuming.names import CaseNames
from rocketdiff.run.case.ends import watch_ends
from rocketdiff.run.case.staged_case import StagedCase
from rocketdiff.scenario import expand, parse
from rocketdiff.subjects.consuming.limits import MemberLimits
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judge import RunJudgement, judge
from tests.cluster.fakes import FakeCluster
from tests.drivers.python.test_consuming import GroupBroker
from tests.subjects.conftest import HELLO, READY, Scripted

SCENARIO = """\
format: 1
name: consuming/staged
establishes: Both members keep to the protocol.
topology: one-master
topic: {queues_per_broker: 1}
workload: {call: queue, threads: 1, rate_per_s: 10, duration_s: 0.1}
consumers: {members: 1, listener: concurrent, drain_s: 0.1}
checks: [delivered]
"""

BASELINE, CANDIDATE, FEEDER = SubjectId("java", "5.3.3"), SubjectId("acme", "1"), SubjectId("python", "5.5.0")
LIMITS = MemberLimits(join_s=0.6, call_s=0.6, leave_s=0.6, done_s=0.6, other_records=10, others_a_second=0)
CLAIMS = ("concurrent", "clustering", "allocations", "owned", "offsets")
QUEUE = ("broker-a", 0)

Step = list[Any]


def hello(subject: SubjectId, *claims: str, roles: tuple[str, ...] = ("consumer",)) -> Step:
    named = {"client": subject.client, "version": subject.release}
    return ["say", HELLO | named | {"capabilities": list(claims), "roles": list(roles)}]


class Part:
    """
    The steps of an honest member, by name; a test replaces some of them.

    hello, ready, join, joined, shares, owned, works, leave, left, done, stop.
    """

    def __init__(self, names: CaseNames, arm: Arm, subject: SubjectId) -> None:
        topics = names.groups[arm]
        self.client_id, self.topics = f"1@{names.instance(arm, 0)}", topics
        shares = [self.allocated(1, topics.fed), self.allocated(2, topics.retry)]
        self.steps: dict[str, list[Step]] = {
            "hello": [hello(subject, *CLAIMS)],
            "ready": [["await", "setup"], ["say", READY]],
            "join": [["await", "join"]],
            "joined": [self.joined()],
            "shares": shares,
            "owned": [self.owned(1)],
            "works": [],
            "leave": [["await", "leave"]],
            "left": [self.left()],
            "done": [["say", {"type": "done", "calls": 0}]],
            "stop": [],
        }

    @property
    def script(self) -> list[Step]:
        return [step for steps in self.steps.values() for step in steps]

    def joined(self, incarnation: int = 1, **other: Any) -> Step:
        times = {"start_ns": "@now", "end_ns": "@now"}
        return ["say", {"type": "joined", "incarnation": incarnation, "client_id": self.client_id} | times | other]

    def left(self, incarnation: int = 1) -> Step:
        return ["say", {"type": "left", "incarnation": incarnation, "start_ns": "@now", "end_ns": "@now"}]

    def allocated(self, number: int, topic: str, incarnation: int = 1) -> Step:
        share = {"ids": [self.client_id], "queues": [QUEUE], "result": [QUEUE], "strategy": "AVG", "at_ns": "@now"}
        return ["say", {"type": "allocated", "number": number, "incarnation": incarnation, "topic": topic} | share]

    def owned(self, number: int, incarnation: int = 1) -> Step:
        queues = [(topic, *QUEUE) for topic in (self.topics.fed, self.topics.retry)]
        return [
            "say",
            {"type": "owned", "number": number, "incarnation": incarnation, "at_ns": "@now", "queues": queues},
        ]

    def received(self, call: int = 0, **other: Any) -> Step:
        message = {"offset": 0, "times": 0, "store_ms": 1, "body_ok": True, "send": 0}
        place = {"thread": 0, "topic": self.topics.fed, "broker": "broker-a", "queue_id": 0, "messages": [message]}
        return ["say", {"type": "received", "call": call, "incarnation": 1, "at_ns": "@now"} | place | other]


class _StagedCluster(FakeCluster):
    """One broker that answers questions about groups."""

    def __init__(self, broker: GroupBroker) -> None:
        super().__init__()
        self._broker = broker

    @property
    def topology(self) -> Topology:
        return topology_named("one-master")

    @property
    def brokers(self) -> tuple[Node, ...]:
        return (Node(NodeKind.BROKER, "a", "broker-a", self._broker.address, None),)


class Stage:
    """A case that has not begun. baseline, candidate: what the members do. events: of the only member of each arm."""

    def __init__(self, folder: Path, broker: GroupBroker, events: tuple[MemberEvent, ...] = ()) -> None:
        scenario = parse(SCENARIO, "text")
        assert scenario.group is not None
        scenario = replace(scenario, group=replace(scenario.group, membership=events))  # as no file may state them
        self._case = expand(scenario, BASELINE, CANDIDATE, seed=1)
        self.run: RunDirectory = new_run(self._case, folder, seed=1)
        self._cluster = _StagedCluster(broker)
        names = CaseNames(f"rocketdiff-{self.run.manifest.run}-001", ("broker-a",), 1)
        self.baseline, self.candidate = Part(names, Arm.BASELINE, BASELINE), Part(names, Arm.CANDIDATE, CANDIDATE)
        for part in (self.baseline, self.candidate):
            broker.members[part.topics.group] = [part.client_id]

    def play(self) -> RunJudgement:
        """Run, seal and judge the case."""
        sent = {"type": "send", "send": 0, "thread": 0, "start_ns": "@now", "end_ns": "@now", "status": "SEND_OK"}
        feeder: list[Step] = [["say", HELLO | {"client": FEEDER.client, "version": FEEDER.release, "capabilities": ["queue"]}],
                  ["await", "setup"], ["say", READY], ["await", "go"], ["sleep", 0.1], ["say", sent], ["say", {"type": "done", "sends": 1}]]  # fmt: skip
        programs = {
            Arm.BASELINE: Scripted(self.baseline.script, BASELINE),
            Arm.CANDIDATE: Scripted(self.candidate.script, CANDIDATE),
        }
        StagedCase(
            lambda: self._cluster, self.run.case(1), self._case, Pair(programs, feeder=Scripted(feeder, FEEDER)), ()
        ).play()
        return judge(analyze_here(self.run).evidence, describe([self.run], took_s=0.0))


@contextmanager
def staged(folder: Path, patch: pytest.MonkeyPatch, *events: MemberEvent) -> Iterator[Stage]:
    """Yield a stage with honest members."""
    run = "rocketdiff.run.case"
    for name, value in {
        "open_connections.AT_REST_EVERY_S": 0.0,
        "process_resources.AT_REST_EVERY_S": 0.0,
        "case_run.GO_AHEAD_NS": 1_000_000,
        "case_run.ScheduleThread": lambda *_: SimpleNamespace(
            stop=lambda: None, join=lambda: SimpleNamespace(problems=())
        ),
        "case_run.watch_ends": partial(watch_ends, limit_s=0.3),
        "consuming.group_watch.OFFSETS_EVERY_S": 0.01,
        "consuming.group_watch.IDS_EVERY": 1,
        "consuming.joining.AHEAD_NS": 0,
        "consuming.consuming_run.AHEAD_NS": 0,
        "consuming.joining.SETTLED_FOR_S": 0.0,
        "consuming.joining.SETTLED_WITHIN_S": 1.0,
        "case_run.await_drained": lambda *_: None,
        "consuming.consuming_run.await_drained": lambda *_, **__: None,
        "consuming.consuming_run.read_stored": lambda *_: iter(()),
        "consuming.consuming_run.returned_rows": lambda *_: iter(()),
    }.items():
        patch.setattr(f"{run}.{name}", value)
    patch.setattr(MemberLimits, "of", lambda *_: LIMITS)
    with ExitStack() as stack:
        broker = GroupBroker("broker-a")
        stack.callback(broker.close)
        yield Stage(folder, broker, events)
