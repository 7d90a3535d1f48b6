"""`rocketdiff matrix` on brokers."""

import json
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.errors import ExitCode
from tests.live import repeated
from tests.whole.stage import LIMIT_S, as_external, started

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

FILE = "format: 1\nbaseline: python:5.3.3\nsubjects: ['toy:drops']\nscenarios: [round-robin/calm]\n"


def measured(cluster: Cluster, folder: Path) -> tuple[Path, int]:
    """Measure a matrix into ``out``; return folder and exit code."""
    file = folder / "matrix.yaml"
    folder.mkdir()
    file.write_text(f"{FILE}cluster: {as_external(cluster, folder)}\n")
    with started(folder, "matrix", str(file), "--out", str(folder / "out")) as runner:
        code = runner.wait(timeout=LIMIT_S)
    return folder, code


def test_a_matrix_has_a_defect_in_its_cells_alone(cluster: Cluster, tmp_path: Path) -> None:
    """
    The toy reports success without sending, so only loss and attempts differ; the messages it does send equal the baseline's.

    tests/matrix/test_measure.py kills a matrix at any moment and calls it again.
    """
    folder, code = repeated(
        lambda number: measured(cluster, tmp_path / str(number)),
        lambda outcome: "the matrix is undecided" if outcome[1] == ExitCode.INCONCLUSIVE else "",
    )
    out = folder / "out"
    assert code == ExitCode.DIVERGES, (folder / "stderr").read_text()
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
    last = (folder / "stdout").read_text().splitlines()[-1]
    assert last.startswith("MATRIX columns=1 measured=1 groups=1 differs=2 known=0 inconclusive=0 ")
