"""Known divergences are searched in the cases and clients of their ledger entries."""

from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.calibration.controls import CalibrationRequest, calibration_of, journal_of
from rocketdiff.calibration.sensitivity import KnownCase, known_cases, looked_for, pair_of_entry, run_known
from rocketdiff.core.answers.verdict import CheckResult, Divergence, Example, Verdict
from rocketdiff.core.answers.where import Place, at
from rocketdiff.core.errors import HarnessError, UsageError
from rocketdiff.core.run_info import Machine, RunInfo, SubjectInfo
from rocketdiff.judging.ledgers import LedgerChoice, load
from rocketdiff.run.request import RunRequest
from rocketdiff.traces.run_directory import RunDirectory

CASES = {case.name: case for case in known_cases()}
ONE = CASES["fault-latency/kill-one-of-two/java:4.7.1~java:5.3.3"]


def run_of(case: KnownCase) -> RunInfo:
    baseline, candidate = (SubjectInfo(str(one), one.client, one.release) for one in (case.baseline, case.candidate))
    machine = Machine("Linux", "x", 2, 4096, "3.11", "17")
    return RunInfo(
        "r", 1, "all", baseline, candidate, "5.3.3", "processes", "2026-11-21T21:00:00+00:00", 1, machine, (), "", ""
    )


def seen(*results: CheckResult) -> list[bool | None]:
    return [one.seen for one in looked_for(ONE, results, run_of(ONE))]


def diverging(signature: str, subject: str = "java:5.3.3") -> CheckResult:
    divergence = Divergence(signature, subject, 1, Example(at(Place.SEND, 1, 0, None), "after", "x", "y"))
    return CheckResult("c", "queue-choice", Verdict.DIVERGES, divergences=(divergence,))


def test_every_shipped_entry_about_cases_has_one() -> None:
    """Every shipped entry about cases has a case; only entries about pooled checks have none."""
    entries = [known.entry.id for case in CASES.values() for known in case.known]
    shipped = load(LedgerChoice()).entries
    assert sorted(entries) == sorted(entry.id for entry in shipped if not entry.check.startswith("pooled/"))
    assert len(entries) < len(shipped)


def test_found_means_the_declared_signature_of_the_declared_client() -> None:
    """A divergence is found only with the declared signature and client."""
    (known,) = ONE.known
    assert seen(diverging(known.entry.signatures[0])) == [True]
    assert seen(diverging("queue.something-else/first")) == [False]
    assert seen(diverging(known.entry.signatures[0], subject="java:4.7.1")) == [False]


@pytest.mark.parametrize("verdict", [Verdict.INVALID, Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE])
def test_a_check_that_was_not_decided_is_neither_found_nor_missed(verdict: Verdict) -> None:
    """An undecided check is neither found nor missed."""
    assert seen(CheckResult("c", "queue-choice", verdict)) == [None]
    assert seen() == [None]
    assert seen(CheckResult("c", "queue-choice", Verdict.CONFORMS)) == [False]


def test_a_known_case_runs_on_the_cluster_that_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A known case runs on the requested backend and servers."""
    wanted: list[RunRequest] = []

    def fetched(request: RunRequest) -> RunRequest:
        wanted.append(request)
        return request

    monkeypatch.setattr("rocketdiff.calibration.sensitivity.known_cases", lambda: (ONE,))
    monkeypatch.setattr("rocketdiff.calibration.sensitivity.fetch", fetched)
    monkeypatch.setattr("rocketdiff.run.case.staged_case.StagedCase.play", lambda _case: None)
    monkeypatch.setattr("rocketdiff.run.case_session.judge_case", lambda *_arguments: ())
    monkeypatch.setattr("rocketdiff.run.cluster_pool.ClusterPool.cluster", lambda *_arguments: None)
    request = CalibrationRequest(0, tmp_path, 7, "4.9.7", "containers:host")
    journal = journal_of(request)
    run_known(request, journal, 1, lambda _text: None)
    assert [(one.backend.name, one.backend.server_release) for one in wanted] == [("containers:host", "4.9.7")]
    (path,) = (tmp_path / "known").iterdir()
    manifest = RunDirectory.open(path).manifest
    assert manifest.backend == "containers:host"
    assert "--cluster containers:host" in manifest.reproduce
    assert calibration_of(journal).command.endswith("--server 4.9.7 --cluster containers:host")


def test_an_entry_without_a_command_cannot_be_repeated() -> None:
    """An entry without evidence does not name the two releases to run."""
    (known,) = ONE.known
    with pytest.raises(UsageError, match="two subjects"):
        pair_of_entry(replace(known.entry, evidence=None))


def test_known_cases_that_break_off_one_after_another_end_the_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After three known cases in a row that broke off, the other repetitions are not tried."""

    def breaks_off(*_arguments: object, **_more: object) -> None:
        raise HarnessError("a case", seen="none")

    monkeypatch.setattr("rocketdiff.calibration.sensitivity.known_cases", lambda: (ONE,))
    monkeypatch.setattr("rocketdiff.calibration.sensitivity.fetch", lambda request: request)
    monkeypatch.setattr("rocketdiff.run.case.staged_case.StagedCase.play", breaks_off)
    monkeypatch.setattr("rocketdiff.run.cluster_pool.ClusterPool.cluster", lambda *_arguments: None)
    journal = journal_of(CalibrationRequest(0, tmp_path, 7, "5.3.3"))
    with pytest.raises(HarnessError, match="3 in a row that broke off"):
        run_known(CalibrationRequest(0, tmp_path, 7, "5.3.3"), journal, 9, lambda _text: None)
    assert len(journal.lines) == 3
