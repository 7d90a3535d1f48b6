"""The sample under ``reports``: made by its command, small, and equal in every format."""

import json

import jsonschema
import msgspec

from rocketdiff.campaign.file_format import read
from rocketdiff.core.resources import resource
from rocketdiff.matrix import badge, html, markdown
from rocketdiff.matrix.document import CellState, MatrixDocument

FOLDER = resource("reports/sample-matrix")
DOCUMENT = msgspec.json.decode((FOLDER / "matrix.json").read_bytes(), type=MatrixDocument)


def test_every_format_is_made_of_the_document() -> None:
    """All formats equal the document; `rocketdiff matrix … --write-only --pages reports/sample-matrix` renews them."""
    jsonschema.validate(
        json.loads((FOLDER / "matrix.json").read_bytes()),
        json.loads(resource("fixtures/schema/matrix-1.json").read_bytes()),
    )
    assert (FOLDER / "matrix.html").read_text() == html.render(DOCUMENT)
    assert (FOLDER / "matrix.md").read_text() == markdown.render(DOCUMENT)
    assert json.loads((FOLDER / "badge.json").read_bytes()) == badge.render(DOCUMENT)


def test_it_is_small_and_of_the_example(tmp_path: object) -> None:
    """The sample is small, and has its file's columns and a reason in every unmeasured cell."""
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_000_000
    assert DOCUMENT.command.split()[:2] == ["rocketdiff", "matrix"]
    plan = read(resource(DOCUMENT.command.split()[2])).plan
    assert [column.spec for column in plan.entries] == [column.spec for column in DOCUMENT.columns]
    for column in DOCUMENT.columns:
        for cell in column.cells:
            assert cell.state is not CellState.NOT_MEASURED or cell.reason
            assert column.is_measured or cell.state is CellState.NOT_MEASURED


def test_it_names_no_place_of_a_machine() -> None:
    """The sample names no folder of a machine."""
    for name in ("matrix.json", "matrix.md"):
        text = (FOLDER / name).read_text()
        assert not [word for word in ("/home/", "/root/", "/tmp/", "/work/") if word in text]
