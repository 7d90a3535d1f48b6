"""The places outside the code that name every suite."""

import re
from pathlib import Path

from rocketdiff.core.tables.suites import SUITES

ROOT = Path(__file__).parents[2]


def named(guide: str, before: str, after: str) -> list[str]:
    """Names in code type between two texts of a document."""
    listed = (ROOT / guide).read_text().partition(before)[2].partition(after)[0]
    return re.findall("`(?:--suite )?([a-z]+)`", listed)


def test_the_readme_names_every_suite() -> None:
    """Where it says how to choose what is tested."""
    assert set(named("README.md", "| choose what is tested |", "; `--scenario")) == {*SUITES}


def test_the_guide_to_scenarios_names_every_suite() -> None:
    """A scenario states the suites it belongs to."""
    assert named("fixtures/README.md", "| `suites` |", "; left out") == [*SUITES]
