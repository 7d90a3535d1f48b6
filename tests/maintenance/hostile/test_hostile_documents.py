"""A sample of the damaged and hostile documents of ``make fuzz-inputs``."""

from pathlib import Path

import pytest

from maintenance.hostile.__main__ import tried
from maintenance.hostile.kinds import kinds
from maintenance.hostile.reading import answer_to

SAMPLE = 120

NAMES = (
    "scenario",
    "ledger",
    "cluster file",
    "campaign file",
    "script",
    "calibration",
    "report.json",
    "run.json",
    "journal",
    "plan",
    "fault journal",
    "control cases",
    "undo log",
)


@pytest.mark.parametrize("name", NAMES)
def test_every_document_is_taken_or_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    """Every document is accepted, or refused with exit code 4 or 69 in bounded time without traceback or control characters."""
    (kind,) = [kind for kind in kinds() if kind.name == name]
    ends, wrong, _ = tried(kind, SAMPLE, 7, tmp_path)
    assert [(answer.wrong, content[:200]) for content, answer in wrong] == []
    assert ends.total() == SAMPLE


def test_no_kind_is_left_out() -> None:
    """Every kind of document is tested."""
    assert tuple(kind.name for kind in kinds()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_sound_one_is_taken(name: str, tmp_path: Path) -> None:
    """Valid documents are accepted, so damaged ones are refused for their damage."""
    (kind,) = [kind for kind in kinds() if kind.name == name]
    answers = [answer_to(kind, text.encode(), tmp_path) for text in kind.sound[:20]]
    assert {answer.end for answer in answers} == {"taken"}
