"""Differences of two runs, restricted to checks that both answered."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rocketdiff.cli.app import guarded
from rocketdiff.core.answers.verdict import CheckResult, Divergence, Severity, Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.report.document import Document, write
from rocketdiff.report.run_difference import Change, ScenarioCheck, briefly, difference_of, render

PLACE = "retries/none"


@pytest.fixture
def calm(document: Document) -> Document:
    return with_results(document, (answer(document),))


def answer(document: Document, **changes: Any) -> CheckResult:
    pair = f"{document.run.baseline.subject}~{document.run.candidate.subject}"
    given = CheckResult(f"{PLACE}/{pair}", "loss", Verdict.CONFORMS)
    return replace(given, **changes)


def with_results(document: Document, results: Sequence[CheckResult]) -> Document:
    return msgspec.structs.replace(document, results=tuple(results))


def lossy(document: Document, **changes: Any) -> CheckResult:
    some = next(d for result in document.results for d in result.divergences)
    lost = Divergence("loss.acknowledged-not-stored", document.run.candidate.subject, 3, some.example)
    return answer(document, **({"verdict": Verdict.DIVERGES, "divergences": (lost,)} | changes))


def changes_of(before: Document, after: Document) -> list[Change]:
    return [row.change for row in difference_of(before, after).rows]


def test_a_run_compared_with_itself_has_nothing_new(document: Document) -> None:
    """A run compared with itself has only unchanged rows."""
    difference = difference_of(document, document)
    assert {row.change for row in difference.rows} == {Change.UNCHANGED}
    assert difference.exit_code is ExitCode.CONFORMS


def test_a_divergence_that_the_earlier_run_did_not_show_is_new(document: Document, calm: Document) -> None:
    """A divergence in a check that the earlier run answered without it is new and fails."""
    difference = difference_of(calm, with_results(document, (lossy(document),)))
    assert [(row.change, row.key.arm, row.key.question) for row in difference.rows] == [
        (Change.NEW, "candidate", ScenarioCheck(PLACE, "loss"))
    ]
    assert difference.exit_code is ExitCode.DIVERGES


def test_a_divergence_that_the_later_run_does_not_show_is_gone(document: Document, calm: Document) -> None:
    """A divergence that the later run no longer shows is gone and fails nothing."""
    difference = difference_of(with_results(document, (lossy(document),)), calm)
    assert [row.change for row in difference.rows] == [Change.GONE]
    assert difference.exit_code is ExitCode.CONFORMS


@pytest.mark.parametrize("verdict", [Verdict.INCONCLUSIVE, Verdict.INVALID, Verdict.NOT_APPLICABLE])
def test_a_question_that_lost_its_answer_is_neither_gone_nor_passed(document: Document, verdict: Verdict) -> None:
    """A check without an answer in the later run is inconclusive: a failed pause is no fix."""
    after = with_results(document, (answer(document, verdict=verdict),))
    difference = difference_of(with_results(document, (lossy(document),)), after)
    assert [row.change for row in difference.rows] == [Change.NOT_COMPARED]
    assert difference.unanswered == (ScenarioCheck(PLACE, "loss"),)
    assert difference.exit_code is ExitCode.INCONCLUSIVE


def test_a_check_that_was_not_in_the_earlier_run_is_not_new(document: Document) -> None:
    """A divergence in a check new to the later run may have existed before and is not new."""
    assert changes_of(with_results(document, ()), with_results(document, (lossy(document),))) == [Change.NOT_COMPARED]


def test_other_versions_of_the_clients_are_compared(document: Document, calm: Document) -> None:
    """Arms are compared by role, so a later release can be compared with an earlier one."""
    run = replace(document.run, candidate=replace(document.run.candidate, subject="java:5.5.0", version="5.5.0"))
    later = msgspec.structs.replace(document, run=run)
    assert changes_of(calm, with_results(later, (lossy(later),))) == [Change.NEW]


def test_a_declared_or_ungated_divergence_fails_nothing(document: Document, calm: Document) -> None:
    """A divergence that is declared or does not gate is listed but fails nothing."""
    declared = with_results(document, (lossy(document, verdict=Verdict.DECLARED),))
    minor = with_results(document, (lossy(document, severity=Severity.INFO),))
    for after in (declared, minor):
        lines, code = render((calm, after))
        assert code is ExitCode.CONFORMS
        assert any("loss.acknowledged-not-stored" in line and "does not gate" in line for line in lines)


def test_a_rate_has_changed_only_beyond_luck(document: Document) -> None:
    """Of eight cases, one to all has p = 0.0014 and is no change; of ten, p = 0.0001 is one."""

    def judged(showing: int, cases: int) -> Document:
        return with_results(document, [lossy(document)] * showing + [answer(document)] * (cases - showing))

    assert changes_of(judged(1, 8), judged(8, 8)) == [Change.UNCHANGED]
    assert changes_of(judged(1, 10), judged(10, 10)) == [Change.MORE_OFTEN]
    assert changes_of(judged(10, 10), judged(1, 10)) == [Change.LESS_OFTEN]


def test_a_comment_begins_with_the_new_ones(document: Document, calm: Document, tmp_path: Path) -> None:
    """Counts in one line, then what gates and is new; a report without a divergence says so."""
    after = with_results(document, (lossy(document),))
    count, first = briefly(calm, after)
    assert count == f"**Since {calm.run.run}**: 1 new."
    assert first.startswith("* A message that java:")
    assert "acknowledged is stored nowhere: `loss.acknowledged-not-stored` in " in first
    assert briefly(calm, calm) == (f"**Since {calm.run.run}**: no divergence, as then.",)
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, each in ((old, calm), (new, after)):
        folder.mkdir()
        write(each, folder)
    assert guarded(["report", str(new), "--since", str(old)]) == ExitCode.CONFORMS
    assert (new / "comment.md").read_text().startswith(f"{count}\n{first}\n\n## ")


def test_a_client_against_itself_keeps_its_arms_apart(document: Document) -> None:
    """In a run of a client against itself a ``rules/`` signature is the baseline's."""
    run = replace(document.run, candidate=document.run.baseline)
    same = msgspec.structs.replace(document, run=run)
    shown = lossy(same).divergences[0]
    both = (shown, replace(shown, signature="rules/loss.acknowledged-not-stored"))
    after = with_results(same, (lossy(same, divergences=both),))
    assert sorted(row.key.arm for row in difference_of(after, after).rows) == ["baseline", "candidate"]


def test_the_command_prints_and_ends_with_the_code(
    document: Document, calm: Document, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The diff command takes run directories or documents and exits with the differences' code."""
    for name, each in (("old", calm), ("new", with_results(document, (lossy(document),)))):
        (tmp_path / name).mkdir()
        write(each, tmp_path / name)
    assert guarded(["diff", str(tmp_path / "old"), str(tmp_path / "new" / "report.json")]) == ExitCode.DIVERGES
    reported = capsys.readouterr().out
    assert "## New" in reported
    assert reported.splitlines()[-1].startswith(
        "DIFF new=1 more-often=0 less-often=0 gone=0 not-compared=0 unchanged=0 unanswered=0 "
    )
