"""
Benchmark of cluster start, sends per second of each client, and cost of the driver.

The clients alternate by round, because machines are noisy: ratios within a run are comparable, figures of two runs are
not.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.start import start_cluster
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind
from rocketdiff.core.subject import REFERENCE, STANDARD, SubjectId
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.protocol.commands import SubjectSetup, encode_go, encode_plan, encode_setup
from rocketdiff.protocol.records import decode_record
from rocketdiff.subjects.kinds.java import BARE_LOOP_CLASS, java_launch
from rocketdiff.subjects.program import Launch
from rocketdiff.subjects.registry import program_of

BODY_BYTES = 128
BARE_TIMEOUT_S = 300
SUITE_TIMEOUT_S = 900
TAIL_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class Round:
    """One round of all clients, in sends per second of one thread."""

    bare_per_s: float
    driver_per_s: float
    reference_per_s: float

    @property
    def driver_cost(self) -> float:
        """Share of the bare loop's rate that the driver costs. Negative values are noise."""
        return 1 - self.driver_per_s / self.bare_per_s

    @property
    def reference_ratio(self) -> float:
        """Rate of the Python reference divided by that of the Java client, both behind drivers."""
        return self.reference_per_s / self.driver_per_s


def bench(
    release: str, server_release: str, sends: int, rounds: int, *, with_verdict: bool, as_json: bool
) -> dict[str, Any]:
    """Measure and print the figures, or (as_json) only return them."""
    for client in (STANDARD, REFERENCE):
        program_of(SubjectId(client, release))
    with TemporaryDirectory(prefix="rocketdiff-bench-") as name:
        folder = Path(name)
        began = time.monotonic()
        with start_cluster(topology="two-masters", server_release=server_release, folder=folder / "cluster") as cluster:
            ready_s = time.monotonic() - began
            measured = [_round(cluster, release, sends, folder, number) for number in range(rounds)]
        verdict_s = _seconds_to_verdict(release, server_release, folder) if with_verdict else None
    if as_json:
        return {
            "cluster_ready_s": ready_s,
            "rounds": [asdict(round_) for round_ in measured],
            "quick_suite_s": verdict_s,
        }
    Console(emoji=False).print(f"cluster of one name server and two brokers ready in {ready_s:.1f} s")
    Console(emoji=False).print(_table(release, sends, measured))
    if verdict_s is not None:
        Console(emoji=False).print(f"from `rocketdiff run` (suite quick) to its verdict: {verdict_s:.0f} s")
    return {}


def _seconds_to_verdict(release: str, server_release: str, folder: Path) -> float:
    """Seconds of a quick suite in a separate process with warm caches (jars, driver and classes)."""
    command = [sys.executable, "-m", "rocketdiff.cli.app", "run", "--suite", "quick", "--out", str(folder / "reports")]
    command += ["--subject", f"{STANDARD}:{release}", "--subject", f"{REFERENCE}:{release}", "--server", server_release]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=SUITE_TIMEOUT_S, check=False)
    if "VERDICT" not in done.stdout:
        raise HarnessError("a quick suite to reach a verdict", seen=f"exit {done.returncode}: {done.stderr[-400:]}")
    return time.monotonic() - began


def _round(cluster: Cluster, release: str, sends: int, folder: Path, number: int) -> Round:
    """Each client once, in an order that changes with the round."""
    kinds: list[tuple[str, Callable[[str], float]]] = [
        ("bare", lambda topic: _bare(cluster, release, sends, topic, folder)),
        (STANDARD, lambda topic: _driven(cluster, SubjectId(STANDARD, release), sends, topic, folder / topic)),
        (REFERENCE, lambda topic: _driven(cluster, SubjectId(REFERENCE, release), sends, topic, folder / topic)),
    ]
    turn = number % len(kinds)
    rates = {}
    for kind, measure in kinds[turn:] + kinds[:turn]:
        topic = f"bench-{number}-{kind}"
        for name in (topic, f"{topic}-warm"):
            cluster.create_topic(name, 4)
        rates[kind] = measure(topic)
    return Round(rates["bare"], rates[STANDARD], rates[REFERENCE])


