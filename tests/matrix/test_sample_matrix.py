"""The samples under ``reports``: made by their commands, small, and equal in every format."""

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from rocketdiff.campaign.file_format import read
from rocketdiff.core.resources import resource
from rocketdiff.matrix import badge, html, markdown
from rocketdiff.matrix.document import CellState, MatrixDocument

FOLDERS = [resource("reports/sample-matrix"), resource("reports/sample-matrix-consumers")]
SAMPLES = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def document_in(folder: Path) -> MatrixDocument:
    return msgspec.json.decode((folder / "matrix.json").read_bytes(), type=MatrixDocument)


@SAMPLES
def test_every_format_is_made_of_the_document(folder: Path) -> None:
    """All formats equal the document; `rocketdiff matrix … --write-only --pages FOLDER` renews them."""
    document = document_in(folder)
    jsonschema.validate(
        json.loads((folder / "matrix.json").read_bytes()),
        json.loads(resource("fixtures/schema/matrix-1.json").read_bytes()),
    )
    assert (folder / "matrix.html").read_text() == html.render(document)
    assert (folder / "matrix.md").read_text() == markdown.render(document)
    assert json.loads((folder / "badge.json").read_bytes()) == badge.render(document)


@SAMPLES
def test_it_is_small_and_of_the_example(folder: Path) -> None:
    """The sample is small, and has its file's columns and a reason in every unmeasured cell."""
    document = document_in(folder)
    assert sum(path.stat().st_size for path in folder.iterdir()) < 1_000_000
    assert document.command.split()[:2] == ["rocketdiff", "matrix"]
    plan = read(resource(document.command.split()[2])).plan
    assert [column.spec for column in plan.entries] == [column.spec for column in document.columns]
    for column in document.columns:
        for cell in column.cells:
            assert cell.state is not CellState.NOT_MEASURED or cell.reason
            assert column.is_measured or cell.state is CellState.NOT_MEASURED


@SAMPLES
def test_it_names_no_place_of_a_machine(folder: Path) -> None:
    """The sample names no folder of a machine."""
    for name in ("matrix.json", "matrix.md"):
        text = (folder / name).read_text()
        assert not [word for word in ("/home/", "/root/", "/tmp/", "/work/") if word in text]
