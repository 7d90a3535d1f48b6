"""Standard output of a command, produced from events alone."""

from pathlib import Path

import pytest

from rocketdiff.core.events import DryRunDescribed, ReportWritten, RunFailed, RunInterrupted
from rocketdiff.report.document import write
from rocketdiff.report.output import OutputListener
from tests.report.conftest import sample_document


def test_the_summary_is_that_of_the_stored_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The summary of a stored report is printed, with the machine line last."""
    path = write(sample_document(), tmp_path)
    OutputListener().on_event(ReportWritten((("json", path),)))
    assert capsys.readouterr().out.splitlines()[-1].startswith("VERDICT diverges ")


def test_a_run_that_broke_off_names_the_report_of_what_was_complete(capsys: pytest.CaptureFixture[str]) -> None:
    """A failed run names the report of its complete cases and ends with the error line."""
    OutputListener().on_event(RunFailed("VERDICT error run=r", (("json", Path("r/report.json")),)))
    assert capsys.readouterr().out == "the cases that were complete are judged in r/report.json\nVERDICT error run=r\n"
    OutputListener().on_event(RunFailed("VERDICT error run=r"))
    assert capsys.readouterr().out == "VERDICT error run=r\n"


def test_a_dry_run_is_printed_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A dry run is printed line by line."""
    OutputListener().on_event(DryRunDescribed(("dry run", "case 1")))
    assert capsys.readouterr().out == "dry run\ncase 1\n"


def test_an_interrupted_run_names_the_command_that_judges_it(capsys: pytest.CaptureFixture[str]) -> None:
    """After an interrupt standard error has the command that judges the completed part."""
    OutputListener().on_event(RunInterrupted(Path("reports/my run")))
    reported = capsys.readouterr()
    assert reported.err == "the completed part of the run can be judged: rocketdiff analyze 'reports/my run'\n"
    assert reported.out == ""
