"""A case that needs an unclaimed call is invalid before its first send."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.errors import ClusterError, ExitCode, UsageError
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.core.subject import SubjectId
from rocketdiff.judging.judge_runs import judge_runs
from rocketdiff.run.case.cast import Pair
from rocketdiff.run.case.staged_case import StagedCase
from rocketdiff.run.execute import plan_cases
from rocketdiff.run.manifest import manifest_of
from rocketdiff.run.request import RunRequest, Selection
from rocketdiff.subjects.program import Launch, clean_environment
from rocketdiff.subjects.registry import published, resolved
from rocketdiff.subjects.subject import Subject
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.traces.run_directory import RunDirectory
from tests.cluster.fakes import FakeCluster
from tests.live import await_that
from tests.subjects.conftest import HELLO, SCRIPT
from tests.subjects.processes import processes_with, program

ALL = tuple(HELLO["capabilities"])
FEW = ("plain", "attempts", "routes")


@dataclass(frozen=True)
class Hello:
    """A client that only says hello with its claims."""

    subject: SubjectId
    claims: tuple[str, ...]

    def launch(self, folder: Path) -> Launch:  # noqa: ARG002 - writes nothing
        client, version = self.subject.client, self.subject.release
        script = json.dumps([["say", {**HELLO, "client": client, "version": version, "capabilities": self.claims}]])
        return Launch((sys.executable, "-I", "-S", str(SCRIPT), script), clean_environment())


def recorded(
    folder: Path, candidate: Subject, scenario: str, cluster: Callable[[], Cluster] = FakeCluster
) -> RunDirectory:
    """A run of one case against a baseline that claims everything."""
    java = SubjectId("java", "5.3.3")
    request = RunRequest(published(java), candidate, Selection(patterns=(scenario,)), seed=5)
    cases = plan_cases(request, 5)
    directory = RunDirectory.create(folder, manifest_of(request, 5, cases))
    StagedCase(cluster, directory.case(1), cases[0], Pair.of(Hello(java, ALL), candidate.program), ()).play()
    directory.end(wall_ms=1)
    return directory


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """The asynchronous case with a candidate that claims only plain synchronous sends."""
    tiny = SubjectId("tiny", "0.1")
    return recorded(tmp_path, Subject(tiny, "exec:tiny", Hello(tiny, FEW), None, frozenset(ALL)), "async/calm")


def test_it_is_invalid_and_names_the_missing_claim(run: RunDirectory) -> None:
    """An unclaimed case is aborted after hello, before setup and plan; every check is invalid; the exit code is 2."""
    judgement = judge_runs([run.path], policy=Policy(), master=WITHOUT_SPARK).judgement
    assert judgement.exit_code is ExitCode.INCONCLUSIVE
    assert {result.verdict for result in judgement.results} == {Verdict.INVALID}
    reason = "tiny:0.1 cannot be asked for async sends: its hello claims plain, attempts, routes"
    assert all(reason in result.reason for result in judgement.results), judgement.results
    (case,) = run.manifest.cases
    assert case.status is CaseStatus.ABORTED
    assert not case.breaches
    assert not run.case(1).started


def test_another_version_at_the_next_start_ends_the_run(tmp_path: Path) -> None:
    """A program with another version at its next start ends the run: results would have a wrong name."""
    mark, line = f"liar-{time.monotonic_ns()}", json.dumps({**HELLO, "client": "liar", "version": "'$n'"})
    count = f"n=$(cat {tmp_path}/n 2>/dev/null || echo 0); n=$((n+1)); echo $n > {tmp_path}/n"
    driver = program(tmp_path / "driver", f"{count}; echo '{line}'; read -r line")
    with pytest.raises(UsageError, match="same name and version at every start; saw liar:1 at first, then liar:2"):
        recorded(tmp_path / "run", resolved(f"exec:{driver} {mark}"), "round-robin/calm")
    await_that(lambda: not processes_with(mark), "the liar to be gone")


def test_programs_end_when_the_cluster_does_not_start(tmp_path: Path) -> None:
    """They load while it starts."""
    mark, line = f"alone-{time.monotonic_ns()}", json.dumps({**HELLO, "client": "alone", "version": "1"})
    driver = program(tmp_path / "driver", f"echo '{line}'; read -r line")

    def cluster() -> Cluster:
        await_that(lambda: bool(processes_with(mark)), "the program")
        raise ClusterError("a broker that starts", seen="none")

    with pytest.raises(ClusterError, match="a broker that starts"):
        recorded(tmp_path / "run", resolved(f"exec:{driver} {mark}"), "round-robin/calm", cluster)
    await_that(lambda: not processes_with(mark), "the program to be gone")
    assert RunDirectory.open(next((tmp_path / "run").iterdir())).entry(1).status is CaseStatus.PLANNED
