"""A matrix makes missing runs and keeps finished ones, however it ended before. Runs are imitated."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from rocketdiff.campaign import finished_runs, measure
from rocketdiff.campaign.file_format import read
from rocketdiff.campaign.measure import CampaignRunner, CampaignState
from rocketdiff.campaign.plan import CampaignPlan
from rocketdiff.core.errors import EnvironmentMissing, ExitCode, HarnessError, TraceError, UsageError
from rocketdiff.documents import files
from rocketdiff.matrix import badge, command, html, markdown
from rocketdiff.matrix import document as matrix_document
from rocketdiff.matrix.command import document_of
from rocketdiff.matrix.document import CellState, Column, MatrixCell, MatrixDocument
from tests.campaign.imitation import Imitation, Killed, in_a_child
from tests.matrix import stories

HEAD = "format: 1\nbaseline: java:5.3.3\nscenarios: [round-robin/calm]\n"
TWO = f"{HEAD}subjects: [java:4.7.1, java:4.9.8]\n"


@pytest.fixture
def runs() -> Iterator[Imitation]:
    imitation = Imitation()
    with imitation.in_place():
        yield imitation


def made(
    tmp_path: Path, text: str = TWO, *, printed: list[str] | None = None, at_most: int | None = None
) -> CampaignState:
    plan = read(stories.write(tmp_path / "m.yaml", text)).plan
    measuring = CampaignRunner(plan, tmp_path / "out", (printed if printed is not None else list[str]()).append)
    measuring.prepare()
    return measuring.run(at_most)


def cells(measured: CampaignState, row: str) -> list[MatrixCell]:
    columns = document_of(measured, command="").columns
    return [cell for column in columns for cell in column.cells if cell.row == row]


def test_a_subject_that_is_added_costs_its_own_run_only(runs: Imitation, tmp_path: Path) -> None:
    """An added subject costs only its own run; another seed is a new run of every subject."""
    made(tmp_path)
    made(tmp_path, f"{HEAD}subjects: [java:4.9.8, java:5.0.0]\n")
    assert runs.made[2:] == [("java:5.0.0", 1)]
    made(tmp_path, f"{HEAD}subjects: [java:4.9.8]\nseeds: [2]\n")
    assert runs.made[3:] == [("java:4.9.8", 2)]


def test_time_left_is_printed_before_each_run(runs: Imitation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time left is estimated from plans, then from finished runs of the same scenarios."""
    output: list[str] = []
    monkeypatch.setattr("rocketdiff.campaign.measure.time", SimpleNamespace(monotonic=lambda: 0.0))
    made(tmp_path, printed=output)
    # The scenario sends for 2 s, and 5 s are added: two runs of 7 s each.
    assert output[0] == "run 1 of 2: java:4.7.1, round-robin/calm, seed 1; about 14 s left"
    assert output[2] == "run 2 of 2: java:4.9.8, round-robin/calm, seed 1; about 0 s left"


def test_runs_can_be_made_a_few_at_a_time(runs: Imitation, tmp_path: Path) -> None:
    """Runs can be made a few at a time."""
    measured = made(tmp_path, at_most=1)
    assert [(cell.state, cell.reason) for cell in cells(measured, "loss")] == [
        (CellState.DIFFERS, ""), (CellState.NOT_MEASURED, "not run yet"),
    ]  # fmt: skip
    assert [cell.state for cell in cells(made(tmp_path, at_most=1), "loss")] == [CellState.DIFFERS, CellState.DIFFERS]


def test_a_subject_that_cannot_be_had_is_a_column_with_the_reason(runs: Imitation, tmp_path: Path) -> None:
    """An unavailable subject is a column with the reason; a later call tries again."""
    runs.fails["java:4.7.1"] = EnvironmentMissing("go 1.21 or later", seen="none", hint="install it"), False
    first, second = cells(made(tmp_path), "loss")
    assert (first.state, first.reason) == (
        CellState.NOT_MEASURED,
        "expected go 1.21 or later; saw none; try: install it",
    )
    assert second.state is CellState.DIFFERS
    runs.fails.clear()
    assert [cell.state for cell in cells(made(tmp_path), "loss")] == [CellState.DIFFERS, CellState.DIFFERS]


def test_a_run_that_fails_does_not_end_the_matrix_and_three_in_a_row_do(runs: Imitation, tmp_path: Path) -> None:
    """One failed run is reported in its column; three in a row end the matrix."""
    broken = HarnessError("brokers", seen="dead ones")
    runs.fails["java:4.7.1"] = broken, True
    first, second = cells(made(tmp_path), "loss")
    assert (first.state, first.reason) == (CellState.NOT_MEASURED, "the run failed: expected brokers; saw dead ones")
    assert second.state is CellState.DIFFERS
    runs.fails.update({f"java:4.9.{number}": (broken, True) for number in (1, 2, 3, 4)})
    with pytest.raises(HarnessError, match="dead ones"):
        made(tmp_path, f"{HEAD}subjects: [java:4.9.1, java:4.9.2, java:4.9.3, java:4.9.4]\n")


def test_a_subject_that_cannot_be_named_is_refused_with_its_line_before_anything_runs(
    runs: Imitation, tmp_path: Path
) -> None:
    """A misspelled subject is refused with its line before anything runs."""
    with pytest.raises(UsageError, match=r"m\.yaml line 4") as raised:
        made(tmp_path, f"{HEAD}subjects: [java:4.7.1, jav:4.9.8]\n")
    assert "java:…" in str(raised.value)
    assert runs.made == []


