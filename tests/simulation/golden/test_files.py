"""Golden data on disk."""

from pathlib import Path

import pytest

from rocketdiff.core.errors import HarnessError
from rocketdiff.simulation.golden.files import golden_text, grouped, read_golden, read_manifest, write_golden

LINES = ('{"script": "s", "step": 0, "select": {"broker": "ä", "queue_id": 1}}', '{"script": "s", "step": 1}')


def test_equal_answers_are_one_group() -> None:
    """Equal answers are one group, ordered by first release."""
    golden = grouped("s", {"4.7.1": LINES, "4.8.0": LINES[:1], "4.9.0": LINES})
    assert [group.releases for group in golden.groups] == [("4.7.1", "4.9.0"), ("4.8.0",)]
    found = golden.of("4.9.0")
    assert found is not None
    assert found.lines == LINES
    assert golden.of("5.0.0") is None


def test_written_and_read_again_it_is_the_same(tmp_path: Path) -> None:
    """Golden data are read back unchanged, one answer per line; files without a script are removed."""
    (tmp_path / "gone.json").write_text("{}")
    golden = grouped("s", {"4.7.1": LINES, "4.8.0": LINES[:1]})
    write_golden(tmp_path, [golden], {"format": 1})
    assert read_golden(tmp_path) == {"s": golden}
    assert read_manifest(tmp_path) == {"format": 1}
    assert f"    {LINES[0]}," in (tmp_path / "s.json").read_text("utf-8").splitlines()
    assert not (tmp_path / "gone.json").exists()


def test_a_line_that_would_not_come_back_is_refused() -> None:
    """A line that JSON would not reproduce is refused: spacing is part of the answer."""
    with pytest.raises(HarnessError, match=r"json\.dumps"):
        golden_text(grouped("s", {"4.7.1": ('{"script":"s"}',)}))


def test_without_a_manifest_nothing_is_known(tmp_path: Path) -> None:
    """Without a first generation the manifest is empty."""
    assert read_manifest(tmp_path) == {}
