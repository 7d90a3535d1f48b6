"""
``make planted``: `record regressions` must find exactly 80 planted regressions in 2,000 replicas of a real run.

Exit code 1 otherwise. Each command is a user's; its time and its processes' peak memory are printed.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path

from maintenance.planted.measured import Measured, run
from maintenance.planted.replicas import write_all
from maintenance.planted.schedule import SERVERS, Line, expected, schedule
from tests.record.spark.standalone import Standalone, standalone

ROOT = Path(__file__).parents[3]

ORDERS = ("time", "releases")

ON_LOOPBACK = ("--conf", "spark.executor.memory=512m", "--conf", "spark.driver.memory=1g")
"""For the standalone cluster of two workers, one core and 1 GiB each."""

CHECK = "loss"
"""The check that ``--again`` changes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the runs, add and judge them, compare the regressions."""
    parser = argparse.ArgumentParser(prog="python -m maintenance.planted", description=__doc__)
    parser.add_argument("--servers", type=int, default=len(SERVERS), help="two lines of runs each")
    parser.add_argument("--nights", type=int, default=50, help="runs of a line; a multiple of 5")
    parser.add_argument(
        "--folder", type=Path, help="kept; a record that is there is gone on with (default: a temporary one)"
    )
    parser.add_argument(
        "--standalone", action="store_true", help="judge and ask on a Spark master with two workers on loopback"
    )
    parser.add_argument("--again", action="store_true", help=f"then change the check {CHECK}, and judge again")
    asked = parser.parse_args(arguments)
    lines = schedule(SERVERS[: asked.servers], asked.nights)
    with folder_of(asked.folder) as folder:
        name = "record-standalone" if asked.standalone else "record"
        runs, record = folder / "runs", ["--record", str(folder / name)]
        _made(lines, runs)
        with standalone(folder / "cluster", workers=2) if asked.standalone else nullcontext() as cluster:
            run_it = partial(run_command, cluster)
            run_it(["record", "add", str(runs), *record])
            run_it(["record", "judge", *record])
            run_it(["record", "status", *record], spark=False)
            wrong = [sentence for over in ORDERS for sentence in _compared(lines, over, run_it, record)]
            if asked.again:
                run_it(["record", "judge", *record], import_path=_changed(folder / "changed"))
    for sentence in wrong:
        sys.stdout.write(f"{sentence}\n")
    sys.stdout.write(
        f"PLANTED {'wrong' if wrong else 'found'} runs={sum(len(line.runs) for line in lines)} wrong={len(wrong)}\n"
    )
    return 1 if wrong else 0


def _made(lines: Sequence[Line], folder: Path) -> None:
    """Write missing runs with two processes."""
    with ProcessPoolExecutor(2) as pool:
        for number, _ in enumerate(pool.map(partial(_write, folder), lines), start=1):
            sys.stderr.write(f"made {number} of {len(lines)} lines\n")


def _write(folder: Path, line: Line) -> None:
    write_all(folder, line.replicas())


def run_command(
    cluster: Standalone | None, words: Sequence[str], *, spark: bool = True, import_path: str = ""
) -> Measured:
    conf = ["--master", cluster.master, *ON_LOOPBACK] if cluster is not None and spark else []
    beside = [worker.pid for worker in cluster.workers] if cluster is not None else []
    measured = run([*words, *conf], beside=beside, import_path=import_path)
    sys.stdout.write(f"{' '.join(words[:4]):<40} {measured.line}   {_last(measured.said)}\n")
    sys.stdout.flush()
    return measured


def _last(output: str) -> str:
    """The machine line."""
    return next((line for line in reversed(output.splitlines()) if line.startswith("RECORD")), "")


def _compared(
    lines: Sequence[Line], over: str, run_it: Callable[..., Measured], record: Sequence[str]
) -> Iterator[str]:
    """Missing and unplanned regressions."""
    output = run_it(["record", "regressions", "--over", over, "--json", *record]).said
    wanted = {tuple(asdict(one).items()) for one in expected(lines, over)}
    names = [name for name, _ in next(iter(wanted))]
    found = [tuple((name, row[name]) for name in names) for row in json.loads(output)]
    sys.stdout.write(
        f"  over {over}: planted {len(wanted)}, found {len(wanted & set(found))}, others {len([one for one in found if one not in wanted])}\n"
    )
    yield from (f"missing over {over}: {dict(one)}" for one in sorted(wanted - set(found)))
    yield from (f"not planted, over {over}: {dict(one)}" for one in found if one not in wanted)


def _changed(folder: Path) -> str:
    """Copy this program, change one check's file, and return the import path."""
    for name in ("harness", "reference_impl", "fixtures"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    with (folder / "harness/rocketdiff/analysis/sending/checks/storage" / f"{CHECK}.py").open("a") as source:
        source.write("\n# changed\n")
    return f"{folder / 'harness'}:{folder / 'reference_impl'}"


@contextmanager
def folder_of(named: Path | None) -> Iterator[Path]:
    if named is not None:
        named.mkdir(parents=True, exist_ok=True)
        yield named.absolute()
        return
    with tempfile.TemporaryDirectory(prefix="rocketdiff-planted-") as folder:
        yield Path(folder)


if __name__ == "__main__":
    raise SystemExit(main())
