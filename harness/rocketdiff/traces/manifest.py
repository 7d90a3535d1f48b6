"""
``run.json``: what was run, on what, and how far it came; the tables are meaningless without it.

Every path in it is relative to the run directory. Fields a newer minor version added are ignored when read. ``python -m
rocketdiff.traces.manifest > fixtures/schema/run-1.json`` writes the published JSON Schema, and a test refuses a stale one.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from rocketdiff.core.errors import TraceError
from rocketdiff.core.events import Arm
from rocketdiff.core.run_info import Guard, Machine
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.journal import CLIENT
from rocketdiff.traces.recorder import digest_of
from rocketdiff.traces.schema import (
    BODIES_COMPARED_SINCE,
    DIGESTS_SINCE,
    SCHEMA_VERSION,
    minor_of,
    require_known_version,
)

_END_OF_TIME_MS = 253_402_300_800_000
"""The year 10000, which no calendar here can write."""


class CaseStatus(StrEnum):
    """How far a case came. Only a complete case may be judged to conform."""

    PLANNED = "planned"
    COMPLETE = "complete"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True)
class ClockAnchor:
    """One instant on both clocks: monotonic nanoseconds, and milliseconds since the epoch."""

    monotonic_ns: int
    wall_ms: int


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A margin of a check that the scenario declares: durations are equal when their ratio is within [1/ratio, ratio]."""

    check: str
    ratio: float
    reason: str


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """
    What the journal of one arm turned out to hold when it was sealed.

    client, version and capabilities are the subject's own words. unanswered: planned sends without an answer.
    done: it said that every send was answered. failure: what it said when it gave up. troubles: lines that are no
    record, or contradict the plan or an earlier line (the first few, in words); trouble_count counts all. witness: who
    saw the attempts and routes, ``client`` (a hook inside it) or ``wire`` (the recording relay, for a client without).
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


@dataclass(frozen=True, slots=True)
class Breach:
    """How a subject broke the line protocol (``protocol.died``, ``protocol.answered-twice`` …), as the runner saw it."""

    signature: str
    expected: str
    seen: str


@dataclass(frozen=True, slots=True)
class ConnectionSample:
    """
    TCP connections of one client at ``at_ns`` of the monotonic clock; they stand until the next sample of the arm.

    held: how many it holds, by server (``broker-a``, ``broker-a vip``, ``name-server-1``); a server without any is left
    out. None where nobody could see. opened: those that no earlier sample saw, by server. is_at_rest: every send has
    ended and every fault is over.
    """

    at_ns: int
    held: dict[str, int] | None
    opened: dict[str, int]
    is_at_rest: bool = False


@dataclass(frozen=True, slots=True)
class CaseEntry:
    """
    One case of the run.

    name: the whole path-shaped name; scenario_text: the scenario file as it was. origin_ns: monotonic time at which
    offset 0 of the plan was due. guards: conditions that make the case worth judging, as measured. measured: further
    numbers about the run, their unit in the name (``start_spread_ns``, ``achieved_per_s`` …). reason: why an aborted case
    was aborted. scenario_file: where it was read, as a report may say it. topics: name of each arm's topic. breaches: arms
    that broke the line protocol; a result, not an error. files: digest of each sealed table, by its path in the run.
    connections: what each client held open, sample by sample, since 1.4; empty where nobody looked. attempt_timeout_ms: how long
    an attempt of one of the clients may last, if longer than the setting, since 1.6; faults last longer for it than the scenario says.
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
    breaches: dict[Arm, Breach] = field(default_factory=dict)
    scenario_file: str = ""
    files: dict[str, str] = field(default_factory=dict)
    connections: dict[Arm, tuple[ConnectionSample, ...]] = field(default_factory=dict)
    attempt_timeout_ms: int = 0


