"""A calibration's journal loses and mixes nothing; the shipped file is consistent."""

from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.calibration.controls import calibration_of, line_now
from rocketdiff.calibration.journal import JOURNAL, CalibrationJournal, JournalHeader, begin_anew, plan_digest
from rocketdiff.core.answers.verdict import Severity, Verdict
from rocketdiff.core.errors import TraceError, UsageError
from rocketdiff.core.run_info import Machine
from rocketdiff.judging.gate_rates import decode, encode, shipped, source_digest
from rocketdiff.judging.judging_code import judging_digest
from rocketdiff.verdict.calibration import Calibration, Rate
from rocketdiff.verdict.gate_rate_tally import ControlOutcome, TalliedAnswer

HEADER = JournalHeader(7, "5.3.3", "processes", "0.1.0", Machine("Linux", "x", 2, 4096, "3.11", "17"))
QUIET = ControlOutcome(1, "control/a", "java:5.3.3", (TalliedAnswer("loss", Verdict.CONFORMS, Severity.MUST),))


def begun(folder: Path, *numbers: int) -> CalibrationJournal:
    journal = CalibrationJournal.open(folder, HEADER)
    for number in numbers:
        journal.add(line_now(4.0, Path("runs/0001"), case=replace(QUIET, number=number)))
    return journal


def test_another_process_continues_a_journal(tmp_path: Path) -> None:
    """Another process continues a journal with all its cases."""
    begun(tmp_path, 1, 2)
    again = begun(tmp_path, 3)
    assert [case.number for case in again.cases] == [1, 2, 3]
    assert calibration_of(again).controls.alarms_per_case == Rate.of(0, 3)


def test_a_line_that_was_cut_off_is_run_again(tmp_path: Path) -> None:
    """A kill in the middle of a write costs one case."""
    begun(tmp_path, 1, 2)
    path = tmp_path / JOURNAL
    path.write_bytes(path.read_bytes()[:-20])
    assert [case.number for case in begun(tmp_path).cases] == [1]
    assert [case.number for case in begun(tmp_path, 2).cases] == [1, 2]


def test_a_damaged_line_in_the_middle_is_refused(tmp_path: Path) -> None:
    """A damaged line in the middle is refused, because a case would be lost silently."""
    begun(tmp_path, 1, 2)
    path = tmp_path / JOURNAL
    header, first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(header + first[:-20] + b"\n" + second)
    with pytest.raises(TraceError, match="line 2"):
        begun(tmp_path)


@pytest.mark.parametrize("other", [replace(HEADER, seed=8), replace(HEADER, server_release="4.9.8")])
def test_two_ways_of_drawing_cases_are_not_one_measurement(tmp_path: Path, other: JournalHeader) -> None:
    """A journal of another seed or server is refused."""
    begun(tmp_path, 1)
    with pytest.raises(UsageError, match="--fresh"):
        CalibrationJournal.open(tmp_path, other)


def on(machine: Machine) -> JournalHeader:
    return replace(HEADER, machine=machine)


@pytest.mark.parametrize("other", [replace(HEADER.machine, processor="y"), replace(HEADER.machine, cores=64)])
def test_a_measurement_does_not_go_on_on_another_machine(tmp_path: Path, other: Machine) -> None:
    """A calibration cannot continue on another machine, because its file names one."""
    begun(tmp_path, 1)
    before = (tmp_path / JOURNAL).read_bytes()
    with pytest.raises(
        UsageError, match=r"the machine x, 2 cores, with which the calibration in .* was begun"
    ) as refused:
        CalibrationJournal.open(tmp_path, on(other))
    assert f"{other.processor}, {other.cores} cores" in str(refused.value)
    assert (tmp_path / JOURNAL).read_bytes() == before


def test_a_machine_with_a_newer_kernel_is_the_same_machine(tmp_path: Path) -> None:
    """An update or restart does not make another machine."""
    begun(tmp_path, 1)
    updated = Machine("Linux 7", "x", 2, 4000, "3.11.9", "17.0.2")
    assert len(CalibrationJournal.open(tmp_path, on(updated)).cases) == 1


