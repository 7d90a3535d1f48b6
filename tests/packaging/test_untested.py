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
@pytest.mark.parametrize("turn", range(2))
def test_in_containers(turn):
    pytest.skip("no engine")

def test_other():
    pytest.skip("too old")

@pytest.mark.xfail(strict=True)
def test_known():
    assert False
"""

PASSING = """
@pytest.mark.container
def test_passes():
    pass
"""

REPEATING = """
def test_repeats(record_property):
    record_property("repeated because the machine was busy", "whole/dead-broker: 300 ms late")
"""

OTHER = "1 skipped (too old): test_it.py::test_other untested"


@pytest.mark.parametrize(
    ("text", "arguments", "lines"),
    [
        (SKIPPING, [], [OTHER, "2 skipped (no engine): the backend containers untested"]),
        (
            SKIPPING + PASSING,
            [],
            [*(f"1 skipped (no engine): test_it.py::test_in_containers[{turn}] untested" for turn in range(2)), OTHER],
        ),
        (
            SKIPPING + REPEATING,
            ["-n", "2"],
            [
                OTHER,
                "2 skipped (no engine): the backend containers untested",
                "run again, the machine was too busy: test_it.py::test_repeats: whole/dead-broker: 300 ms late",
            ],
        ),
        ("def test(): pass", [], ["nothing was skipped"]),
    ],
    ids=["skips", "area with a passed test", "workers and a repeated run", "nothing"],
)
def test_skips_and_repeats_end_the_output(
    pytester: pytest.Pytester, text: str, arguments: list[str], lines: list[str]
) -> None:
    """The end lists skips with count, reason and untested area (or test, if others of the area passed), and repeated runs."""
    pytester.makeini(SETTINGS)
    pytester.makeconftest("pytest_plugins = ['tests.untested']")
    pytester.makepyfile(test_it=text)
    printed = pytester.runpytest_inprocess(*arguments).stdout.lines
    begin = next(number for number, line in enumerate(printed) if "skipped, and untested for that" in line)
    assert [line for line in printed[begin + 1 : -1] if line] == lines
