"""Ranges of releases and counts."""

import pytest

from rocketdiff.ledger.model import Range

SPEC = ">=4.0.0,<4.9.8 || >=5.0.0,<5.1.4"


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        (SPEC, ["4.0.0", "4.9.7", "5.0.0", "5.1.3"], ["4.9.8", "5.1.4", "4.0.0-incubating", "3.9"]),
        ("5.3.3", ["5.3.3"], ["5.3.2", "5.3.30", "5.3.3-rc1"]),
        ("==4.9", ["4.9.0", "4.9"], ["4.9.1"]),
        ("!=5.1.4", ["5.1.3", "5.2.0"], ["5.1.4"]),
        (">4.9.8 , <=5.10.0", ["4.10.0", "5.9.9", "5.10.0"], ["4.9.8", "5.10.1"]),
        (">=1", ["1", "12"], ["0"]),
        (">=0", ["0", "0.0.0"], ["drops", ""]),
        (">0", ["0.1"], ["0.0"]),
        (">=5.0.0-beta", ["5.0.0-beta", "5.0.0"], ["5.0.0-alpha"]),
        ("5.0.0-alpha", ["5.0.0-alpha"], ["5.0.0-beta"]),
        ("<5", ["4.9.8"], ["5.0.0"]),
        ("<=5", ["5.0.0"], ["5.0.1"]),
        (">=4.9,<5 || 6", ["6.0.0"], ["5.5.0"]),
    ],
)
def test_a_version_is_inside_or_outside(text: str, inside: list[str], outside: list[str]) -> None:
    """Versions are compared by numbers, closing zeros do not count, and a suffix, ordered by letters, comes before its release."""
    wanted = Range.parse(text)
    assert [version for version in (*inside, *outside) if wanted.holds(version)] == inside


@pytest.mark.parametrize("text", ["", "4.x", ">=4.0.0,", "4.0 5.0", "=>4", ">=4 ||", "~4.9"])
def test_invalid_ranges_are_refused(text: str) -> None:
    """Invalid ranges are refused, because an empty one would silently switch off an entry."""
    with pytest.raises(ValueError, match=r"."):
        Range.parse(text)
