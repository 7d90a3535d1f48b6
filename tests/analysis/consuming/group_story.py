"""
Stories about groups of consumers: tables of a case in virtual time, judged and reported to the end.

A feeder stores messages in turn in two queues, one a broker. Each arm has one member, which owns both queues and their retry queues,
and consumes each message 2 ms after it was stored. Tests change rows of the candidate.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.conclusions import all_evidence, case_facts, plots_of, trace_counts
from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.analysis.registry import judge_case
from rocketdiff.analysis.summaries import summarise
from rocketdiff.core.answers.evidence import Analysis
from rocketdiff.core.arm import Arm
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.consuming.plan import MemberEvent
from rocketdiff.core.run_info import Guard
from rocketdiff.core.sends.message import properties_text
from rocketdiff.core.tables.fault import FaultKind, WireHit
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.manifest import (
    LONGEST_STALL,
    ArmSummary,
    CaseEntry,
    CaseStatus,
    GroupEntry,
    ResourceSample,
    RunManifest,
)
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.tables import TABLES
from tests.analysis.judged_to_the_end import Ended, judged_to_the_end
from tests.analysis.synthetic import MACHINE, MS, ORIGIN_NS

BROKERS = ("broker-a", "broker-b")
CONTENT = {"KEYS": "order-1", "TAGS": "paid", "colour": "blau und grün"}
"""What the sender of every third message gave it."""

CHECKS = ("delivered", "redelivery", "retries", "offsets", "allocation", "resume-time", "takeover-time")
WALL_MS = 1_795_000_000_000
EVERY_MS = 100
COUNT = 200
END_MS = COUNT * EVERY_MS
LEAVE_MS = END_MS + 12_000

Row = dict[str, Any]


def client_id(member: int) -> str:
    return f"m{member}"


def ns(ms: float) -> int:
    return ORIGIN_NS + int(ms * MS)


def properties_of(send: int, **changed: str) -> str:
    """Return the properties of a message as its broker holds them."""
    content = {} if send % 3 else CONTENT
    return properties_text(content | {"UNIQ_KEY": str(send), "WAIT": "true"} | changed)


def returned_properties_of(send: int, level: int = 1, **changed: str) -> str:
    """Return the properties of a copy that a broker made of a failed message."""
    added = {"RETRY_TOPIC": "fed", "ORIGIN_MESSAGE_ID": f"id-{send}", "WAIT": "false", "DELAY": str(level)}
    return properties_of(send, **added | changed)


def shown_of(send: int) -> Row:
    """Return what a member shows of a message at its first delivery."""
    return {"unique_key": str(send), "properties": None if send % 3 else properties_of(send)}


def wall(ms: float) -> int:
    return WALL_MS + int(ms)


@dataclass
class Group:
    """The rows of one arm."""

    calls: list[Row] = field(default_factory=list)
    deliveries: list[Row] = field(default_factory=list)
    owned: list[Row] = field(default_factory=list)
    offsets: list[Row] = field(default_factory=list)
    committed: list[Row] = field(default_factory=list)
    returned: list[Row] = field(default_factory=list)
    members: list[Row] = field(default_factory=list)
    allocations: list[Row] = field(default_factory=list)
    listed: list[Row] = field(default_factory=list)
    wire: list[Row] = field(default_factory=list)

    def divide(
        self, at_ms: float, *queues: str, member: int = 0, among: tuple[int, ...] = (0,), of: str = "ab", **row: Any
    ) -> None:
        """Note a member's share of a topic, as ``own`` names queues: of all queues ``of`` the topic."""
        places = [{"broker": f"broker-{name.lower()}", "queue_id": 0} for name in of]
        self.allocations.append(
            {
                "member": member,
                "number": sum(each["member"] == member for each in self.allocations) + 1,
                "incarnation": 1,
                "at_ns": ns(at_ms),
                "kind": "fed" if of.islower() else "retry",
                "strategy": "AVG",
                "ids": [client_id(each) for each in among],
                "queues": places,
                "result": [place for name, place in zip(of, places, strict=True) if name in queues],
            }
            | row
        )

    def list_members(self, at_ms: float, broker: str, *members: int) -> None:
        """A broker is asked for the ids of the group."""
        self.listed.append(
            {
                "poll": sum(row["broker"] == broker for row in self.listed),
                "broker": broker,
                "asked_ns": ns(at_ms - 1),
                "answered_ns": ns(at_ms),
                "code": 0,
                "ids": [client_id(each) for each in members],
            }
        )

    def pull(self, at_ms: float, broker: str, offset: int, answered_ms: float | None = None, **row: Any) -> Row:
        """A pull that the relay saw; without ``next_offset`` its answer has no message."""
        made = {
            "member": 0,
            "number": len(self.wire),
            "connection": ord(broker[-1]),
            "node": broker,
            "what": "pull",
            "in_ns": ns(at_ms),
            "kind": "fed",
            "broker": broker,
            "queue_id": 0,
            "offset": offset,
        }
        if answered_ms is not None:
            found = {"answered_ns": ns(answered_ms), "code": 0 if "next_offset" in row else 19}
            made |= found | {"next_offset": offset, "count": row.get("next_offset", offset) - offset, "suggested": 0}
        self.wire.append(made | row)
        return self.wire[-1]

    def lose(self, at_ms: float, broker: str, member: int = 0) -> None:
        """A connection ends."""
        end = {"number": len(self.wire), "connection": ord(broker[-1]), "node": broker, "what": "end"}
        self.wire.append({"member": member, "in_ns": ns(at_ms), "broker": broker} | end)

    def deliver(
        self, send: int, at_ms: float, *, kind: str = "fed", offset: int | None = None, times: int = 0, **row: Any
    ) -> None:
        """Add a call with one message; its queue and offset are the message's own unless given."""
        call = max((row["call"] for row in self.calls), default=-1) + 1
        broker = BROKERS[send % 2]
        common = {"member": row.pop("member", 0), "call": call}
        self.calls.append(
            common
            | {
                "incarnation": 1,
                "thread": 0,
                "kind": kind,
                "broker": broker,
                "queue_id": 0,
                "start_ns": ns(at_ms),
                "end_ns": ns(at_ms + 1),
                "result": "success",
                "messages": 1,
            }
            | {name: row.pop(name) for name in ("result", "end_ns", "delay_level") if name in row}
        )
        self.deliveries.append(
            common
            | {
                "place": 0,
                "send": send,
                "queue_offset": send // 2 if offset is None else offset,
                "times": times,
                "shown_topic": "fed",
                "store_timestamp_ms": wall(0),
                "body_ok": True,
                "unique_key": str(send),
            }
            | row
        )

    def own(self, at_ms: float, *queues: str, member: int = 0) -> None:
        """Note the owned queues: ``a``, ``b``, retry queues ``A``, ``B``."""
        shown = [
            {"kind": "fed" if name.islower() else "retry", "broker": f"broker-{name.lower()}", "queue_id": 0}
            for name in queues
        ]
        number = sum(row["member"] == member for row in self.owned) + 1
        self.owned.append({"member": member, "number": number, "incarnation": 1, "at_ns": ns(at_ms), "queues": shown})

    def offset(
        self, what: str, at_ms: float, broker: str, value: int | None, *, member: int = 0, kind: str = "fed"
    ) -> None:
        number = sum(row["member"] == member for row in self.offsets) + 1
        self.offsets.append(
            {
                "member": member,
                "number": number,
                "incarnation": 1,
                "at_ns": ns(at_ms),
                "what": what,
                "kind": kind,
                "broker": broker,
                "queue_id": 0,
                "value": value,
            }
        )

    def answer(self, at_ms: float, broker: str, value: int | None) -> None:
        """A broker is asked for the committed offset."""
        self.committed.append(
            {
                "poll": len(self.committed),
                "asked_ns": ns(at_ms - 1),
                "answered_ns": ns(at_ms),
                "kind": "fed",
                "broker": broker,
                "queue_id": 0,
                "value": value,
                "end": COUNT // 2,
            }
        )

    def copy(self, place: str, send: int, times: int, *, offset: int | None = None, **row: Any) -> None:
        """A broker's copy of a failed message; one that came due waited before."""
        if place == "retry":
            self.copy("waiting", send, times, **row)
        broker = row.get("broker", BROKERS[send % 2])
        number = sum((each["place"], each["broker"]) == (place, broker) for each in self.returned)
        self.returned.append(
            {
                "place": place,
                "broker": broker,
                "queue_id": 0,
                "queue_offset": number if offset is None else offset,
                "send": send,
                "times": times,
                "delay_level": None if place == "dead" else 1,
                "store_timestamp_ms": wall(0),
                "born_timestamp_ms": wall(0),
                "born_host": "h",
                "body_ok": True,
                "properties": returned_properties_of(send, level=row.get("delay_level", 1)),
            }
            | row
        )

    def calls_of(self, send: int) -> list[Row]:
        found = {row["call"] for row in self.deliveries if row["send"] == send}
        return [row for row in self.calls if row["call"] in found]

    def drop(self, send: int) -> None:
        """Remove every delivery of a message."""
        gone = {row["call"] for row in self.deliveries if row["send"] == send}
        self.calls = [row for row in self.calls if row["call"] not in gone]
        self.deliveries = [row for row in self.deliveries if row["call"] not in gone]


