"""Helpers of the whole-run tests: one pair on a running cluster, judged without Spark."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.resources import import_path
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.judging.judge_runs import judge_runs
from rocketdiff.ledger.model import Ledger
from rocketdiff.run.case.cast import FED_BY, Pair
from rocketdiff.run.case.staged_case import StagedCase
from rocketdiff.run.execute import plan_cases
from rocketdiff.run.manifest import manifest_of
from rocketdiff.run.request import RunRequest, Selection
from rocketdiff.subjects.registry import program_of, resolved
from rocketdiff.traces.reader import read_table
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from rocketdiff.verdict.judge import RunJudgement
from tests.analysis.judged_to_the_end import require_consistent
from tests.live import PATIENCE_S, TRIES, repeated, report_repeat

SCENARIOS = Path(__file__).parent / "scenarios"

REFERENCES = ("--subject", "python:5.3.3", "--subject", "toy:honest", "--seed", "3", "--master", "none")
"""For tests that are not about clients; these start at a fraction of the cost of a JVM."""

UNDECIDED = (ExitCode.INCONCLUSIVE, ExitCode.NOTHING_DECISIVE)

GUARDED_TRIES = 3
"""Runs of a test that needs every guard to hold: one that breaks three times in a row is not what the machine did once."""

LIMIT_S = 1_200
"""Longer than any of these runs takes; a run that exceeds it hangs."""


def decided(
    cluster: Cluster,
    folder: Path,
    baseline: str,
    candidate: str,
    scenario: str = "whole/dead-broker",
    *,
    is_all_valid: bool = False,
    **options: Any,
) -> tuple[Path, RunJudgement]:
    """
    Run a pair as ``run_pair`` does, with its options; return the run directory and its judgement.

    Up to TRIES runs while the verdict is undecided: on a busy machine guards break and clients miss the faults. is_all_valid:
    also repeat a run with an invalid check.
    """

    def played(number: int) -> tuple[Path, RunJudgement]:
        run = run_pair(cluster, folder / str(number), baseline, candidate, scenario, **options)
        cluster.heal_all()
        return run, judge(run)

    def left_open(outcome: tuple[Path, RunJudgement]) -> str:
        _, judgement = outcome
        is_spoilt = is_all_valid and any(result.verdict is Verdict.INVALID for result in judgement.results)
        return f"{scenario}: {why_undecided(judgement)}" if is_spoilt or judgement.exit_code in UNDECIDED else ""

    return repeated(played, left_open)


def why_undecided(judgement: RunJudgement) -> str:
    return "; ".join(sorted({result.reason for result in judgement.results if result.reason}))


def run_pair(
    cluster: Cluster,
    folder: Path,
    baseline: str,
    candidate: str,
    scenario: str = "whole/dead-broker",
    *,
    root: Path | None = SCENARIOS,
    is_wire_wanted: bool = False,
    meanwhile: Callable[[Path], None] | None = None,
    seed: int = 5,
) -> Path:
    """
    Run one scenario with two subjects; return the run directory.

    root: None for the shipped scenarios. meanwhile: called with the run directory in its own thread once both arms have
    answered some sends.
    """
    request = RunRequest(
        resolved(baseline),
        resolved(candidate),
        Selection(patterns=(scenario,), root=root),
        out=folder,
        seed=seed,
        is_wire_wanted=is_wire_wanted,
    )
    cases = plan_cases(request, seed)
    directory = RunDirectory.create(folder, manifest_of(request, seed, cases))
    pair = replace(Pair.of(request.baseline.program, request.candidate.program), feeder=program_of(FED_BY))
    with _once_sends_flow(folder, meanwhile):
        for number, case in enumerate(cases, start=1):
            StagedCase(lambda: cluster, directory.case(number), case, pair, (), is_wire_wanted=is_wire_wanted).play()
    directory.end(wall_ms=time.time_ns() // 1_000_000)
    return directory.path


@contextmanager
def _once_sends_flow(folder: Path, action: Callable[[Path], None] | None) -> Iterator[None]:
    """Call ``action`` with the run directory once both arms of its first case have answered some sends."""
    if action is None:
        yield
        return
    with ThreadPoolExecutor(1) as pool:
        acted = pool.submit(lambda: action(await_run(folder, sends_are_flowing, "both arms sending")))
        yield
        acted.result()


def judge(run: Path, ledger: Ledger | None = None) -> RunJudgement:
    """Judge a stored run in this process; the report must not contradict itself."""
    judged = judge_runs([run], policy=Policy(), master=WITHOUT_SPARK, ledger=ledger)
    require_consistent(judged.document)
    return judged.judgement


def broken_guards(*runs: Path) -> dict[str, str]:
    """Return what was seen by each guard that did not hold, by its name, over all cases of these runs."""
    cases = (case for run in runs for case in RunDirectory.open(run).manifest.cases)
    return {guard.name: guard.seen for case in cases for guard in case.guards if not guard.held}


def why_invalid(*runs: Path) -> str:
    """Return the broken guards as the reason to repeat these runs; empty if every guard held."""
    return "; ".join(f"{name}: {seen}" for name, seen in broken_guards(*runs).items())


def signatures(judgement: RunJudgement) -> set[str]:
    return {divergence.signature for result in judgement.results for divergence in result.divergences}


def send_ends(run: Path) -> dict[Arm, list[str]]:
    """Return the status or error of each send of the first case."""
    directory = RunDirectory.open(run)
    rows = {arm: read_table(directory, TableName.SENDS, 1, arm).to_pylist() for arm in Arm}
    return {arm: [row["status"] or row["error"] for row in reported] for arm, reported in rows.items()}


def arms_without(status: str, run: Path) -> str:
    """Name the arms of which no send was told this status, because a busy machine held them up during the fault."""
    missed = [arm for arm, reported in send_ends(run).items() if status not in reported]
    return f"no {status} for {', '.join(missed)}" if missed else ""


def conforming_run(cluster: Cluster, folder: Path, scenario: str, status: str) -> Path:
    """A run of a shipped scenario in which Java and the reference get the status and conform."""
    run, judgement = repeated(
        lambda number: decided(cluster, folder / str(number), "java:5.3.3", "python:5.3.3", scenario, root=None),
        lambda outcome: arms_without(status, outcome[0]),
    )
    assert signatures(judgement) == set()
    assert judgement.exit_code is ExitCode.CONFORMS, [result for result in judgement.results if result.reason]
    return run


def finished_run(
    folder: Path, command: str, *arguments: str, out: bool = True, tries: int = TRIES
) -> "subprocess.CompletedProcess[str]":
    """
    Run one rocketdiff command in its own process, with ``folder`` as working and output directory.

    A run with an undecided verdict is moved away and the command repeated, up to ``tries`` times.
    """
    folder.mkdir(parents=True, exist_ok=True)
    where = ("--out", ".") if out else ()
    line = [sys.executable, "-m", "rocketdiff.cli.app", command, *arguments, *where]
    for number in range(1, tries + 1):
        before = set(folder.glob("*/run.json"))
        done = subprocess.run(
            line, cwd=folder, env=_environment(), capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        made = set(folder.glob("*/run.json")) - before
        if number == tries or not made or done.returncode not in UNDECIDED:
            break
        report_repeat(f"{command}: {done.stdout.splitlines()[-1]}")
        for manifest in made:
            (folder / "undecided").mkdir(exist_ok=True)
            manifest.parent.rename(folder / "undecided" / manifest.parent.name)
    return done


def as_external(cluster: Cluster, folder: Path) -> str:
    """The value of ``--cluster`` for a command that runs cases without faults on a cluster of ours, and starts no other."""
    lines = ["format: 1", "name: shared", "topic_prefix: rocketdiff-shared", "name_servers:"]
    lines += [f"  - address: {address}" for address in cluster.name_server_addresses]
    lines += ["brokers:", *(f"  {node.letter}: {{name: {node.name}}}" for node in cluster.brokers)]
    file = folder / "cluster.yaml"
    file.write_text("\n".join(lines) + "\n")
    return f"external:{file}"


def run_of(folder: Path) -> Path:
    (manifest,) = folder.glob("*/run.json")
    return manifest.parent


def _environment() -> dict[str, str]:
    """Add this checkout to the path, because the command works in another folder."""
    return os.environ | {"PYTHONPATH": import_path()}


@contextmanager
def started_run(folder: Path, *arguments: str) -> "Iterator[subprocess.Popen[bytes]]":
    """Start ``rocketdiff run`` with the scenarios of this folder."""
    with started(folder, "run", "--out", str(folder), "--scenarios", str(SCENARIOS), *arguments) as runner:
        yield runner


@contextmanager
def started(folder: Path, *arguments: str) -> "Iterator[subprocess.Popen[bytes]]":
    """Start a command in its own process and session, with output in files of ``folder``; kill it at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    # env: a shell starts background processes with SIGINT ignored, and these tests inherit that
    command = ["env", "--default-signal=INT", sys.executable, "-m", "rocketdiff.cli.app", *arguments]
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        runner = subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True)
    try:
        yield runner
    finally:
        runner.kill()
        runner.wait()


