"""The badge states the verdict and one figure."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from rocketdiff.report.document import Document
from rocketdiff.report.formats import badge
from rocketdiff.verdict.judge import Counts, RunVerdict

COUNTS = Counts(new=3, declared=0, stale=1, inconclusive=2, checks=48)


@pytest.mark.parametrize(
    ("verdict", "message", "colour"),
    [
        ("conforms", "conforms: 48 checks", "brightgreen"),
        ("diverges", "diverges in 3 checks", "red"),
        ("stale", "stale: 1 declared divergence gone", "orange"),
        ("inconclusive", "inconclusive: 2 checks without an answer", "yellow"),
        ("invalid", "invalid: 2 checks without an answer", "lightgrey"),
        ("nothing-decisive", "nothing decisive", "lightgrey"),
        ("error", "error", "lightgrey"),
    ],
)
def test_every_verdict_has_its_words_and_colour(document: Document, verdict: str, message: str, colour: str) -> None:
    """Each verdict has its message and colour, and only ERROR is an error."""
    reported = badge.render(msgspec.structs.replace(document, verdict=RunVerdict(verdict), counts=COUNTS))
    assert (reported["message"], reported["color"]) == (message, colour)
    assert reported["isError"] is (verdict == "error")


def test_only_declared_divergences_are_a_paler_green(document: Document) -> None:
    """A run with declared divergences has a paler green and their number."""
    known = msgspec.structs.replace(document, verdict=RunVerdict.CONFORMS, counts=replace(COUNTS, declared=4))
    reported = badge.render(known)
    assert (reported["message"], reported["color"]) == ("conforms: 48 checks, 4 declared", "green")


def test_the_file_is_an_endpoint_badge(document: Document, tmp_path: Path) -> None:
    """The file has what the endpoint format requires: schema version 1, label and message."""
    reported = json.loads(badge.write(document, tmp_path).read_bytes())
    assert reported["schemaVersion"] == 1
    assert reported["label"] == "java:5.3.3 against java:4.7.1"