def faithful() -> Group:
    """Return a group that does everything right; every seventh message fails once, with delay level 1."""
    group = Group()
    group.members.append(
        {
            "member": 0,
            "incarnation": 1,
            "subject": "x:1",
            "client_id": client_id(0),
            "join_start_ns": ns(-3_000),
            "join_end_ns": ns(-2_900),
            "leave_start_ns": ns(LEAVE_MS),
            "leave_end_ns": ns(LEAVE_MS + 20),
            "ended": "left",
        }
    )
    for broker in BROKERS:
        group.offset("query", -1_501, broker, -1)
        group.offset("query", -1_501, broker, -1, kind="retry")
        group.list_members(-2_800, broker, 0)
    group.divide(-1_502, "a", "b")
    group.divide(-1_502, "A", "B", of="AB")
    group.own(-1_500, "a", "b", "A", "B")
    for send in range(COUNT):
        stored_ms = send * EVERY_MS
        if send % 7:
            group.deliver(send, stored_ms + 2, **shown_of(send))
        else:
            group.deliver(send, stored_ms + 2, result="later", delay_level=1, **shown_of(send))
            changed = returned_properties_of(send)
            group.deliver(send, stored_ms + 1_050, kind="retry", offset=send // 14, times=1, properties=changed)
            group.copy("retry", send, 1)
    for at_ms in range(5_000, END_MS + 1, 5_000):
        for broker in BROKERS:
            group.answer(at_ms, broker, at_ms // (2 * EVERY_MS))
    for broker in BROKERS:
        group.offset("commit", LEAVE_MS + 5, broker, COUNT // 2)
        group.answer(LEAVE_MS + 500, broker, COUNT // 2)
    group.own(LEAVE_MS + 10)
    return group


def without_messages() -> Group:
    """Return the faithful group in a case in which nothing is stored."""
    group = faithful()
    for rows in (group.calls, group.deliveries, group.returned, group.committed):
        rows.clear()
    return group


_EMPTY = without_messages()


def differences_without_messages(check: str, *changes: Callable[[Group], object], **story: Any) -> list[DifferenceFact]:
    """Return what one check finds in a small story: nothing is stored, and the candidate is changed."""
    made = Story(deepcopy(_EMPTY), deepcopy(_EMPTY), held=[], **story)
    for change in changes:
        change(made.candidate)
    return made.differences(check)


@dataclass
class Story:
    """
    One case. pauses: of broker-b, (from, for) in ms; faults: further ones, by rows. settings: of the consumers.

    stall_ms: longest stall of the machine as measured.
    """

    baseline: Group = field(default_factory=faithful)
    candidate: Group = field(default_factory=faithful)
    pauses: tuple[tuple[int, int], ...] = ()
    guards: tuple[Guard, ...] = ()
    checks: tuple[str, ...] = CHECKS
    faults: list[Row] = field(default_factory=list)
    count: int = COUNT
    duration_ms: int = END_MS
    settings: dict[str, int | str] = field(default_factory=dict)
    stall_ms: int = 0
    membership: tuple[MemberEvent, ...] = ()
    mixed: tuple[int, ...] = ()
    brokers: tuple[str, ...] = BROKERS
    is_orderly: bool = False
    hits: dict[str, WireHit] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    claims: tuple[str, ...] = ("allocations", "owned", "offsets", "content")
    resources: dict[str, tuple[ResourceSample, ...]] = field(default_factory=dict)
    held: list[Row] = field(
        default_factory=lambda: [
            {
                "broker": BROKERS[send % 2],
                "queue_id": 0,
                "queue_offset": send // 2,
                "send": send,
                "store_timestamp_ms": wall(send * EVERY_MS),
                "born_timestamp_ms": wall(send * EVERY_MS),
                "born_host": "h",
                "body_ok": True,
                "properties": properties_of(send),
            }
            for send in range(COUNT)
        ]
    )

    def trace(self) -> CaseTrace:
        tables: dict[tuple[TableName, Arm | None], pa.Table] = {
            (TableName.HELD, None): _table(TableName.HELD, self.held),
            (TableName.FAULTS, None): _table(TableName.FAULTS, self.fault_rows()),
        }
        for number, (arm, group) in enumerate(((Arm.BASELINE, self.baseline), (Arm.CANDIDATE, self.candidate))):
            for name in (
                "calls",
                "deliveries",
                "owned",
                "offsets",
                "committed",
                "returned",
                "members",
                "allocations",
                "listed",
            ):
                rows = [row | {"arm": number} for row in getattr(group, name)]
                tables[TableName(name), arm] = _table(TableName(name), rows)
            if group.wire:
                tables[TableName.WIRE, arm] = _table(TableName.WIRE, [row | {"arm": number} for row in group.wire])
        return CaseTrace("run", {Arm.BASELINE: "java:5.3.3", Arm.CANDIDATE: "acme:1"}, self.entry(), tables)

    def fault_rows(self) -> list[Row]:
        return [fault_row("broker-b", *pause) for pause in self.pauses] + self.faults

    def entry(self) -> CaseEntry:
        return CaseEntry(
            number=1,
            name="consuming/pause-one-of-two/java:5.3.3~acme:1",
            scenario="consuming/pause-one-of-two",
            scenario_text="",
            topology="two-masters",
            queues_per_broker=1,
            settings=ClientSettings(),
            threads=2,
            sends_planned=self.count,
            duration_s=self.duration_ms / 1_000,
            plan_digest="",
            checks=self.checks,
            brokers=self.brokers,
            status=CaseStatus.COMPLETE,
            clock=ClockAnchor(ORIGIN_NS, WALL_MS),
            origin_ns=ORIGIN_NS,
            guards=self.guards,
            measured={LONGEST_STALL: self.stall_ms * MS},
            arms=dict.fromkeys(Arm, ArmSummary(sends=0, attempts=0, unanswered=0, done=True, capabilities=self.claims)),
            topics=dict.fromkeys(Arm, "fed"),
            role=ClientRole.CONSUMER,
            hits=self.hits,
            resources=self.resources,
            groups={
                arm: GroupEntry(
                    f"group-{arm}",
                    1,
                    self.settings,
                    self.is_orderly,
                    membership=self.membership,
                    mixed=self.mixed if arm is Arm.CANDIDATE else (),
                    tags=self.tags,
                )
                for arm in Arm
            },
        )

    def manifest(self) -> RunManifest:
        return RunManifest(
            run="run",
            rocketdiff="0",
            created_wall_ms=WALL_MS,
            seed=1,
            subjects={Arm.BASELINE: "java:5.3.3", Arm.CANDIDATE: "acme:1"},
            server_release="5.3.3",
            backend="processes",
            suite="consumers",
            machine=MACHINE,
            cases=(self.entry(),),
        )

    def analysis(self) -> Analysis:
        summaries, manifest = summarise(judge_case(self.trace())), self.manifest()
        cases = case_facts([manifest], summaries)
        counts = trace_counts([manifest], cases)
        return Analysis(evidence=all_evidence(cases), plots=plots_of(cases, summaries.lanes), counts=counts)

    def judge(self) -> Ended:
        """Judge to the verdict, and render the report."""
        run = cast(RunDirectory, SimpleNamespace(manifest=self.manifest()))
        return judged_to_the_end(run, self.analysis())

    def signatures(self) -> set[str]:
        """Return the signatures of the divergences, after judging to the end."""
        return {cluster.signature for cluster in self.judge().document.clusters}

    def differences(self, check: str) -> list[DifferenceFact]:
        """Return what one check finds, without judging it."""
        facts = (each.fact for each in judge_case(self.trace(), wanted={check}))
        return [fact for fact in facts if isinstance(fact, DifferenceFact)]


def differences_of(check: str, *changes: Callable[[Group], object], **story: Any) -> list[DifferenceFact]:
    """Return what one check finds in a story whose candidate is changed."""
    made = Story(**story)
    for change in changes:
        change(made.candidate)
    return made.differences(check)


def candidate(change: Callable[[Group], None], **story: Any) -> Story:
    """Return a story whose candidate is changed."""
    made = Story(**deepcopy(story))
    change(made.candidate)
    return made


def fault_row(
    node: str, from_ms: int, for_ms: int, *, is_kill: bool = False, kind: FaultKind | None = None, episode: int = 0
) -> Row:
    """Return a row of a fault of a broker. kind: of one on the wire."""
    return {
        "episode": episode,
        "kind": (kind or (FaultKind.KILL if is_kill else FaultKind.PAUSE)).value,
        "node": node,
        "inject_ns": ns(from_ms),
        "injected_ns": ns(from_ms + 1),
        "proven_ns": ns(from_ms + 10),
        "heal_ns": ns(from_ms + for_ms),
        "healed_ns": ns(from_ms + for_ms + 1),
        "heal_proven_ns": ns(from_ms + for_ms + 10),
    }


def starved(late_ms: int, *, arm: str = "candidate", since_s: int = 0) -> dict[str, tuple[ResourceSample, ...]]:
    """Return samples of a process that waits for a core since an instant, so that its messages may be so late."""
    instants_s = (since_s, since_s + 100)
    waited_ns = 4 * late_ms * MS
    return {f"{arm}-m0": tuple(ResourceSample(ns(s * 1_000), cpu_ns=0, waited_ns=s * waited_ns) for s in instants_s)}


def _table(name: TableName, rows: Iterable[Row]) -> pa.Table:
    return pa.Table.from_pylist([{"case": 1, **row} for row in rows], schema=TABLES[name].schema)
