"""
``python -m maintenance.planted.many``: a driver of 1 GiB concludes and queries the facts of 100,000 runs.

The rows of one line's judged record are copied under other names, 200 runs per line (``--line``); nothing is judged. The newest runs
have no answers until `record judge` concludes them. Exit code 1 unless `record regressions` finds the line's
regressions once per line.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from maintenance.planted.__main__ import folder_of, run_command
from maintenance.planted.defects import CALM, DEFECTS
from maintenance.planted.replicas import write_all
from maintenance.planted.schedule import FIRST_NIGHT_MS, HOUR_MS, NIGHTLY, Line, Planted, Shape
from rocketdiff.record.commands import add, judge
from rocketdiff.record.conclude import concluding
from rocketdiff.record.facts import CONCLUDED_FROM
from rocketdiff.record.ingest import folders_of
from rocketdiff.record.rules import rules_now
from rocketdiff.record.storage.batch import Batch, new_batch
from rocketdiff.record.storage.files import PartWriter, RecordPlace
from rocketdiff.record.storage.store import Snapshot, commit, look, look_or_make
from rocketdiff.record.storage.tables import COLUMNS, Kept, NewFile
from rocketdiff.record.work import Here
from rocketdiff.traces.manifest import stamped

A_LINE = 200
"""Runs of two clients on one server, in eight days."""

SEEDS = 20
"""Each stands for as many consecutive runs of a line."""

A_PART = 256
"""As `record compact` leaves it."""

LINE = Line(
    "seeds",
    "time",
    "5.3.3",
    tuple((NIGHTLY, night) for night in range(SEEDS)),
    (Planted(DEFECTS[0], Shape.NEW, 7), Planted(DEFECTS[1], Shape.GONE, 12), Planted(DEFECTS[2], Shape.ALWAYS, 0)),
    (CALM,),
    is_paused=False,
)
PLANTED_A_LINE = 2

MONTH = "2026-01"

BY_KIND = {
    "add": (Kept.RUNS, Kept.CASES),
    "judge": (Kept.JUDGED, *CONCLUDED_FROM),
    "conclude": (Kept.VERDICTS, Kept.ANSWERS),
}


@dataclass(frozen=True)
class Copy:
    """A run of the large record; seed: its place in the small one."""

    number: int
    a_line: int = A_LINE

    @property
    def seed(self) -> int:
        """As many consecutive runs have the same seed."""
        return self.number % self.a_line // (self.a_line // SEEDS)

    @property
    def run(self) -> str:
        """Names sort by line."""
        return f"copy-{self.number:07}"

    @property
    def created_ms(self) -> int:
        """All in the first days of a month."""
        line, turn = divmod(self.number, self.a_line)
        return FIRST_NIGHT_MS + turn * A_LINE * HOUR_MS // self.a_line + line

    @property
    def server(self) -> str:
        """One server per line."""
        return f"5.3.3-{self.number // self.a_line:04}"


def multiplied(small: RecordPlace, large: RecordPlace, runs: int, answered: int, a_line: int) -> None:
    """Write a record of so many runs with facts, the oldest ones with answers."""
    seeds = look(small)
    rows = {table: _by_run(seeds, table) for tables in BY_KIND.values() for table in tables}
    copies = sorted((Copy(number, a_line) for number in range(runs)), key=lambda one: (one.created_ms, one.number))
    for kind, tables in BY_KIND.items():
        some = copies[:answered] if kind == "conclude" else copies
        batch = _batch(kind, len(some))
        files: list[NewFile] = []
        for at in range(0, len(some), A_PART):
            writer, part = PartWriter(large, batch.batch), some[at : at + A_PART]
            for table in tables:
                renamed = _renamed(rows[table], part, table, writer.part)
                writer.add(table, MONTH, renamed, [one.run for one in part], is_group=True)
            files += writer.close()
        commit(look_or_make(large), batch, files)


def _by_run(snapshot: Snapshot, table: Kept) -> list[pa.Table]:
    """Rows of each seed, in order."""
    rows = snapshot.rows(table, COLUMNS[table].names)
    return [rows.filter(pc.field("run") == LINE.run(number)) for number in range(SEEDS)]


def _renamed(seeds: Sequence[pa.Table], copies: Sequence[Copy], table: Kept, part: str) -> pa.Table:
    rows = pa.concat_tables([seeds[copy.seed] for copy in copies])
    owners = [copy for copy in copies for _ in range(seeds[copy.seed].num_rows)]
    own: dict[str, list[object]] = {"run": [one.run for one in owners]}
    if table is Kept.RUNS:
        own |= {
            "part": [part] * len(owners),
            "created_ms": [one.created_ms for one in owners],
            "server": [one.server for one in owners],
            "manifest": [
                _manifest(str(text), one) for text, one in zip(rows.column("manifest").to_pylist(), owners, strict=True)
            ],
        }
    columns: dict[str, Any] = {name: own.get(name, rows.column(name)) for name in rows.column_names}
    return pa.table(columns, schema=rows.schema)


def _manifest(text: str, one: Copy) -> str:
    fields = json.loads(text) | {"run": one.run, "server_release": one.server, "created_wall_ms": one.created_ms}
    return stamped(fields).decode()


def _batch(kind: str, runs: int) -> Batch:
    batch = replace(new_batch(kind), runs=runs)
    if kind == "judge":
        return replace(batch, rules=dict(rules_now()), checks=tuple(sorted(rules_now())))
    return replace(batch, scope=concluding().scope) if kind == "conclude" else batch


def main(arguments: Sequence[str] | None = None) -> int:
    """Multiply, conclude, query."""
    parser = argparse.ArgumentParser(prog="python -m maintenance.planted.many", description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000, help="a multiple of --line")
    parser.add_argument("--line", type=int, default=A_LINE, help=f"runs of a line; a multiple of {SEEDS}")
    parser.add_argument(
        "--to-conclude", type=int, default=1_000, help="the newest; each takes some hundredths of a second"
    )
    parser.add_argument(
        "--folder", type=Path, help="kept; a record that is there is gone on with (default: a temporary one)"
    )
    asked = parser.parse_args(arguments)
    with folder_of(asked.folder) as folder:
        small, large = (RecordPlace.named(str(folder / name)) for name in ("small", "large"))
        if not Path(large.url).exists():
            write_all(folder / "seeds", LINE.replicas())
            add(small, folders_of([folder / "seeds"]), Here())
            judge(small, Here(), print_line=lambda _: None)
            multiplied(small, large, asked.runs, asked.runs - asked.to_conclude, asked.line)
        record, gib = ["--record", large.url], ["--conf", "spark.driver.memory=1g"]
        run_command(None, ["record", "status", *record])
        run_command(None, ["record", "judge", *record, *gib])
        rows = {
            over: json.loads(run_command(None, ["record", "regressions", "--over", over, "--json", *record, *gib]).said)
            for over in ("time", "releases")
        }
        weeks = json.loads(run_command(None, ["record", "history", "--json", *record, *gib]).said)
    wanted = PLANTED_A_LINE * asked.runs // asked.line
    found = {over: len(some) for over, some in rows.items()}
    sys.stdout.write(
        f"PLANTED runs={asked.runs} planted={wanted} time={found['time']} releases={found['releases']} weeks={len(weeks)}\n"
    )
    return 0 if set(found.values()) == {wanted} else 1


if __name__ == "__main__":
    raise SystemExit(main())
