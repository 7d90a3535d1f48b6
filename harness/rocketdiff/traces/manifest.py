"""
``run.json``: what was run, on what, and how far it came. The tables are meaningless without it.

Paths in it are relative to the run directory. Fields of a newer minor version are ignored when read.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.case import Tolerance
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.consuming.plan import MemberEvent
from rocketdiff.core.errors import TraceError
from rocketdiff.core.run_info import Guard, Machine
from rocketdiff.core.tables.fault import WireHit
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.text.quoted import shown
from rocketdiff.traces.journal import CLIENT
from rocketdiff.traces.recorder import digest_of
from rocketdiff.traces.schema import (
    BODIES_COMPARED_SINCE,
    DIGESTS_SINCE,
    SCHEMA_VERSION,
    TableName,
    minor_of,
    require_known_version,
)

_END_OF_TIME_MS = 253_402_300_800_000
"""The year 10000, beyond the range of ``datetime``."""


class CaseStatus(StrEnum):
    """Progress of a case. Only a complete case can conform."""

    PLANNED = "planned"
    COMPLETE = "complete"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """
    Content of one arm's journal when it was sealed.

    unanswered: planned sends without an answer. done: the subject reported that every send was answered. failure: its message
    when it gave up. troubles: the first few lines that are not records, or contradict the plan or an earlier line, in words;
    trouble_count: all. witness: source of attempts and routes, ``client`` (its hook) or ``wire`` (the recording relay). calls,
    deliveries: of a group's listeners, since 1.10.
    """

    sends: int
    attempts: int
    unanswered: int
    done: bool
    client: str = ""
    version: str = ""
    capabilities: tuple[str, ...] = ()
    failure: str | None = None
    trouble_count: int = 0
    troubles: tuple[str, ...] = ()
    witness: str = CLIENT
    calls: int = 0
    deliveries: int = 0

    def rows_of(self, table: TableName) -> int | None:
        """Return the number of rows of a table of this arm; None if it is not counted here."""
        return {
            TableName.SENDS: self.sends,
            TableName.ATTEMPTS: self.attempts,
            TableName.CALLS: self.calls,
            TableName.DELIVERIES: self.deliveries,
        }.get(table)


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """
    The group of one arm: its name and the number of its member processes.

    settings: settings and properties of its consumers that the scenario names. is_orderly: its listener is. membership: planned
    events by time, since 1.11. mixed: members that run the
    baseline, since 1.11. is_broadcasting: each member gets every message, since 1.11. polls: its members are lite pull consumers,
    since 1.13. commits_itself: their application commits after each poll, since 1.13. tags: that it subscribes to, none for all
    messages, since 1.14. assigned: by member, broker and id of the queues that its application assigns to it, none if they share them,
    since 1.15.
    """

    name: str
    members: int
    settings: dict[str, int | str] = field(default_factory=dict)
    is_orderly: bool = False
    membership: tuple[MemberEvent, ...] = ()
    mixed: tuple[int, ...] = ()
    is_broadcasting: bool = False
    polls: bool = False
    commits_itself: bool = False
    tags: tuple[str, ...] = ()
    assigned: tuple[tuple[tuple[str, int], ...], ...] = ()

    def subject_arm(self, arm: Arm, number: int | None) -> Arm:
        """Return the arm whose subject a member runs. arm: the group's."""
        return Arm.BASELINE if number in self.mixed else arm


@dataclass(frozen=True, slots=True)
class Breach:
    """A subject's violation of the line protocol (``protocol.died``, ``protocol.answered-twice`` …), as the runner saw it."""

    signature: str
    expected: str
    seen: str


@dataclass(frozen=True, slots=True)
class ConnectionSample:
    """
    TCP connections of one client at ``at_ns`` of the monotonic clock; valid until the next sample of the arm.

    held: number of open connections by server (``broker-a``, ``broker-a vip``, ``name-server-1``), without servers that have
    none; None if it could not be read. opened: connections absent from all earlier samples, by server. is_at_rest: all sends
    and faults have ended.
    """

    at_ns: int
    held: dict[str, int] | None
    opened: dict[str, int]
    is_at_rest: bool = False


@dataclass(frozen=True, slots=True)
class ResourceSample:
    """
    What one client's processes used at ``at_ns`` of the monotonic clock; no numbers if they had ended or could not be read.

    threads; cpu_ns: processor time since they started, in user and system mode; memory_bytes: resident; files: open
    descriptors, sockets included; waited_ns: sum over their threads of the time since they started in which a thread could
    run but had no core, None where the kernel does not count it. is_at_rest: all sends and faults have ended. Neither time
    goes back when a thread or a child process ends.
    """

    at_ns: int
    threads: int | None = None
    cpu_ns: int | None = None
    memory_bytes: int | None = None
    files: int | None = None
    waited_ns: int | None = None
    is_at_rest: bool = False

    def cores_wanted_since(self, earlier: "ResourceSample") -> float:
        """Return the share of a core that its threads used, or waited for, since an earlier sample; 0 if unknown."""
        wanted_ns = [(each.cpu_ns or 0) + (each.waited_ns or 0) for each in (earlier, self)]
        is_known = self.cpu_ns is not None and earlier.cpu_ns is not None
        return (wanted_ns[1] - wanted_ns[0]) / max(1, self.at_ns - earlier.at_ns) if is_known else 0.0


