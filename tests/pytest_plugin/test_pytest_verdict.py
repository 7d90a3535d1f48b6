"""The verdict over all cases can fail a pytest session, never rescue it."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.subject import SubjectId
from rocketdiff.pytest_plugin import collection
from rocketdiff.pytest_plugin.collection import Scenarios
from rocketdiff.pytest_plugin.items import answer_text
from rocketdiff.report.words.signs import answer_sign
from rocketdiff.run.case_session import CaseAnswer
from rocketdiff.verdict.judge import judge
from tests.report.conftest import sample_document, sample_evidence, sample_run_info
from tests.requests import asked

RUN = "20261121-142233-00000007"


class KeptLines:
    """A terminal that keeps its lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def section(self, title: str) -> None:
        self.lines.append(title)

    def write_line(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture
def scenarios(tmp_path: Path) -> Scenarios:
    (tmp_path / RUN).mkdir()
    (tmp_path / RUN / "run.json").write_text("{}")
    options: dict[str, object] = {
        "rocketdiff_seed": 7,
        "rocketdiff_server": "5.3.3",
        "rocketdiff_cluster": "processes",
    }
    config: Any = SimpleNamespace(
        stash=pytest.Stash(),
        add_cleanup=lambda _close: None,
        getoption=options.get,
        invocation_params=SimpleNamespace(args=("--rocketdiff",)),
    )
    request = asked(SubjectId("java", "4.7.1"), SubjectId("java", "5.3.3"), out=tmp_path, seed=7)
    return Scenarios(config, request, RUN)


def diverging(*_: object) -> SimpleNamespace:
    document = sample_document()
    return SimpleNamespace(judgement=judge(sample_evidence(), sample_run_info()), document=document, files=())


def ended(scenarios: Scenarios, status: pytest.ExitCode) -> tuple[int, list[str]]:
    session: Any = SimpleNamespace(exitstatus=status)
    scenarios.pytest_sessionfinish(session, status)
    terminal: Any = KeptLines()
    scenarios.pytest_terminal_summary(terminal)
    return int(session.exitstatus), terminal.lines


def test_a_run_that_diverges_as_a_whole_fails_the_session(
    scenarios: Scenarios, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A divergence of the whole run fails a session whose items passed, because pools are judged last."""
    monkeypatch.setattr(collection, "judge_all", diverging)
    status, lines = ended(scenarios, pytest.ExitCode.OK)
    assert status == pytest.ExitCode.TESTS_FAILED
    assert lines[0] == "rocketdiff"
    assert lines[-1].startswith("VERDICT diverges ")


def test_a_finding_of_a_failed_item_is_only_named_at_the_end(
    scenarios: Scenarios, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A finding that a failed item has shown is only named at the end."""
    monkeypatch.setattr(collection, "judge_all", diverging)
    before = ended(scenarios, pytest.ExitCode.TESTS_FAILED)[1]
    titles = [line for line in before if re.match(r"  \d\. ", line)]
    assert any("expected " in line for line in before)
    for case in sample_document().run.cases:
        report: Any = SimpleNamespace(
            nodeid=f"conformance/x.yaml::{case.case}", rocketdiff_scenario=True, failed=True, skipped=False
        )
        scenarios.pytest_runtest_logreport(report)
    after = ended(scenarios, pytest.ExitCode.TESTS_FAILED)[1]
    assert [line for line in after if re.match(r"  \d\. ", line)] == titles
    assert not any("expected " in line for line in after)


def test_other_exit_codes_are_pytests_own(scenarios: Scenarios, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session without tests keeps its exit code."""
    monkeypatch.setattr(collection, "judge_all", diverging)
    assert ended(scenarios, pytest.ExitCode.NO_TESTS_COLLECTED)[0] == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_run_that_cannot_be_judged_fails_the_session(scenarios: Scenarios, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that cannot be judged fails the session, with error in the last line."""

    def full(*_: object) -> object:
        raise EnvironmentMissing("room on the disk", seen="none")

    monkeypatch.setattr(collection, "judge_all", full)
    status, lines = ended(scenarios, pytest.ExitCode.OK)
    assert status == pytest.ExitCode.TESTS_FAILED
    assert lines[1:] == [
        "rocketdiff: expected room on the disk; saw none",
        f"VERDICT error new=0 declared=0 stale=0 inconclusive=0 answered=0/0 checks=0 seed=7 run={RUN}",
    ]


def test_an_interrupted_session_names_the_judging_command(scenarios: Scenarios, tmp_path: Path) -> None:
    """An interrupted session states how to judge its run."""
    status, lines = ended(scenarios, pytest.ExitCode.INTERRUPTED)
    assert status == pytest.ExitCode.INTERRUPTED
    assert lines[1] == f"not judged; what there is: rocketdiff analyze {tmp_path / RUN}"


class Skipped:
    """A skipped scenario's report."""

    nodeid = "conformance/calm.yaml::ours/calm"
    rocketdiff_scenario = True
    skipped, failed = True, False
    longrepr = ("pytest_items.py", 1, "Skipped: no such topology here")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED),
        (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.TESTS_FAILED),
        (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERRUPTED),
    ],
)
def test_a_session_without_a_run_is_no_pass(
    scenarios: Scenarios, tmp_path: Path, before: pytest.ExitCode, after: pytest.ExitCode
) -> None:
    """A session without a run fails, and names what was skipped."""
    (tmp_path / RUN / "run.json").unlink()
    assert ended(scenarios, before) == (before, [])
    report: Any = Skipped()
    scenarios.pytest_runtest_logreport(report)
    status, lines = ended(scenarios, before)
    assert status == after
    assert (f"left out: {report.nodeid}: no such topology here" in lines) == (before is not pytest.ExitCode.INTERRUPTED)


def test_a_skip_beside_a_run_is_the_judges_business(scenarios: Scenarios, monkeypatch: pytest.MonkeyPatch) -> None:
    """A skip beside a run does not change the exit code."""
    judged = SimpleNamespace(judgement=SimpleNamespace(exit_code=0), document=sample_document(), files=())
    monkeypatch.setattr(collection, "judge_all", lambda *_: judged)
    report: Any = Skipped()
    scenarios.pytest_runtest_logreport(report)
    status, lines = ended(scenarios, pytest.ExitCode.OK)
    assert status == pytest.ExitCode.OK
    assert not any(line.startswith("left out") for line in lines)


def test_the_terminal_describes_an_answer_as_the_report_does() -> None:
    """The terminal describes an answer as the report does."""
    document = sample_document()
    text = answer_text(CaseAnswer(document.verdict, document.results, document.policy))
    for sign in {answer_sign(result, document.policy) for result in document.results}:
        assert f"{sign.mark} " in text
        assert sign.word in text
    assert "phase during a fault" in text
    assert "phase paused" not in text
