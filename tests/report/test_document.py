"""The stored document: lossless, versioned, and refused when this reader would misread it."""

import json
from pathlib import Path

import jsonschema
import pytest

from rocketdiff.core.errors import ExitCode, TraceError
from rocketdiff.report.document import SCHEMA_VERSION, Document, decode, encode, load, write

COMMITTED = Path(__file__).parents[2] / "fixtures" / "schema" / "report-1.json"


def test_a_document_comes_back_as_it_was_written(document: Document, tmp_path: Path) -> None:
    """A document read by file or by folder equals the written one."""
    path = write(document, tmp_path)
    assert load(path) == document
    assert load(tmp_path) == document


def test_a_document_is_accepted_by_the_committed_schema(document: Document) -> None:
    """A written document satisfies the committed schema."""
    jsonschema.validate(json.loads(encode(document)), json.loads(COMMITTED.read_bytes()))


def test_the_schema_version_is_the_first_key(document: Document) -> None:
    """The schema version is the first key, under its published name."""
    assert encode(document).startswith(b'{"schemaVersion":"%s"' % SCHEMA_VERSION.encode())


def test_fields_of_a_newer_minor_version_are_ignored(document: Document) -> None:
    """Unknown fields of a newer minor version are ignored."""
    raw = json.loads(encode(document)) | {"schemaVersion": "1.9.0", "mood": "calm"}
    read = decode(json.dumps(raw).encode(), where="x")
    assert read.results == document.results


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "Input data was truncated"),
        (b'{"schemaVersion": "1.0.0"', "truncated"),
        (b'{"schemaVersion": "1.0.0"}', "missing required field"),
        (b"[]", "schemaVersion; saw none"),
        (b"{}", "schemaVersion; saw none"),
        (b'{"schemaVersion": 1}', "saw 1"),
        (b'{"schemaVersion": "2.0.0"}', "saw version 2.0.0; try: read it with a newer rocketdiff"),
        (b'{"schemaVersion": "0.9.0"}', "saw version 0.9.0; try: judge the run again"),
        (b"\xff\xfe", "malformed"),
    ],
)
def test_a_foreign_report_is_refused_in_one_sentence(content: bytes, message: str) -> None:
    """An unreadable report is refused in one sentence that names it, with exit code 4."""
    with pytest.raises(TraceError) as refused:
        decode(content, where="report.json")
    assert message in str(refused.value)
    assert "report.json" in str(refused.value)
    assert refused.value.exit_code is ExitCode.USAGE


def test_a_wrong_value_is_named_with_its_place(document: Document) -> None:
    """A wrong value is reported with its path in the document."""
    raw = json.loads(encode(document))
    raw["results"][3]["verdict"] = "PERHAPS"
    with pytest.raises(TraceError, match=r"PERHAPS.*\$\.results\[3\]\.verdict|results\[\.\.\.\]\.verdict"):
        decode(json.dumps(raw).encode(), where="report.json")


def test_a_folder_without_a_report_differs_from_a_broken_one(tmp_path: Path) -> None:
    """A folder without a report gets the hint to run ``rocketdiff analyze``."""
    with pytest.raises(TraceError, match=r"No such file.*rocketdiff analyze"):
        load(tmp_path)