def test_the_digest_of_the_program_is_of_its_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest of the program changes with any source, and is empty without sources."""
    monkeypatch.setattr("rocketdiff.judging.gate_rates.locate", lambda path: tmp_path / path)
    assert source_digest() == ""
    for folder, name in (("harness/rocketdiff/report", "a.py"), ("reference_impl/rocketmq_reference/rules", "b.java")):
        before = source_digest()
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / name).write_text("1\n")
        assert source_digest() != before


def test_file_names_each_judging_program(tmp_path: Path) -> None:
    """The file names each judging program once; older lines have an unknown one."""
    journal = begun(tmp_path, 1, 2)
    journal.add(replace(line_now(4.0, Path("runs/0001"), case=replace(QUIET, number=3)), judging_source=""))
    assert calibration_of(journal).judging_sources == (judging_digest(), "")


def test_both_digests_of_a_changed_program_are_listed(tmp_path: Path) -> None:
    """If the program changes during a calibration, both source digests are listed."""
    journal = begun(tmp_path, 1)
    journal.add(replace(line_now(4.0, Path("runs/0001"), case=replace(QUIET, number=2)), source="0123456789ab"))
    assert calibration_of(journal).sources == (source_digest(), "0123456789ab")


def test_a_stored_calibration_is_read_back_as_it_was(tmp_path: Path) -> None:
    """A stored calibration is read back equal."""
    calibration = calibration_of(begun(tmp_path, 1))
    assert decode(encode(calibration), where="here") == calibration
    with pytest.raises(TraceError, match="schema_version 2"):
        decode(encode(replace(calibration, schema_version="2.0.0")), where="here")


def rates_of(calibration: Calibration) -> list[Rate]:
    controls = calibration.controls
    found = [controls.alarms_per_case, controls.alarms_per_run, *(row.alarms for row in controls.checks)]
    found += [row.alarms for row in controls.subjects]
    found += [row.alarms for row in controls.modes] + [row.alarms for row in controls.clients]
    return found + [row.seen for row in calibration.sensitivity]


def test_the_shipped_figures_are_those_of_their_counts() -> None:
    """The shipped limits follow from their counts, no case is missing, and every alarm is listed."""
    calibration = shipped()
    assert calibration is not None
    assert all(rate == Rate.of(rate.seen, rate.n) for rate in rates_of(calibration))
    controls = calibration.controls
    assert sum(row.alarms.n for row in controls.subjects) == controls.alarms_per_case.n <= controls.cases
    assert sum(row.alarms.seen for row in controls.subjects) == controls.alarms_per_case.seen
    assert sum(row.alarms.seen for row in controls.checks) == len(controls.alarms)
    assert sum(row.alarms.n for row in controls.modes) == controls.alarms_per_case.n
    assert sum(row.alarms.n for row in controls.clients) == controls.alarms_per_case.n
    # Without them no report can state that the judging code has changed.
    assert len(calibration.judging_sources) == 1 and all(calibration.judging_sources)


def test_only_a_calibration_is_thrown_away(tmp_path: Path) -> None:
    """``--fresh`` deletes only a folder that holds nothing but a calibration."""
    begin_anew(tmp_path / "none")
    begin_anew(tmp_path)
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="made, for --fresh deletes all of"):
        begin_anew(tmp_path)
    (tmp_path / JOURNAL).write_text('{"a": 1}\n')
    with pytest.raises(UsageError, match="of one there"):
        begin_anew(tmp_path)
    assert (tmp_path / "thesis.txt").exists()
    (tmp_path / JOURNAL).unlink()
    begun(tmp_path, 1)
    begin_anew(tmp_path)
    assert not tmp_path.exists()


def test_cases_drawn_otherwise_are_another_measurement(tmp_path: Path) -> None:
    """Cases drawn in another way are another measurement."""
    begun(tmp_path, 1)
    with pytest.raises(UsageError, match="control cases as drawn by the program"):
        CalibrationJournal.open(tmp_path, replace(HEADER, plan=plan_digest()))
