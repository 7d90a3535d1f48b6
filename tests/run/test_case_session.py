"""Cases in sequence without clients and brokers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.answers.verdict import CheckResult, Divergence, Example, Verdict
from rocketdiff.core.answers.where import Place, at
from rocketdiff.core.errors import ClusterError
from rocketdiff.core.subject import SubjectId
from rocketdiff.run.case.staged_case import StagedCase
from rocketdiff.run.case_session import CaseSession
from rocketdiff.run.execute import plan_cases, play
from rocketdiff.run.request import WITHOUT_LEDGERS, Selection
from rocketdiff.verdict.judge import RunVerdict
from tests.cluster.fakes import FakeCluster
from tests.requests import asked

REQUEST = asked(
    SubjectId("java", "5.3.3"),
    SubjectId("python", "5.3.3"),
    Selection(patterns=("round-robin/calm",)),
    judging=WITHOUT_LEDGERS,
    seed=7,
)
(CASE,) = plan_cases(REQUEST, 7)
LOST = Divergence("loss.x", "python:5.3.3", 1, Example(at(Place.SEND, 7, 0, None), "calm", "it is stored", "it is not"))


class Given:
    """A fake cluster pool that records requests."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def cluster(self, topology: str) -> Cluster:
        self.asked.append(topology)
        return FakeCluster()

    def for_case(self, topology: str) -> Cluster:
        self.asked.append(f"{topology} for a case")
        return FakeCluster()

    def close(self) -> None:
        self.asked.append("close")


Stage = Callable[..., tuple[CaseSession, Given]]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A session whose next case gets these answers or raises an error."""

    def make(*answers: CheckResult, error: Exception | None = None) -> tuple[CaseSession, Given]:
        def run_case(_: StagedCase) -> None:
            if error is not None:
                raise error

        monkeypatch.setattr(StagedCase, "play", run_case)
        monkeypatch.setattr("rocketdiff.run.case_session.judge_case", lambda *_: answers)
        clusters = Given()
        return CaseSession.begin(REQUEST, clusters, tmp_path, [CASE], suffix="-x", suite="mine"), clusters

    return make


def test_the_plan_is_written_first(stage: Stage) -> None:
    """The manifest is written first, with the caller's suffix and suite name; a case can be added later, as by pytest."""
    session, _ = stage()
    manifest = session.directory.manifest
    assert manifest.run.endswith("-00000007-x")
    assert (manifest.suite, manifest.shipped_ledgers) == ("mine", False)
    assert [entry.name for entry in manifest.cases] == ["round-robin/calm/java:5.3.3~python:5.3.3"]
    assert session.add(CASE).number == 2


def test_a_case_is_judged_as_soon_as_it_has_run(stage: Stage) -> None:
    """A case is judged directly after its run: its checks and their verdict."""
    session, _ = stage(CheckResult(str(CASE.id), "loss", Verdict.DIVERGES, divergences=(LOST,)))
    answer = session.run(1, CASE)
    assert answer.verdict is RunVerdict.DIVERGES
    assert [result.check for result in answer.results] == ["loss"]


def test_after_a_case_that_broke_off_the_next_gets_a_new_cluster(stage: Stage) -> None:
    """After a failed case the cluster is closed, because it may be the cause."""
    session, clusters = stage(error=ClusterError("a broker that lives", seen="none"))
    with pytest.raises(ClusterError):
        session.run(1, CASE)
    assert clusters.asked == ["close"]


def test_a_case_that_is_only_played_is_judged_with_all_the_others(stage: Stage) -> None:
    """A case can be played now and judged later with all others."""
    session, clusters = stage()
    session.play(1, CASE)
    session.require_cluster(CASE)
    assert clusters.asked == ["two-masters"]


@pytest.mark.parametrize(("most", "run"), [(None, [1, 2, 3]), (3, [1, 2, 3]), (2, [1, 2]), (1, [1])])
def test_no_case_runs_after_the_last_failure_allowed(stage: Stage, most: int | None, run: list[int]) -> None:
    """Those that are left are stored as not run, with the reason."""
    session, _ = stage(CheckResult(str(CASE.id), "loss", Verdict.DIVERGES, divergences=(LOST,)))
    for _ in range(2):
        session.add(CASE)
    assert list(play(session, [CASE] * 3, most)) == run
    left = [entry.reason for entry in session.directory.manifest.cases if entry.number not in run]
    assert left == [f"not run: --max-failures {most} was reached"] * (3 - len(run))
