"""Lines for programs: blanks stand only between their parts."""

import pytest

from rocketdiff.core.text.machine_line import machine_line


@pytest.mark.parametrize(
    ("words", "values", "line"),
    [
        (("DIFF",), {"new": 0, "before": "a"}, "DIFF new=0 before=a"),
        (("VERDICT", "CONFORMS"), {"answered": "1/2"}, "VERDICT CONFORMS answered=1/2"),
        (("RECORD",), {"left-behind": 3}, "RECORD left-behind=3"),
        (("DIFF",), {"less often": 1}, "DIFF less-often=1"),
        (("CAMPAIGN",), {"folder": "my runs/\tcampaign\n"}, "CAMPAIGN folder=my_runs/_campaign"),
        (("VERDICT",), {"seed": None, "run": " "}, "VERDICT seed=- run=-"),
        (("FUZZ", "clean"), {}, "FUZZ clean"),
    ],
)
def test_a_line_has_blanks_between_its_parts_only(words: tuple[str, ...], values: dict[str, object], line: str) -> None:
    """A program may split a line at blanks and each part at its first ``=``."""
    assert machine_line(*words, **values) == line
