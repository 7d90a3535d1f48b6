"""`rocketdiff ledger` and the options that choose ledgers."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from rocketdiff.cli.app import guarded
from rocketdiff.core.errors import ExitCode
from rocketdiff.judging.ledger_upkeep import prune, trace_digest
from rocketdiff.judging.ledgers import LedgerChoice, load, read
from rocketdiff.ledger.apply import apply_ledger
from rocketdiff.report.document import load as load_document
from rocketdiff.report.document import write
from rocketdiff.run.manifest import manifest_of
from rocketdiff.run.request import Judging, Selection, command_line
from rocketdiff.traces.run_directory import RunDirectory
from tests.judging.test_ledgers import SAMPLE, own
from tests.requests import asked
from tests.run.test_run import JAVA, PYTHON


def judged_again(folder: Path, ledger: Path) -> Path:
    """The sample run with another ledger applied."""
    document = load_document(SAMPLE)
    applied = apply_ledger(
        load(LedgerChoice((ledger,), shipped=False)), document.results, document.run, document.policy
    )
    write(msgspec.structs.replace(document, results=applied.results, ledger=applied.outcomes), folder)
    return folder


def test_the_shipped_ledgers_pass_lint(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a file `lint` checks the shipped ledgers; they pass."""
    assert guarded(["ledger", "lint", "--json"]) == ExitCode.CONFORMS
    found = json.loads(capsys.readouterr().out)
    assert all(finding["level"] == "warning" for finding in found)
    rare = [finding["said"] for finding in found if "no single run can find it stale" in finding["said"]]
    assert any(output.startswith("budget-is-per-attempt-with-ten-retries: ") for output in rare), (
        "its rate begins at 0.01"
    )


def test_lint_names_every_file_with_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`lint` checks every file, also after an unreadable one, and exits with 4."""
    broken, lost = own(tmp_path, "broken.yaml", id="a b"), own(tmp_path, "lost.yaml", check="no/where")
    assert guarded(["ledger", "lint", str(broken), str(lost)]) == ExitCode.USAGE
    output = capsys.readouterr().out.splitlines()
    assert output[0].startswith("error: broken.yaml: expected an id of letters")
    assert output[1] == "error: lost.yaml line 3: own: no scenario has a check no/where"
    assert output[-1] == "2 ledgers, 2 errors, 0 warnings"


def test_lint_reports_every_wrong_entry_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`lint` reports every wrong entry of a file."""
    one, two = own(tmp_path, "one.yaml", id="a b"), own(tmp_path, "two.yaml", check="calm/validity")
    entry = two.read_text().partition("entries:\n")[2]
    one.write_text(one.read_text() + entry)
    assert guarded(["ledger", "lint", str(one)]) == ExitCode.USAGE
    output = capsys.readouterr().out.splitlines()
    assert output[0].startswith("error: one.yaml: expected an id of letters, digits, dots and hyphens at entries[0].id")
    assert output[1].startswith("error: one.yaml: expected a check about the clients at entries[1].check")
    assert output[-1] == "1 ledger, 2 errors, 0 warnings"


def test_propose_writes_a_new_file_that_lint_accepts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`propose` writes entries for the sample's six diverging checks that `lint` accepts, and overwrites no file."""
    out = tmp_path / "proposed.yaml"
    assert guarded(["ledger", "propose", "--from", str(SAMPLE), "--out", str(out)]) == ExitCode.CONFORMS
    entries = read(out).entries
    assert (len(entries), all(entry.proposed for entry in entries)) == (6, True)
    assert guarded(["ledger", "lint", str(out)]) == ExitCode.CONFORMS
    assert "1 ledger, 0 errors, 6 warnings" in capsys.readouterr().out
    assert guarded(["ledger", "propose", "--from", str(SAMPLE), "--out", str(out)]) == ExitCode.USAGE
    assert guarded(["ledger", "propose", "--from", str(SAMPLE)]) == ExitCode.CONFORMS
    assert capsys.readouterr().out == out.read_text()