def await_run(
    folder: Path,
    condition: Callable[[dict[str, Any], Path], bool],
    what: str,
    patience_s: float = 2 * PATIENCE_S,
    below: str = "*/run.json",
) -> Path:
    """Return the first run directory that meets the condition; AssertionError after ``patience_s``."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        for manifest in folder.glob(below):
            if condition(json.loads(manifest.read_bytes()), manifest.parent):
                return manifest.parent
        time.sleep(0.05)
    reported = (file.read_text() for file in folder.glob("stderr"))
    raise AssertionError(f"{what} within {patience_s:g} s; stderr: {' '.join(reported)}")


def sends_are_flowing(_manifest: dict[str, Any], run: Path) -> bool:
    """Both arms of the first case have answered some sends."""
    journals = [run / "journal" / f"01-{arm}.ndjson" for arm in ("baseline", "candidate")]
    return all(journal.exists() and journal.read_bytes().count(b'"type":"send"') > 10 for journal in journals)


def processes_of(run: Path) -> dict[int, str]:
    """Return live processes whose command line or output lies in the run directory."""
    return {pid: line for pid, line in _command_lines() if str(run) in line or _prints_into(run, pid)}


def _prints_into(run: Path, pid: int) -> bool:
    printed = (Path(f"/proc/{pid}/fd/{number}") for number in (1, 2))
    with suppress(OSError):
        return any(target.readlink().is_relative_to(run) for target in printed)
    return False


def await_no_process_of(run: Path) -> dict[int, str]:
    """Return the run's processes that outlive PATIENCE_S; tests expect none."""
    deadline = time.monotonic() + PATIENCE_S
    while (left := processes_of(run)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def _command_lines() -> Iterator[tuple[int, str]]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z" and int(folder.name) != os.getpid():
            yield int(folder.name), line


def subject_of(run: Path, arm: str) -> int:
    hello = (run / "journal" / f"01-{arm}.ndjson").read_bytes().splitlines()[0]
    return int(json.loads(hello)["pid"])
