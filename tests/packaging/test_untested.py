"""The end of our own tests' output."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SETTINGS = f"""
[pytest]
pythonpath = {ROOT}
addopts = -p no:cacheprovider
markers =
    container: c
    cluster: c
"""

SKIPPING = """
import pytest

@pytest.mark.cluster
@pytest.mark.container
@pytest.mark.parametrize("turn", range(3))
def test_in_containers(turn):
    pytest.skip("no engine")

def test_other():
    pytest.skip("too old")

@pytest.mark.xfail(strict=True)
def test_known():
    assert False
"""

REPEATING = """
def test_repeats(record_property):
    record_property("repeated because the machine was busy", "whole/dead-broker: 300 ms late")
"""


def ending(pytester: pytest.Pytester, text: str, *arguments: str) -> list[str]:
    pytester.makeini(SETTINGS)
    pytester.makeconftest("pytest_plugins = ['tests.untested']")
    pytester.makepyfile(text)
    lines = pytester.runpytest_inprocess(*arguments).stdout.lines
    begin = next(number for number, line in enumerate(lines) if "skipped, and untested for that" in line)
    return [line for line in lines[begin + 1 : -1] if line]


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "workers"])
def test_what_a_skip_leaves_untested_is_told(pytester: pytest.Pytester, workers: tuple[str, ...]) -> None:
    """A skip is reported with count, reason and untested area; an expected failure is no skip."""
    assert ending(pytester, SKIPPING, *workers) == [
        "1 skipped (too old): test_what_a_skip_leaves_untested_is_told.py::test_other untested",
        "3 skipped (no engine): the backend containers untested",
    ]


def test_an_area_of_which_others_passed_is_not_called_untested(pytester: pytest.Pytester) -> None:
    """If other tests of an area passed, a skipped test is named instead of the area."""
    passing = "\n@pytest.mark.container\ndef test_passes():\n    pass\n"
    folder = "test_an_area_of_which_others_passed_is_not_called_untested.py"
    assert ending(pytester, SKIPPING + passing) == [
        *[f"1 skipped (no engine): {folder}::test_in_containers[{turn}] untested" for turn in range(3)],
        f"1 skipped (too old): {folder}::test_other untested",
    ]


def test_that_nothing_was_skipped_is_told(pytester: pytest.Pytester) -> None:
    """The end states that nothing was skipped, because silence could be a lost ending."""
    assert ending(pytester, "def test(): pass") == ["nothing was skipped"]


def test_a_run_that_was_made_again_is_told(pytester: pytest.Pytester) -> None:
    """A repeated run is reported with its test and what was late."""
    test = "test_a_run_that_was_made_again_is_told.py::test_repeats"
    assert ending(pytester, REPEATING, "-n", "1") == [
        "nothing was skipped",
        f"run again, the machine was too busy: {test}: whole/dead-broker: 300 ms late",
    ]
