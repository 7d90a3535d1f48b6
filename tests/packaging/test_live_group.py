"""Tests that start servers go through one of the two processes of `make test`; nothing else tells when they no longer do."""

import re
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"

FOUR_TESTS = """
import pytest

@pytest.mark.{mark}
@pytest.mark.parametrize("turn", range(4))
def test(turn):
    pass
"""


def test_one_worker_gets_all_that_starts_servers(pytester: pytest.Pytester) -> None:
    """In pytest 9.2.0 with xdist 3.8.0 the two clocked each other's pauses, and nothing said so."""
    pytester.makeconftest(CONFTEST.read_text())
    pytester.makeini("[pytest]\nmarkers =\n    cluster: c\n    container: c\n")
    pytester.makepyfile(test_a=FOUR_TESTS.format(mark="cluster"), test_b=FOUR_TESTS.format(mark="container"))
    done = pytester.runpytest_subprocess("-n", "2", "--dist", "loadgroup", "-v")
    done.assert_outcomes(passed=8)
    workers = re.findall(r"\[(gw\d)\].* PASSED", done.stdout.str())
    assert len(workers) == 8
    assert len(set(workers)) == 1