@pytest.mark.parametrize("text", ["scenarios: [no-such/*]", "scenarios: ['[']", "cluster: clouds", "server: '9.9.9'"])
def test_an_impossible_plan_is_refused_before_anything_runs(runs: Imitation, tmp_path: Path, text: str) -> None:
    """A plan that cannot be run is a usage error before anything runs."""
    field = text.partition(":")[0]
    head = "\n".join(line for line in HEAD.splitlines() if not line.startswith(field))
    with pytest.raises(UsageError):
        made(tmp_path, f"{head}\n{text}\nsubjects: [java:4.7.1]\n")
    assert runs.made == []


def test_a_run_that_others_rules_judged_is_judged_again_from_its_traces(
    runs: Imitation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run judged by other rules is judged again once, but not made again."""
    made(tmp_path)
    monkeypatch.setattr(measure, "judging_digest", lambda: "other rules")
    output: list[str] = []
    made(tmp_path, printed=output)
    assert output[1:] == [f"judging again: java:{release}, round-robin/calm, seed 1" for release in ("4.7.1", "4.9.8")]
    made(tmp_path)
    assert len(runs.judged) == 2
    assert len(runs.made) == 2


def test_a_run_whose_traces_are_damaged_is_made_anew(
    runs: Imitation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that must be judged again but is damaged is made again."""
    made(tmp_path)

    def damaged(*_: object, **__: object) -> None:
        raise TraceError("whole tables", seen="half a one")

    monkeypatch.setattr(measure, "judging_digest", lambda: "other rules")
    monkeypatch.setattr(measure, "judge_runs", damaged)
    made(tmp_path)
    assert runs.made[2:] == [("java:4.7.1", 1), ("java:4.9.8", 1)]


def test_measured_cells_of_an_unavailable_subject_stay(
    runs: Imitation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measured cells stay when a subject is no longer available."""
    made(tmp_path)

    def gone(specs: list[str]) -> object:
        raise EnvironmentMissing("go 1.21 or later", seen="none")

    monkeypatch.setattr(measure, "pair_of", gone)
    assert [cell.state for cell in cells(made(tmp_path), "loss")] == [CellState.DIFFERS, CellState.DIFFERS]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"terms": 7}', b"\xff"])
def test_a_damaged_record_of_a_run_makes_it_anew(runs: Imitation, tmp_path: Path, content: bytes) -> None:
    """A run with a damaged ``finished.json`` is made again."""
    made(tmp_path)
    next((tmp_path / "out" / "runs").glob("java-4.7.1*/finished.json")).write_bytes(content)
    made(tmp_path)
    assert runs.made[2:] == [("java:4.7.1", 1)]


def test_two_commands_do_not_share_a_folder(tmp_path: Path) -> None:
    """Two commands cannot use a folder at once."""
    with (
        finished_runs.exclusive_lock(tmp_path),
        pytest.raises(UsageError, match="no other command is writing"),
        finished_runs.exclusive_lock(tmp_path),
    ):
        pass
    with finished_runs.exclusive_lock(tmp_path):
        pass


WRITERS = (finished_runs, matrix_document, html, markdown, badge)
"""Modules that replace files."""


def test_kill_9_at_any_moment_loses_no_finished_run_and_doubles_none(
    runs: Imitation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    A matrix killed after any step and called again loses no run and makes none twice.

    The second call makes exactly the runs without a record, and each has one directory.
    """
    # Reading the shipped ledgers takes as long as all else, and is no moment either.
    plan = read(stories.write(tmp_path / "m.yaml", f"{TWO}shipped_ledgers: false\n")).plan
    monkeypatch.setattr(html, "render", lambda _: "a page")  # rendering is no moment and takes most of the time
    moment = 0
    while not in_a_child(lambda: made_until(moment, plan, tmp_path / str(moment), runs)):  # noqa: B023 - ends before the next
        out = tmp_path / str(moment)
        recorded = len(list(out.glob("runs/*/finished.json")))
        runs.made.clear()
        assert command.make(plan, out, None, command="", print_line=list[str]().append) is ExitCode.DIVERGES
        assert len(runs.made) == 2 - recorded
        assert len(list(out.glob("runs/*/*/report.json"))) == len(list(out.glob("runs/*/*/"))) == 2
        assert (out / "matrix.html").read_text() == "a page"
        moment += 1
    # Each of two runs: four moments, one for its record, and four for the four files. The end writes the files once more.
    assert moment == 2 * (4 + 1 + 4) + 4


def made_until(moment: int, plan: CampaignPlan, out: Path, runs: Imitation) -> None:
    """Call the command, killed at a moment; it finishes if there are fewer."""
    runs.moment = Killed(moment)

    def replaced(path: Path, content: bytes) -> None:
        files.replace_file(path, content)
        runs.moment()

    for module in WRITERS:
        module.replace_file = replaced  # type: ignore[attr-defined]  # only in this process, which ends here
    command.make(plan, out, None, command="", print_line=list[str]().append)


def test_the_exit_code_follows_from_the_cells(matrix: MatrixDocument) -> None:
    """The exit code is 1 for an undeclared difference, 2 for an unmeasured client, and 0 if all is known or alike."""
    alike, _, defective, missing = (matrix.columns[number] for number in range(4))

    def code(*columns: Column) -> ExitCode:
        return command.exit_code(msgspec.structs.replace(matrix, columns=columns))

    assert code(alike, defective, missing) is ExitCode.DIVERGES
    assert code(alike, missing) is ExitCode.INCONCLUSIVE
    assert code(alike) is ExitCode.CONFORMS
