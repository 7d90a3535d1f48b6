"""Documents that name every suite."""

import re
from pathlib import Path

from rocketdiff.core.tables.suites import SUITES

ROOT = Path(__file__).parents[2]


def named(guide: str, before: str, after: str) -> list[str]:
    """Names in code type between two texts."""
    listed = (ROOT / guide).read_text().partition(before)[2].partition(after)[0]
    return re.findall("`(?:--suite )?([a-z]+)`", listed)


def test_the_readme_names_every_suite() -> None:
    """The README names every suite where tests are chosen."""
    assert set(named("README.md", "| choose what is tested |", "; `--scenario")) == {*SUITES}


def test_the_guide_to_scenarios_names_every_suite() -> None:
    """The guide to scenarios names every suite."""
    assert named("fixtures/README.md", "| `suites` |", "; left out") == [*SUITES]
