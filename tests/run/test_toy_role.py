"""A new role is rows in tables and its own files: it is run, sealed and judged without an edit elsewhere."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from rocketdiff.analysis.run_analysis import analyze_here
from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.subject import SubjectId
from rocketdiff.judging.run_info import describe
from rocketdiff.run.case.cast import Pair
from rocketdiff.run.case.staged_case import StagedCase
from rocketdiff.run.execute import plan_cases
from rocketdiff.run.manifest import manifest_of
from rocketdiff.run.request import RunRequest, Selection
from rocketdiff.subjects.registry import published
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judge import judge
from tests.cluster.fakes import FakeCluster
from tests.run.toy_role import TOY, ToyScenario, register


def test_a_role_that_receives_nothing_conforms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own check and those of every role are asked, no other, and the case conforms."""
    register(monkeypatch)
    healed = SimpleNamespace(stop=lambda: None, join=lambda: SimpleNamespace(problems=()))
    monkeypatch.setattr("rocketdiff.run.case.case_run.ScheduleThread", lambda *_: healed)  # nothing answers its probes
    java = published(SubjectId("java", "5.3.3"))
    request = RunRequest(java, java, Selection(patterns=("round-robin/calm",)), seed=5)
    (planned,) = plan_cases(request, 5)
    case = replace(planned, scenario=ToyScenario.of(planned.scenario))
    run = RunDirectory.create(tmp_path, manifest_of(request, 5, [case]))
    StagedCase(FakeCluster, run.case(1), case, Pair({}), ()).play()
    entry = run.entry(1)
    assert (entry.role, entry.status, entry.checks) == (
        TOY,
        CaseStatus.COMPLETE,
        ("silence", "resources", "protocol", "validity"),
    )
    judgement = judge(analyze_here(run).evidence, describe([run], took_s=0.0))
    verdicts = {result.check: result.verdict for result in judgement.results}
    assert verdicts.pop("resources") is Verdict.NOT_APPLICABLE  # no process was sampled
    assert verdicts == dict.fromkeys(("silence", "protocol", "validity"), Verdict.CONFORMS)
    assert judgement.exit_code is ExitCode.CONFORMS
