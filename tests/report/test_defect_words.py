"""The sentence about defective clients, and its table in the documentation."""

from pathlib import Path

import msgspec
import pytest

from rocketdiff.core.errors import TraceError
from rocketdiff.judging import gate_rates
from rocketdiff.judging.gate_rates import shipped_defects
from rocketdiff.report.document import Document
from rocketdiff.report.words.gate_rates import defect_lines, table, trust_lines
from rocketdiff.verdict.defects_found import DefectsFound, DefectTrial, SuiteFound

TRIALS = [DefectTrial("quick", name, 1, name != "lingers") for name in ("loses", "lies", "lingers", "leaks")]
FOUND = DefectsFound("1.0.0", "0.1.0", "abc", 100, {"lies": 60, "acts": 40}, 1, (SuiteFound.of("quick", 6, 5, TRIALS),))


def test_a_divergence_is_one_sentence() -> None:
    """One sentence has the bank's size, the seeds, the opportunities and the names of missed defects."""
    (output,) = defect_lines(FOUND)
    assert output == (
        "Of a bank of 100 defective clients of 2 kinds, each with 1 seed, suite quick finds 3 of the 4 that have an opportunity"
        " in the 5 of its 6 scenarios that are played in virtual time (not always: lingers)"
    )


def test_without_figures_the_section_is_empty(document: Document) -> None:
    """Without figures there is no sentence; with figures it is the last line."""
    without = trust_lines(msgspec.structs.replace(document, defects=None))
    assert defect_lines(None) == ()
    assert trust_lines(msgspec.structs.replace(document, defects=FOUND)) == (*without, *defect_lines(FOUND))


def test_the_table_has_a_row_a_suite() -> None:
    """The table has one row per suite; 3 of 4 is 19.4 % to 99.4 % by Clopper and Pearson."""
    assert table(FOUND).splitlines()[2:] == ["| quick | 5 of 6 | 4 | 3 | 3 of 4 (75.0%) | 19.4% to 99.4% | lingers |"]


def test_the_documentation_shows_the_figures_that_ship() -> None:
    """reports/README.md has the shipped figures of `make sensitivity`."""
    shipped = shipped_defects()
    assert shipped is not None
    readme = Path(__file__).parents[2] / "reports" / "README.md"
    assert table(shipped) in readme.read_text(encoding="utf-8")


def test_unreadable_figures_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unreadable figures raise an error that names `make sensitivity`."""
    file = tmp_path / "sensitivity.json"
    file.write_text("{}", encoding="utf-8")
    monkeypatch.setattr(gate_rates, "resource", lambda _: file)
    with pytest.raises(TraceError, match="make sensitivity"):
        shipped_defects()