def test_lint_accepts_what_propose_writes_of_a_check_that_was_not_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`lint` accepts proposed checks that the scenario did not plan."""
    document = load_document(SAMPLE)
    unplanned = [replace(one, check="content") for one in document.results if one.check == "queue-choice"]
    write(msgspec.structs.replace(document, results=tuple(unplanned)), tmp_path)
    out = tmp_path / "proposed.yaml"
    assert guarded(["ledger", "propose", "--from", str(tmp_path), "--out", str(out)]) == ExitCode.CONFORMS
    assert {entry.check.rpartition("/")[2] for entry in read(out).entries} == {"content"}
    assert guarded(["ledger", "lint", str(out)]) == ExitCode.CONFORMS
    out.write_text(out.read_text().replace("/content", "/contant"))
    assert guarded(["ledger", "lint", str(out)]) == ExitCode.USAGE
    assert "no scenario has a check" in capsys.readouterr().out


def test_prune_removes_what_is_gone_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`prune` removes an entry that is stale everywhere."""
    gone = own(tmp_path, check="fault-latency/*/attempts")
    before, run = gone.read_text(), judged_again(tmp_path / "run", gone)
    assert guarded(["ledger", "prune", str(gone), "--from", str(run), "--dry-run"]) == ExitCode.CONFORMS
    assert gone.read_text() == before
    assert guarded(["ledger", "prune", str(gone), "--from", str(run)]) == ExitCode.CONFORMS
    assert gone.read_text() == 'schemaVersion: "1.0"\nentries: []\n'
    assert guarded(["ledger", "prune", str(gone), "--from", str(run)]) == ExitCode.CONFORMS
    reported = capsys.readouterr().out.splitlines()
    assert reported == [f"{gone}: would remove own", f"{gone}: removed own", f"{gone}: nothing is stale"]


def test_prune_keeps_what_still_occurs_somewhere(tmp_path: Path) -> None:
    """`prune` keeps an entry that occurs in two of three cases."""
    partly = own(tmp_path, check="fault-latency/*/queue-choice")
    run = judged_again(tmp_path / "run", partly)
    (pruned,) = prune([run], [partly], dry_run=False)
    assert (pruned.removed, pruned.kept) == ((), ("own",))
    assert len(read(partly).entries) == 1


@pytest.mark.parametrize("command", [["run"], ["compare", "java:4.7.1", "java:5.3.3"]])
def test_a_bad_ledger_is_refused_before_anything_is_started(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong ledger is refused before a broker starts."""
    monkeypatch.chdir(tmp_path)
    bad = own(tmp_path, id="a b")
    assert guarded([*command, "--ledger", str(bad), "--scenario", "round-robin/calm"]) == ExitCode.USAGE
    assert "an id of letters" in capsys.readouterr().err
    assert not list(tmp_path.glob("reports/*"))


@pytest.mark.parametrize(
    ("options", "shipped", "count"), [([], True, None), (["--no-ledger"], True, 0), ([], False, 0)]
)
def test_analyze_applies_the_shipped_ledgers_unless_refused(
    options: list[str], *, shipped: bool, count: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`analyze` applies the shipped ledgers, unless `--no-ledger` was given now or to the run."""
    run = manifest_of(asked(JAVA, PYTHON, judging=Judging(ledgers=LedgerChoice(shipped=shipped))), 1, [])
    stored = RunDirectory.create(tmp_path, run).path
    seen = {}

    def judge_runs(*_: object, **given: object) -> SimpleNamespace:
        seen.update(given)
        return SimpleNamespace(judgement=SimpleNamespace(exit_code=ExitCode.CONFORMS))

    monkeypatch.setattr("rocketdiff.judging.judge_runs.judge_runs", judge_runs)
    assert guarded(["analyze", str(stored), *options]) == ExitCode.CONFORMS
    expected = len(load(LedgerChoice()).entries) if count is None else count
    assert len(seen["ledger"].entries) == expected  # type: ignore[attr-defined]  # a Ledger


def test_the_command_that_repeats_a_run_names_its_ledgers() -> None:
    """The command that repeats a run names its ledgers, which decide the verdict."""
    own = Judging(ledgers=LedgerChoice((Path("my own.yaml"),), shipped=False))
    request = asked(JAVA, PYTHON, Selection("quick"), judging=own)
    assert command_line(request, 1).endswith("--seed 1 --ledger 'my own.yaml' --no-ledger")
    assert "ledger" not in command_line(replace(request, judging=Judging()), 1)


def test_the_command_that_repeats_a_run_asks_for_the_wire_again() -> None:
    """The command that repeats a run with relays has `--wire`."""
    request = asked(JAVA, PYTHON, Selection("quick"), is_wire_wanted=True)
    assert command_line(request, 1).endswith("--seed 1 --wire")


def test_the_digest_of_a_runs_tables_does_not_depend_on_where_it_lies(tmp_path: Path) -> None:
    """The digest of a run's tables depends on all their bytes, not on the folder."""
    for place in ("here", "there"):
        (tmp_path / place / "sends").mkdir(parents=True)
        (tmp_path / place / "sends" / "01-baseline.parquet").write_bytes(b"rows")
    here, there = trace_digest(tmp_path / "here"), trace_digest(tmp_path / "there")
    assert (here == there, here.startswith("sha256:"), len(here)) == (True, True, 71)
    (tmp_path / "there" / "sends" / "01-baseline.parquet").write_bytes(b"Rows")
    assert trace_digest(tmp_path / "there") != here
    assert trace_digest(tmp_path) == ""
