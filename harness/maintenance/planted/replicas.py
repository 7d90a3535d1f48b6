"""
Replicas of a real run: `reports/sample` with another name, night, seed, server and candidate, sealed anew.

Every row is the sample's with a shifted wall clock; defects change the candidate's tables before sealing. So only the
oracle can find them, from the traces.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from maintenance.planted.defects import ASYNC, CALM, PAUSED, Defect, unhindered_sends
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.message import ID_PROPERTY, body_digest, padded
from rocketdiff.traces.layout import MANIFEST, table_file
from rocketdiff.traces.manifest import CaseEntry, RunManifest, encode_manifest
from rocketdiff.traces.reader import has_table, read_table
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.sealed_file import sorted_table, write_sealed
from rocketdiff.traces.tables import TABLES

SAMPLE = Path(__file__).parents[3] / "reports" / "sample"
SCENARIOS = (ASYNC, CALM, PAUSED)
"""Three of the sample's six cases; in the last one the candidate differs in every replica."""

BODY_BYTES = 128
"""The same for every message."""


@dataclass(frozen=True)
class Replica:
    """One run to write; at_ms: its time since 1970; defects: of its candidate."""

    run: str
    candidate: str
    server: str
    at_ms: int
    seed: int
    defects: tuple[Defect, ...] = ()


def write(replica: Replica, folder: Path, scenarios: Sequence[str] = SCENARIOS) -> Path:
    """Write a run like `rocketdiff run`, without journal and report."""
    sample, draw = _sample(), Random(replica.seed)
    manifest = _renamed(sample.manifest, replica)
    shift_ms = replica.at_ms - sample.manifest.created_wall_ms
    path = folder / replica.run
    entries = []
    for entry in (one for one in manifest.cases if one.scenario in scenarios):
        files = {}
        for table, arm in _tables_of(sample, entry.number):
            rows = _rows(entry.number, table, arm)
            is_read_back = table in (TableName.STORED, TableName.SCHEDULED)
            files[table, arm] = _stored_as(rows, shift_ms, sample.run, replica.run) if is_read_back else rows
        if defects := [one for one in replica.defects if one.scenario == entry.scenario]:
            _alter(files, defects, draw)
        entries.append(_sealed(path, manifest, entry, files, shift_ms))
    path.mkdir(parents=True, exist_ok=True)
    (path / MANIFEST).write_bytes(encode_manifest(replace(manifest, cases=tuple(entries))))
    return path


def write_all(folder: Path, replicas: Iterable[tuple[Replica, Sequence[str]]]) -> None:
    """Write missing replicas."""
    for replica, scenarios in replicas:
        if not (folder / replica.run / MANIFEST).exists():
            write(replica, folder, scenarios)


Files = dict[tuple[TableName, Arm | None], pa.Table]


@cache
def _sample() -> RunDirectory:
    return RunDirectory.open(SAMPLE)


@cache
def _rows(case: int, table: TableName, arm: Arm | None) -> pa.Table:
    return read_table(_sample(), table, case, arm)


def _tables_of(sample: RunDirectory, case: int) -> list[tuple[TableName, Arm | None]]:
    arms = {table: (None,) if table is TableName.FAULTS else tuple(Arm) for table in TableName}
    return [(table, arm) for table in TableName for arm in arms[table] if has_table(sample, table, case, arm)]


def _renamed(manifest: RunManifest, replica: Replica) -> RunManifest:
    """Replace the names of the run and the candidate everywhere."""
    was = manifest.subjects[Arm.CANDIDATE]
    text = msgspec.json.encode(manifest).decode().replace(manifest.run, replica.run)
    named = msgspec.json.decode(text.replace(f"~{was}", f"~{replica.candidate}"), type=RunManifest)
    return replace(
        named,
        subjects=manifest.subjects | {Arm.CANDIDATE: replica.candidate},
        server_release=replica.server,
        seed=replica.seed,
        created_wall_ms=replica.at_ms,
        ended_wall_ms=replica.at_ms + (manifest.ended_wall_ms or 0) - manifest.created_wall_ms,
        reproduce=f"make planted: a replica of {manifest.run}",
    )


def _stored_as(rows: pa.Table, shift_ms: int, was: str, run: str) -> pa.Table:
    """Adapt messages to the new name: ids, bodies made of them, and the brokers' wall clock."""
    properties = [str(text).replace(was, run) for text in rows.column("properties").to_pylist()]
    ids = [json.loads(text)[ID_PROPERTY] for text in properties]
    columns: dict[str, Any] = {name: rows.column(name) for name in rows.column_names} | {
        "store_timestamp_ms": pc.add(rows.column("store_timestamp_ms"), shift_ms),
        "born_timestamp_ms": pc.add(rows.column("born_timestamp_ms"), shift_ms),
        "properties": pa.array(properties),
        "body_digest": pa.array([body_digest(padded(one, BODY_BYTES)) for one in ids]),
    }
    return pa.table(columns, schema=rows.schema)


def _alter(files: Files, defects: Sequence[Defect], draw: Random) -> None:
    """Apply each defect to a send of its own."""
    theirs = (TableName.SENDS, TableName.ATTEMPTS, TableName.STORED)
    rows = {table: files[table, Arm.CANDIDATE].to_pylist() for table in theirs}
    for defect, struck in zip(defects, draw.sample(unhindered_sends(rows), len(defects)), strict=True):
        defect.alter(rows, struck)
    for table in theirs:
        columns = {name: [row[name] for row in rows[table]] for name in TABLES[table].schema.names}
        files[table, Arm.CANDIDATE] = sorted_table(table, columns)


def _sealed(
    path: Path,
    manifest: RunManifest,
    entry: CaseEntry,
    files: Mapping[tuple[TableName, Arm | None], pa.Table],
    shift_ms: int,
) -> CaseEntry:
    digests = {}
    for (table, arm), rows in files.items():
        file = table_file(table, entry.number, arm)
        (path / file).parent.mkdir(parents=True, exist_ok=True)
        subject = None if arm is None else manifest.subjects[arm]
        _, digests[str(file)] = write_sealed(
            path / file, rows, run=manifest.run, name=table, case=entry.number, arm=arm, subject=subject
        )
    assert entry.clock is not None, "the sample is complete"
    candidate = manifest.subjects[Arm.CANDIDATE].split(":")
    told = entry.arms | {Arm.CANDIDATE: replace(entry.arms[Arm.CANDIDATE], client=candidate[0], version=candidate[1])}
    clock = replace(entry.clock, wall_ms=entry.clock.wall_ms + shift_ms)
    return replace(entry, files=digests, clock=clock, arms=told)
