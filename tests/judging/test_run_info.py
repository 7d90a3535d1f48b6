"""Places in a report: scenario files, lines, and the command that explains a send."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.resources import resource
from rocketdiff.core.run_info import RunInfo
from rocketdiff.core.subject import SubjectId
from rocketdiff.judging.judging_code import judging_digest
from rocketdiff.judging.run_info import describe, file_named
from rocketdiff.report.clusters import clusters_of
from rocketdiff.report.formats import html, markdown
from rocketdiff.report.formats.summary import print_summary
from rocketdiff.report.words.signs import explain_command
from rocketdiff.run.execute import plan_cases
from rocketdiff.run.manifest import manifest_of
from rocketdiff.run.request import Selection
from rocketdiff.scenario import line_of
from rocketdiff.traces.run_directory import RunDirectory
from tests.report.conftest import sample_document
from tests.requests import asked

REQUEST = asked(
    SubjectId("java", "5.3.3"),
    SubjectId("python", "5.3.3"),
    Selection(patterns=("fault-latency/pause-one-of-two",)),
    seed=1,
)


def test_a_shipped_scenario_is_named_as_in_our_repository() -> None:
    """A shipped scenario is named by its path in our repository."""
    source = resource("fixtures/scenarios") / "round-robin" / "calm.yaml"
    assert file_named(str(source)) == "fixtures/scenarios/round-robin/calm.yaml"


def test_an_own_scenario_is_named_from_where_the_run_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An own scenario is named from the working folder, which in CI is the root of the repository."""
    monkeypatch.chdir(tmp_path)
    assert file_named("tests/a.yaml") == file_named(str(tmp_path / "tests" / "a.yaml")) == "tests/a.yaml"
    assert file_named("/elsewhere/deep/b.yaml") == "b.yaml"


def test_the_line_is_where_the_field_stands() -> None:
    """Lines count from 1; a field that is left out is on line 1."""
    assert line_of("# why\nname: a\nchecks:\n  - loss\n", "checks") == 3
    assert line_of("name: a\n", "checks") == 1


def test_a_run_has_the_places_of_its_scenarios_and_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run has the scenario file and line for alerts, and its folder for `explain`."""
    monkeypatch.chdir(tmp_path)
    run = RunDirectory.create(tmp_path / "reports", manifest_of(REQUEST, 1, plan_cases(REQUEST, 1)))
    shown = tmp_path / "fixtures/scenarios/fault-latency/pause-one-of-two.yaml"
    shown.parent.mkdir(parents=True)
    shown.touch()
    (case,) = describe([run], took_s=0.0).cases
    lines = (resource("fixtures/scenarios") / "fault-latency/pause-one-of-two.yaml").read_text().splitlines()
    assert case.scenario_file == "fixtures/scenarios/fault-latency/pause-one-of-two.yaml"
    assert lines[case.checks_line - 1].startswith("checks:")
    assert case.folder == f"reports/{run.run}"


def test_a_scenario_that_is_not_here_has_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shipped scenario in another repository has no file for an alert."""
    monkeypatch.chdir(tmp_path)
    run = RunDirectory.create(tmp_path / "reports", manifest_of(REQUEST, 1, plan_cases(REQUEST, 1)))
    (case,) = describe([run], took_s=0.0).cases
    assert case.scenario_file == ""


def test_a_run_has_its_send_modes_and_judging_digest(tmp_path: Path) -> None:
    """A run states its modes and judging code, which its report compares with measured rates."""
    own = replace(REQUEST, selection=Selection(patterns=("async/calm", "fault-latency/calm", "one-way/calm")))
    run = RunDirectory.create(tmp_path, manifest_of(own, 1, plan_cases(own, 1)))
    described = describe([run], took_s=0.0)
    assert [case.workload["mode"] for case in described.cases] == ["async", "sync", "oneway"]
    assert described.judging_source == judging_digest() != ""


def test_the_command_that_explains_names_the_run_of_its_case() -> None:
    """The `explain` command names the folder of the case's run, because several can be judged together."""
    document = sample_document()
    cases = tuple(replace(case, folder=f"reports/run-{case.number}") for case in document.run.cases)
    run: RunInfo = replace(
        document.run, cases=cases, explain="rocketdiff explain {folder} {subject} {send} --case {case}"
    )
    (cluster, *_) = clusters_of(document.results, Policy())
    number = next(case.number for case in cases if case.case == cluster.example_case)
    assert explain_command(cluster, run).startswith(f"rocketdiff explain reports/run-{number} java:5.3.3 ")


def test_a_run_can_grow_case_by_case_and_be_read_by_case(tmp_path: Path) -> None:
    """A run can grow case by case and be read by case."""
    entry = manifest_of(REQUEST, 1, plan_cases(REQUEST, 1)).cases[0]
    run = RunDirectory.create(tmp_path, manifest_of(REQUEST, 1, ()))
    for name in ("a/x", "b/x"):
        run.add(lambda number, name=name: replace(entry, number=number, name=name))  # type: ignore[misc]  # a default of a lambda
    assert [(one.number, one.name) for one in RunDirectory.open(run.path).manifest.cases] == [(1, "a/x"), (2, "b/x")]
    assert [one.name for one in run.only(2).manifest.cases] == ["b/x"]


def test_skipped_cases_are_in_the_run_and_in_every_report_for_people(tmp_path: Path) -> None:
    """Reports for people name scenarios that were left out, and each reason once."""
    left = (("to/a-queue", "no such call"), ("to/a-slave", "no slaves here"), ("to/another", "no such call"))
    run = RunDirectory.create(tmp_path, manifest_of(REQUEST, 1, plan_cases(REQUEST, 1), left))
    info = describe([RunDirectory.open(run.path)], took_s=0.0)
    assert info.left_out == left
    document = sample_document()
    reported = msgspec.structs.replace(document, run=replace(document.run, left_out=left))
    lines = ("2 scenarios, no such call: to/a-queue, to/another", "1 scenario, no slaves here: to/a-slave")
    shown = StringIO()
    print_summary(reported, Console(file=shown, width=120))
    for text in (shown.getvalue(), markdown.render(reported, markdown.SUMMARY_BYTES), html.render(reported)):
        assert all(line in text for line in lines)
        assert "Left out" in text
    assert "Left out" not in html.render(document)