LONGEST_STALL = "longest_stall_ns"
"""Name of a measured number: how late a sleeping thread of the runner was woken at most, if that was long."""


@dataclass(frozen=True, slots=True)
class CaseEntry:
    """
    One case of the run.

    name: full, path-shaped. scenario_text: content of the scenario file; scenario_file: its path as a report may show it.
    origin_ns: monotonic time at which offset 0 of the plan was due. topics: name of each arm's topic. guards: validity
    conditions as measured. measured: further numbers, with their unit in the name (``start_spread_ns``, ``achieved_per_s``
    …). reason: why the case was aborted. breaches: violations of the line protocol by member; a result, not an error. files:
    digest of each sealed table, by path. connections: samples by member, since 1.4; empty if none were taken.
    attempt_timeout_ms: maximum duration of a client's attempts, if longer than the setting, since 1.6; faults then last
    longer than the scenario says. role: of the clients under test, since 1.8. resources: samples by member, since 1.9; empty
    if none were taken. groups: of a case about consumers, since 1.10; both arms then have the same topic. hits: what its faults on
    the wire hit, by episode, since 1.12.
    """

    number: int
    name: str
    scenario: str
    scenario_text: str
    topology: str
    queues_per_broker: int
    settings: ClientSettings
    threads: int
    sends_planned: int
    duration_s: float
    plan_digest: str
    checks: tuple[str, ...]
    brokers: tuple[str, ...] = ()
    topics: dict[Arm, str] = field(default_factory=dict)
    tolerances: tuple[Tolerance, ...] = ()
    covers: tuple[str, ...] = ()
    status: CaseStatus = CaseStatus.PLANNED
    reason: str = ""
    clock: ClockAnchor | None = None
    origin_ns: int | None = None
    guards: tuple[Guard, ...] = ()
    measured: dict[str, int | float] = field(default_factory=dict)
    arms: dict[Arm, ArmSummary] = field(default_factory=dict)
    breaches: dict[str, Breach] = field(default_factory=dict)
    scenario_file: str = ""
    files: dict[str, str] = field(default_factory=dict)
    connections: dict[str, tuple[ConnectionSample, ...]] = field(default_factory=dict)
    attempt_timeout_ms: int = 0
    role: ClientRole = ClientRole.PRODUCER
    resources: dict[str, tuple[ResourceSample, ...]] = field(default_factory=dict)
    groups: dict[Arm, GroupEntry] = field(default_factory=dict)
    hits: dict[str, WireHit] = field(default_factory=dict)

    @property
    def lost_arms(self) -> tuple[Arm, ...]:
        """The arms of which a member broke the protocol, each once, in the order of their first breach."""
        lost = (Member.parse(name).arm for name in self.breaches)
        return tuple(dict.fromkeys(arm for arm in lost if arm is not None))

    @property
    def broken_guards(self) -> tuple[Guard, ...]:
        return tuple(guard for guard in self.guards if not guard.held)

    @property
    def why_broken(self) -> str:
        """Words for the guards that did not hold."""
        return "; ".join(guard.why_broken for guard in self.broken_guards)

    def blamed_for(self, arm: Arm) -> Arm:
        """Return the arm whose subject broke the protocol in an arm's group: in a mixed one it may be the other."""
        member = next((own for name in self.breaches if (own := Member.parse(name)).arm is arm), None)
        group = self.groups.get(arm)
        return arm if member is None or group is None else group.subject_arm(arm, member.number)

    def breach_of(self, arm: Arm) -> Breach | None:
        return next((breach for name, breach in self.breaches.items() if Member.parse(name).arm is arm), None)


@dataclass(frozen=True, slots=True)
class SubjectSource:
    """
    Origin of a subject.

    spec: value of ``--subject``. label: the user's name for it. checksums: sha256 by file name of its jars or its executable;
    empty for parts of rocketdiff. attempt_timeout_ms: duration of its attempts, if it ignores the setting. rules: the release
    whose rules apply to a program of the user as the baseline.
    """

    spec: str
    label: str = ""
    checksums: dict[str, str] = field(default_factory=dict)
    attempt_timeout_ms: int | None = None
    rules: str | None = None


