"""Ledger files as runs use them, and the shipped ones."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from rocketdiff.core.answers.verdict import CheckResult, Verdict
from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.fault import fault_counts
from rocketdiff.judging.ledgers import POOLED, LedgerChoice, admitted, known_checks, load, read, shipped_files
from rocketdiff.ledger.apply import apply_ledger
from rocketdiff.ledger.lint import lint
from rocketdiff.ledger.matching import check_path
from rocketdiff.report.document import Document
from rocketdiff.report.document import load as load_document
from rocketdiff.scenario import load_all
from rocketdiff.scenario.checks_asked import REPORTED_UNPLANNED
from rocketdiff.subjects.registry import known_subjects

OWN = """\
schemaVersion: "1.0"
entries:
  - id: {id}
    check: {check}
    when: {{client: java}}
    arm_at_fault: java
    signature: queue.out-of-turn/first
    reason: Something that we know about and live with.
    ref: example/example#1
    evidence: {{seed: 1}}
    added: 2026-11-21
    owner: me
"""
SAMPLE = Path(__file__).parents[2] / "reports" / "sample" / "report.json"


def own(folder: Path, name: str = "own.yaml", **fields: str) -> Path:
    path = folder / name
    path.write_text(OWN.format(**({"id": "own", "check": "fault-latency/**"} | fields)))
    return path


def test_the_shipped_ledgers_are_without_fault_on_the_day_they_were_last_looked_at() -> None:
    """Every shipped entry can match, and has an owner, known releases, a confirming run with its trace, and a reference."""
    files = [read(path) for path in shipped_files()]
    entries = [entry for file in files for entry in file.entries]
    assert {path.name for path in shipped_files()} >= {"java.yaml", "python.yaml"}
    day = max(entry.added for entry in entries) + timedelta(days=1)
    known = admitted(entries, load_all())
    findings = lint(files, known, known_subjects(), day, allow_growth=False)
    rare = {entry.place for entry in entries if entry.rate is not None}
    assert [one for one in findings if not (one.place in rare and "no single run can find it stale" in one.said)] == []
    assert all(entry.evidence and entry.evidence.trace and entry.evidence.run for entry in entries)
    assert all(file.ratchet == len(file.entries) for file in files)


def test_the_shipped_ledger_is_read_unless_it_is_left_out() -> None:
    """The shipped ledger is loaded by default, so that known divergences do not fail a run."""
    assert len(load(LedgerChoice()).entries) >= 12
    assert load(LedgerChoice(shipped=False)).entries == ()


def test_a_file_of_the_users_is_read_besides(tmp_path: Path) -> None:
    """A user's entries state file name and line, not a local path."""
    ledger = load(LedgerChoice((own(tmp_path),), shipped=False))
    assert [entry.place for entry in ledger.entries] == ["own.yaml line 3"]
    assert len(load(LedgerChoice((own(tmp_path),))).entries) == len(load(LedgerChoice()).entries) + 1


def test_an_id_in_two_files_is_refused(tmp_path: Path) -> None:
    """An id in two files is refused, because it would be ambiguous."""
    files = own(tmp_path), own(tmp_path, "other.yaml")
    with pytest.raises(UsageError, match=r"own stands at own.yaml line 3; saw it again at other.yaml line 3"):
        load(LedgerChoice(files, shipped=False))


def test_an_entry_that_no_scenario_can_match_is_refused_before_a_run(tmp_path: Path) -> None:
    """An entry that no scenario can match is refused."""
    choice = LedgerChoice((own(tmp_path, check="my-own/pause/loss"),), shipped=False)
    with pytest.raises(UsageError, match=r"own.yaml line 3.*no scenario has a check my-own/pause/loss"):
        load(choice)
    mine = replace(load_all()[0], name="my-own/pause", checks=("loss",))
    assert len(load(choice, [mine]).entries) == 1


