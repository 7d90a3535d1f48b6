"""`rocketdiff matrix` on brokers, killed during a run and called again."""

import json
from pathlib import Path

import pytest

from rocketdiff.core.errors import ExitCode
from tests.live import repeated
from tests.whole.stage import LIMIT_S, await_no_process_of, await_run, sends_are_flowing, started

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

FILE = "format: 1\nbaseline: python:5.3.3\nsubjects: ['toy:drops']\nscenarios: [round-robin/calm]\n"


def killed_and_called_again(folder: Path) -> tuple[Path, int]:
    """Measure a matrix into ``out``, killed while clients send, then again until it ends; return folder and exit code."""
    file, out = folder / "matrix.yaml", folder / "out"
    folder.mkdir()
    file.write_text(FILE)
    words = ("matrix", str(file), "--out", str(out))
    with started(folder / "first", *words) as runner:
        cut_off = await_run(out / "runs", sends_are_flowing, "both arms sending", below="*/*/run.json")
        runner.kill()
        runner.wait()
    assert await_no_process_of(out) == {}
    with started(folder / "second", *words) as runner:
        code = runner.wait(timeout=LIMIT_S)
    assert not cut_off.exists()
    return folder, code


def test_a_matrix_that_was_killed_goes_on_and_has_a_defect_in_its_cells_alone(tmp_path: Path) -> None:
    """
    Kill -9 while both clients send leaves no process; the second call repeats the run and keeps only the complete one.

    The toy reports success without sending, so only loss and attempts differ; the messages it does send equal the baseline's.
    """
    folder, code = repeated(
        lambda number: killed_and_called_again(tmp_path / str(number)),
        lambda outcome: "the matrix is undecided" if outcome[1] == ExitCode.INCONCLUSIVE else "",
    )
    second, out = folder / "second", folder / "out"
    assert code == ExitCode.DIVERGES, (second / "stderr").read_text()
    assert len(list(out.glob("runs/*/*/run.json"))) == 1
    cells = {
        cell["row"]: cell["state"] for cell in json.loads((out / "matrix.json").read_bytes())["columns"][0]["cells"]
    }
    assert {row for row, state in cells.items() if state == "differs"} == {"loss", "attempts"}
    assert {row for row, state in cells.items() if state == "same"} >= {"A1", "queue-choice", "duplication", "protocol"}
    column = json.loads((out / "matrix.json").read_bytes())["columns"][0]
    for link in (one["report"] for one in (*column["answers"], *column["differences"])):
        page, _, anchor = link.partition("#")
        assert f'id="{anchor}"' in (out / page).read_text()
    last = (second / "stdout").read_text().splitlines()[-1]
    assert last.startswith("MATRIX columns=1 measured=1 groups=1 differs=2 known=0 inconclusive=0 ")
