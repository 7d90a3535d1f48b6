"""Runs about consumers on disk: sealed tables of a story about two groups."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from rocketdiff.core.arm import Arm
from rocketdiff.core.run_info import Guard
from rocketdiff.traces.layout import table_file
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.sealed_file import sorted_table, write_sealed
from rocketdiff.traces.tables import TABLES
from tests.analysis.consuming.group_story import EVERY_MS, Row, Story, ns

CHECKS = ("delivered", "redelivery", "offsets", "allocation")

SCENARIO = """\
format: 1
name: consuming/pause-one-of-two
establishes: A group goes on while a broker is paused.
covers: [F8]
topology: two-masters
topic: {queues_per_broker: 1}
workload: {call: queue, threads: 2, rate_per_s: 10, duration_s: 20, body_bytes: 64}
consumers: {members: 1, listener: concurrent}
checks: [delivered, redelivery, offsets, allocation]
suites: [consumers]
"""

GUARDS = tuple(Guard(name, held=True, expected="so", seen="so", case="c") for name in ("fault-0", "read-back"))


def write_group_run(
    root: Path, story: Story, *, run: str, candidate: str = "python:5.3.3", baseline: str = "java:5.3.3", day: int = 0
) -> Path:
    """Write a complete run of one case; day: of its creation, counted from that of the story."""
    manifest = story.manifest()
    subjects = {Arm.BASELINE: baseline, Arm.CANDIDATE: candidate}
    name = f"consuming/pause-one-of-two/{baseline}~{candidate}"
    entry = replace(
        manifest.cases[0],
        name=name,
        scenario_text=SCENARIO,
        checks=CHECKS,
        guards=GUARDS[:1] * bool(story.pauses) + GUARDS[1:],
    )
    tables: dict[tuple[TableName, Arm | None], pa.Table] = {**story.trace().tables, (TableName.FED, None): _fed(story)}
    rows = {key: table.num_rows for key, table in tables.items()}
    arms = {
        arm: replace(one, calls=rows[TableName.CALLS, arm], deliveries=rows[TableName.DELIVERIES, arm])
        for arm, one in entry.arms.items()
    }
    created = replace(
        manifest,
        run=run,
        subjects=subjects,
        created_wall_ms=manifest.created_wall_ms + day * 86_400_000,
        cases=(replace(entry, arms=arms),),
    )
    directory = RunDirectory.create(root, created)
    digests = {}
    for (table, arm), content in tables.items():
        file = table_file(table, 1, arm)
        ordered = sorted_table(table, {column: content.column(column).to_pylist() for column in content.column_names})
        subject = None if arm is None else subjects[arm]
        _, digest = write_sealed(directory.path / file, ordered, run=run, name=table, case=1, arm=arm, subject=subject)
        digests[str(file)] = digest
    directory.change(1, lambda entry: replace(entry, files=digests))
    return directory.path


def _fed(story: Story) -> pa.Table:
    rows: list[Row] = [
        {
            "case": 1,
            "thread": held["send"] % 2,
            "send": held["send"],
            "due_ns": ns(held["send"] * EVERY_MS),
            "start_ns": ns(held["send"] * EVERY_MS),
            "end_ns": ns(held["send"] * EVERY_MS) + 1,
            "outcome": "ok",
            "reason": "none",
            "body_bytes": 64,
        }
        for held in story.held
    ]
    return pa.Table.from_pylist(rows, schema=TABLES[TableName.FED].schema)