@dataclass(frozen=True, slots=True)
class SubjectSource:
    """
    What a subject was made of.

    spec: what ``--subject`` was given. label: what the user calls it. checksums: sha256 by file name of its jars or its executable;
    empty for what is part of rocketdiff. attempt_timeout_ms: how long its attempts last, if it does not obey the setting. rules: the release
    by whose rules a program of the user's is judged as the baseline.
    """

    spec: str
    label: str = ""
    checksums: dict[str, str] = field(default_factory=dict)
    attempt_timeout_ms: int | None = None
    rules: str | None = None


@dataclass(frozen=True, slots=True)
class RunManifest:
    """
    One run: the identity of both subjects, the cluster, the machine, the seed and the cases in their order.

    subjects: ``client:release`` by arm. reproduce: the command line that repeats the run, seed included.
    shipped_ledgers: whether the run was held against the ledgers that come with rocketdiff. ended_wall_ms is None while
    the run goes on, and for ever when it was killed. left_out: (scenario, reason) of what was chosen and could not be asked of
    these subjects or of this cluster, since 1.5. sources: what the subjects were made of, since 1.6. digest: of everything else in this file, since 1.3; written by
    ``encode_manifest`` alone.
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
    digest: str = ""

    @property
    def has_digests(self) -> bool:
        """Whether its program wrote digests; without them nobody can tell whether a run was altered."""
        return minor_of(self.schema) >= DIGESTS_SINCE

    @property
    def bodies_compared(self) -> bool:
        """Whether ``body_ok`` says that a body is the planned one byte by byte; before, it may say only how it begins."""
        return minor_of(self.schema) >= BODIES_COMPARED_SINCE

    @property
    def baseline_rules(self) -> str | None:
        """The release whose rules the user gave for a baseline that has none of its own."""
        source = self.sources.get(Arm.BASELINE)
        return source.rules if source else None

    def case(self, number: int) -> CaseEntry:
        """The case with this number; TraceError when there is none."""
        for entry in self.cases:
            if entry.number == number:
                return entry
        raise TraceError(f"a case number {number} in run {self.run}", seen=f"cases {[c.number for c in self.cases]}")


def encode_manifest(manifest: RunManifest) -> bytes:
    """JSON for ``run.json``, indented for people."""
    return stamped(msgspec.json.decode(msgspec.json.encode(manifest)))


def stamped(fields: Mapping[str, object]) -> bytes:
    """``run.json`` of these fields with their digest."""
    content = msgspec.json.encode({**fields, "digest": _digest_of(fields)})
    return msgspec.json.format(content, indent=1) + b"\n"


def _digest_of(fields: Mapping[str, object]) -> str:
    """Digest of all fields but itself, those of a newer minor version too; their order and layout do not matter."""
    rest = {name: value for name, value in fields.items() if name != "digest"}
    return digest_of(msgspec.json.encode(rest, order="sorted"))


def decode_manifest(content: bytes, *, where: str) -> RunManifest:
    """Read ``run.json``; TraceError when it is no such thing or of an unknown major version."""
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
    """What no run can be, though every field is of its type."""
    if missing := [arm for arm in Arm if arm not in manifest.subjects]:
        yield f"no subject for {', '.join(missing)}"
    numbers = [entry.number for entry in manifest.cases]
    if len(set(numbers)) != len(numbers) or min(numbers, default=1) < 1:
        yield f"case numbers {numbers}"
    for wall_ms in (manifest.created_wall_ms, manifest.ended_wall_ms or 0):
        if not 0 <= wall_ms < _END_OF_TIME_MS:
            yield f"a run at {wall_ms} ms since 1970"
    for entry in manifest.cases:
        if entry.status is CaseStatus.COMPLETE and (len(entry.arms) != len(Arm) or entry.origin_ns is None):
            yield f"case {entry.number} complete without what both arms did"


def schema() -> bytes:
    """JSON Schema (2020-12) of ``run.json``; fields that a newer minor version added are allowed."""
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:rocketdiff:run:{SCHEMA_VERSION}",
    }
    return (json.dumps(head | msgspec.json.schema(RunManifest), indent=2) + "\n").encode()


if __name__ == "__main__":
    sys.stdout.buffer.write(schema())