@dataclass(frozen=True, slots=True)
class RunManifest:
    """
    One run: subjects, cluster, machine, seed and cases in order.

    subjects: ``client:release`` by arm. reproduce: the command line that repeats the run, with its seed. shipped_ledgers: the
    ledgers that come with rocketdiff apply. ended_wall_ms: None while the run goes on, and forever if it was killed. left_out:
    (scenario, reason) of chosen scenarios that do not apply to these subjects or this cluster, since 1.5. sources: origin of the
    subjects, since 1.6. repeated: cases that were run again because a guard did not hold; nothing of them is judged, their files
    stay, since 1.16. digest: of all other fields, since 1.3; set by ``encode_manifest``.
    """

    run: str
    rocketdiff: str
    created_wall_ms: int
    seed: int
    subjects: dict[Arm, str]
    server_release: str
    backend: str
    suite: str
    machine: Machine
    cases: tuple[CaseEntry, ...]
    schema: str = SCHEMA_VERSION
    reproduce: str = ""
    shipped_ledgers: bool = True
    ended_wall_ms: int | None = None
    left_out: tuple[tuple[str, str], ...] = ()
    sources: dict[Arm, SubjectSource] = field(default_factory=dict)
    repeated: tuple[CaseEntry, ...] = ()
    digest: str = ""

    @property
    def has_digests(self) -> bool:
        """True if the run has digests; without them an alteration cannot be excluded."""
        return minor_of(self.schema) >= DIGESTS_SINCE

    @property
    def bodies_compared(self) -> bool:
        """True if ``body_ok`` compares byte by byte; earlier runs may have compared only the beginning."""
        return minor_of(self.schema) >= BODIES_COMPARED_SINCE

    @property
    def baseline_rules(self) -> str | None:
        """The release whose rules the user chose for a baseline without rules of its own."""
        source = self.sources.get(Arm.BASELINE)
        return source.rules if source else None

    @property
    def kept(self) -> tuple[CaseEntry, ...]:
        """All cases with files: the judged ones, and those that were run again."""
        return (*self.cases, *self.repeated)

    def case(self, number: int) -> CaseEntry:
        for entry in self.kept:
            if entry.number == number:
                return entry
        raise TraceError(f"a case number {number} in run {self.run}", seen=f"cases {[c.number for c in self.kept]}")


def encode_manifest(manifest: RunManifest) -> bytes:
    """Return the content of ``run.json``."""
    return stamped(msgspec.json.decode(msgspec.json.encode(manifest)))


def stamped(fields: Mapping[str, object]) -> bytes:
    """Return the content of ``run.json`` for these fields, with their digest, indented."""
    content = msgspec.json.encode({**fields, "digest": _digest_of(fields)})
    return msgspec.json.format(content, indent=1) + b"\n"


def _digest_of(fields: Mapping[str, object]) -> str:
    """Return the digest of all other fields, also unknown ones; independent of order and layout."""
    rest = {name: value for name, value in fields.items() if name != "digest"}
    return digest_of(msgspec.json.encode(rest, order="sorted"))


def decode_manifest(content: bytes, *, where: str) -> RunManifest:
    """Read ``run.json``; raises TraceError if it is invalid, altered or of an unknown major version."""
    try:
        raw = msgspec.json.decode(content)
        if not isinstance(raw, dict):
            raise msgspec.ValidationError("the top level is not an object")
        require_known_version(raw.get("schema"), where=where)
        manifest = msgspec.convert(raw, RunManifest)
        is_altered = (manifest.has_digests or manifest.digest) and manifest.digest != _digest_of(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError, OverflowError) as problem:  # not UTF-8 is a ValueError
        raise _no_run(where, str(problem)) from problem
    if is_altered:
        raise TraceError(
            f"{where} as rocketdiff wrote it", seen="other content: its digest differs", hint="restore it from a copy"
        )
    if contradiction := next(_contradictions(manifest), ""):
        raise _no_run(where, contradiction)
    return manifest


def _no_run(where: str, seen: str) -> TraceError:
    return TraceError(
        f"a run description in {where}", seen=seen, hint="restore run.json; the tables alone cannot be judged"
    )


def _contradictions(manifest: RunManifest) -> Iterator[str]:
    """Yield contradictions in a manifest whose fields have valid types."""
    if missing := [arm for arm in Arm if arm not in manifest.subjects]:
        yield f"no subject for {', '.join(missing)}"
    numbers = [entry.number for entry in manifest.kept]
    if len(set(numbers)) != len(numbers) or min(numbers, default=1) < 1:
        yield f"case numbers {numbers}"
    for wall_ms in (manifest.created_wall_ms, manifest.ended_wall_ms or 0):
        if not 0 <= wall_ms < _END_OF_TIME_MS:
            yield f"a run at {wall_ms} ms since 1970"
    for entry in manifest.kept:
        for name in (*entry.breaches, *entry.connections, *entry.resources):
            if not _is_member(name):
                yield f"a member named {shown(name)} in case {entry.number}"
        if entry.status is CaseStatus.COMPLETE and (len(entry.arms) != len(Arm) or entry.origin_ns is None):
            yield f"case {entry.number} is complete but lacks an arm summary or its origin"


def _is_member(name: str) -> bool:
    try:
        Member.parse(name)
    except ValueError:
        return False
    return True


def schema() -> bytes:
    """Return the JSON Schema (2020-12) of ``run.json``; it allows fields of a newer minor version."""
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:rocketdiff:run:{SCHEMA_VERSION}",
    }
    return (json.dumps(head | msgspec.json.schema(RunManifest), indent=2) + "\n").encode()