@pytest.mark.parametrize("check", REPORTED_UNPLANNED)
def test_an_entry_for_a_check_that_its_scenario_did_not_plan_is_taken(tmp_path: Path, check: str) -> None:
    """An entry for an unplanned check is accepted, because such a check may report a difference, which gates."""
    assert len(load(LedgerChoice((own(tmp_path, check=f"round-robin/calm/{check}"),), shipped=False)).entries) == 1


@pytest.mark.parametrize("check", ["contents", "timing", "failover-time"])
def test_an_entry_for_a_check_without_an_answer_there_is_refused(tmp_path: Path, check: str) -> None:
    """A misspelled check, or a duration that the scenario does not measure, is refused."""
    with pytest.raises(UsageError, match=f"no scenario has a check round-robin/calm/{check}"):
        load(LedgerChoice((own(tmp_path, check=f"round-robin/calm/{check}"),), shipped=False))


def test_an_unplanned_check_needs_the_entrys_conditions_too(tmp_path: Path) -> None:
    """An entry for an unplanned check must meet its conditions too."""
    path = own(tmp_path, check="round-robin/calm/content")
    paused = "{client: java, fault: {paused_brokers: '>=1'}}"
    path.write_text(path.read_text().replace("{client: java}", paused))
    with pytest.raises(UsageError, match="meets the conditions on fault, settings and consumer"):
        load(LedgerChoice((path,), shipped=False))


def test_unplanned_checks_are_not_counted(tmp_path: Path) -> None:
    """Unplanned checks are answered only if they differ, so they do not count for rates."""
    scenarios = load_all()
    entries = read(own(tmp_path, check="round-robin/**")).entries
    assert admitted(entries, scenarios) == known_checks(scenarios)


def test_a_refused_file_is_named_with_its_line(tmp_path: Path) -> None:
    """A refused file is named with its path and line."""
    path = own(tmp_path, id="with blank")
    with pytest.raises(UsageError) as refused:
        read(path)
    assert f"an id of letters, digits, dots and hyphens at entries[0].id ({path} line 3)" in str(refused.value)


@pytest.mark.parametrize(("text", "message"), [(None, "No such file"), ("a: [", "YAML in"), ("", "saw nothing")])
def test_a_file_that_is_no_ledger_is_one_message(tmp_path: Path, text: str | None, message: str) -> None:
    """A missing, an invalid and an empty file each give one message."""
    path = tmp_path / "bad.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=message):
        read(path)


def sample() -> Document:
    """The sample run with the fault counts that an old document lacks."""
    document = load_document(SAMPLE)
    faults = {scenario.name: fault_counts(scenario.faults) for scenario in load_all()}
    cases = tuple(replace(case, fault_counts=faults[case.case.rpartition("/")[0]]) for case in document.run.cases)
    return msgspec.structs.replace(document, run=replace(document.run, cases=cases))


def undeclared(document: Document) -> Iterator[CheckResult]:
    applied = apply_ledger(load(LedgerChoice()), document.results, document.run, document.policy)
    yield from (result for result in applied.results if result.verdict in (Verdict.DIVERGES, Verdict.STALE))


def test_the_shipped_ledger_declares_all_that_the_sample_run_showed() -> None:
    """The shipped ledger declares all six diverging checks of the sample (java:4.7.1 against java:5.3.3); nothing is stale."""
    document = sample()
    assert sum(result.verdict is Verdict.DIVERGES for result in document.results) == 6
    assert list(undeclared(document)) == []


def test_every_pooled_check_of_a_run_is_a_known_one() -> None:
    """
    Every pooled check of the sample run is known.

    The analysis names them. Sends are pooled only if at least 11 differ between the arms, which is not so in the sample.
    """
    document = load_document(SAMPLE)
    paths = {check_path(result.case, result.check, document.run) for result in document.results}
    assert {path for path in paths if path.startswith("pooled/")} == {
        path for path in POOLED if path.startswith(("pooled/pause/fault-latency", "pooled/starts/"))
    }
