"""All formats of a matrix have the same cells and escape foreign text."""

import json
import re

import jsonschema
import pytest

from rocketdiff.core.resources import resource
from rocketdiff.matrix import badge, html, markdown
from rocketdiff.matrix.document import MatrixDocument, encode, schema
from rocketdiff.matrix.view import machine_line


def test_the_published_schema_accepts_the_document(matrix: MatrixDocument) -> None:
    """The published schema is up to date and accepts the document."""
    published = resource("fixtures/schema/matrix-1.json").read_bytes()
    assert published == schema()
    jsonschema.validate(json.loads(encode(matrix)), json.loads(published))


def test_markdown_has_a_column_for_releases_that_answer_alike(matrix: MatrixDocument) -> None:
    """Releases that answer alike share a column."""
    text = markdown.render(matrix)
    assert "| | java 4.7.1, 4.9.8 | toy drops | go 2.1.2 |" in text
    assert re.search(r"\| \*\*A1\*\* takes queues in turn \| ◆ \| ✓ \| – \|", text)
    assert re.search(r"\| \*\*C4\*\* [^|]+ \| ✓ \| ✗ \| – \|", text)
    assert "go 2.1.2, quick, seed 20: expected go" in text


def test_runs_that_differ_in_their_subject_share_a_command(matrix: MatrixDocument) -> None:
    """Runs whose commands differ only in the subject are one line, which names the subjects."""
    runs = [run for column in matrix.columns for run in column.runs]
    lines = markdown.render(matrix).partition("## Runs\n\n")[2].partition("\n\n")[0].splitlines()
    assert 0 < len(lines) < len(runs)
    assert all(column.subject in "".join(lines) for column in matrix.columns if column.runs)


def test_the_badge_counts_measured_clients(matrix: MatrixDocument) -> None:
    """The badge counts measured clients, and is grey if one is missing."""
    reported = badge.render(matrix)
    assert (reported["label"], reported["color"]) == ("4 RocketMQ clients", "lightgrey")
    assert (
        reported["message"]
        == "3 of 4 measured, 1 with a difference that no ledger knows, 2 with known differences only"
    )


def test_every_link_within_the_page_leads_somewhere(matrix: MatrixDocument) -> None:
    """Every link within the page has a target, and nothing is fetched from elsewhere."""
    text = html.render(matrix)
    ids = re.findall(r'id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    targets = set(re.findall(r'href="#([^"]+)"', text))
    assert targets <= set(ids)
    assert "http://" not in text
    assert "https://" not in text


def test_text_of_others_does_nothing_but_be_read(matrix: MatrixDocument) -> None:
    """Foreign text is escaped."""
    assert "<script>alert" not in html.render(matrix)
    for text in (html.render(matrix), markdown.render(matrix)):
        assert "\x1b" not in text


def test_a_page_too_large_leaves_the_parts_of_the_clients_out(
    matrix: MatrixDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that is too large leaves out the clients' parts and refers to matrix.json."""
    whole = html.render(matrix)
    monkeypatch.setattr(html, "LIMIT_BYTES", len(whole.encode()) - 1)
    text = html.render(matrix)
    assert len(text) < len(whole)
    assert "matrix.json has them" in text


def test_the_last_line_counts_the_cells(matrix: MatrixDocument) -> None:
    """The last line counts the cells for programs."""
    line = machine_line(matrix, "out")
    assert line.startswith("MATRIX columns=4 measured=3 groups=3 differs=2 known=4 inconclusive=0 same=")
    assert line.endswith(" folder=out")