def _bare(cluster: Cluster, release: str, sends: int, topic: str, folder: Path) -> float:
    servers = ";".join(cluster.name_server_addresses)
    arguments = (servers, topic, f"group-{topic}", str(sends), str(sends // 4), str(BODY_BYTES))
    launch = java_launch(BARE_LOOP_CLASS, release, folder, *arguments)
    done = subprocess.run(
        launch.command, env=launch.environment, capture_output=True, text=True, timeout=BARE_TIMEOUT_S, check=False
    )
    if done.returncode:
        raise HarnessError("the bare loop to finish", seen=f"exit {done.returncode}: {done.stderr[-400:]}")
    return float(json.loads(done.stdout)["sends_per_s"])


def _driven(cluster: Cluster, subject: SubjectId, sends: int, topic: str, folder: Path) -> float:
    """Rate of a subject behind the line protocol, after a warm-up as long as the bare loop's."""
    warm_up = sends // 4
    plan = Plan(0, 1, tuple(PlannedSend(n, 0, 0, SendKind.PLAIN, 0, BODY_BYTES) for n in range(warm_up + sends)))
    setup = SubjectSetup(
        cluster.name_server_addresses, topic, f"{topic}-warm", f"group-{topic}", "bench", ClientSettings()
    )
    records = _records(program_of(subject).launch(folder.resolve()), plan, setup, folder)[warm_up:]
    return len(records) * 1e9 / (records[-1].end_ns - records[0].start_ns)


def _records(launch: Launch, plan: Plan, setup: SubjectSetup, folder: Path) -> list[Send]:
    """
    Run a subject whose output goes to a file, and read the file afterwards.

    Reading during the run would use part of the two cores and count as the driver's cost.
    """
    folder.mkdir(parents=True, exist_ok=True)
    output = folder / "records.ndjson"
    with output.open("wb") as out, (folder / "stderr.log").open("wb") as err:
        subject = subprocess.Popen(
            launch.command, env=launch.environment, stdin=subprocess.PIPE, stdout=out, stderr=err
        )
        try:
            assert subject.stdin is not None, "asked for above"
            subject.stdin.write(b"".join([*encode_plan(plan), encode_setup(setup, plan.threads)]))
            subject.stdin.flush()
            _await_line(output, b'"type":"ready"')
            subject.stdin.write(encode_go(time.monotonic_ns()))
            subject.stdin.flush()
            _await_line(output, b'"type":"done"')
        finally:
            subject.kill()
            subject.communicate()
    records = [decode_record(line).record for line in output.read_bytes().splitlines()]
    return [record for record in records if isinstance(record, Send)]


def _await_line(output: Path, marker: bytes) -> None:
    """Polling costs almost nothing."""
    deadline = time.monotonic() + BARE_TIMEOUT_S
    while time.monotonic() < deadline:
        with output.open("rb") as file:
            file.seek(max(0, output.stat().st_size - TAIL_BYTES))
            if marker in file.read():
                return
        time.sleep(0.1)
    raise HarnessError(f"{marker.decode()} from a subject within {BARE_TIMEOUT_S} s", seen="nothing of the kind")


def _table(release: str, sends: int, rounds: Sequence[Round]) -> Table:
    table = Table(title=f"{sends} sends of {BODY_BYTES} bytes, one thread, release {release}, sends a second")
    for column in ("round", "java, bare loop", "java, our driver", "python reference", "driver takes", "python ÷ java"):
        table.add_column(column, justify="right")
    for number, round_ in enumerate(rounds, start=1):
        table.add_row(str(number), *_cells(round_))
    if len(rounds) > 1:
        table.add_section()
        table.add_row("median", *_cells(_medians(rounds)), style="bold")
    return table


def _cells(one: Round) -> tuple[str, ...]:
    rates = (f"{rate:,.0f}" for rate in (one.bare_per_s, one.driver_per_s, one.reference_per_s))
    return (*rates, f"{one.driver_cost:.1%}", f"{one.reference_ratio:.2f}")


def _medians(rounds: Sequence[Round]) -> Round:
    return Round(
        median(round_.bare_per_s for round_ in rounds),
        median(round_.driver_per_s for round_ in rounds),
        median(round_.reference_per_s for round_ in rounds),
    )
