"""How `make test` distributes tests: those sharing a cluster or a Java host stay together."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SETTINGS = f"""
[pytest]
pythonpath = {ROOT}
addopts = -p no:cacheprovider
markers =
    cluster: c
    container: c
"""

PLUGIN = """
import pytest

pytest_plugins = ["tests.side_by_side"]

@pytest.fixture(scope="session")
def java_host():
    pass
"""

LIVE = """
import time
import pytest

pytestmark = pytest.mark.{mark}

@pytest.fixture(scope="module")
def cluster():
    pass

@pytest.mark.parametrize("turn", range(4))
def test_shared(cluster, turn):
    time.sleep(0.05)

@pytest.mark.parametrize("turn", ["[a@b]", "c"])
def test_alone(turn):
    time.sleep(0.05)
"""

ON_THE_HOST = """
import pytest

@pytest.mark.parametrize("turn", range(3))
def test_host(java_host, turn):
    pass
"""

OTHERS = """
import pytest

@pytest.mark.parametrize("turn", range(6))
def test(turn):
    pass
"""

MODULES = {
    "test_a": LIVE.format(mark="cluster"),
    "test_b": LIVE.format(mark="container"),
    "test_c": ON_THE_HOST,
    "test_d": ON_THE_HOST,
    "test_z": OTHERS,
}

UNGROUPED = """
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    for item in items:
        item._nodeid = item.nodeid.partition("@")[0]
"""


def outcome_of(pytester: pytest.Pytester, workers: int, more: str = "") -> pytest.RunResult:
    pytester.makeini(SETTINGS)
    pytester.makeconftest(PLUGIN + more)
    pytester.makepyfile(**MODULES)
    return pytester.runpytest_inprocess("-n", str(workers), "--dist", "loadgroup", "-v")


def test_tests_that_share_go_to_one_worker_and_the_last_begins_with_computing(pytester: pytest.Pytester) -> None:
    """
    Tests that share a cluster or the Java host go to one worker; a live test that shares nothing is a group of its own.

    With pytest 9.2.0 and xdist 3.8.0 they silently did not. The last worker begins with tests that are not live.
    """
    done = outcome_of(pytester, 3)
    done.assert_outcomes(passed=24)
    passed = re.findall(r"\[(gw\d)\][^\n]* PASSED ([^\s@]+)@?(\S*)", done.stdout.str())
    for tests in (("test_a.py::test_shared",), ("test_b.py::test_shared",), ("test_c.py", "test_d.py")):
        workers = [worker for worker, test, _ in passed if test.startswith(tests)]
        assert (len(workers) >= 4, len(set(workers))) == (True, 1), tests
    units = {unit for _, test, unit in passed if test.startswith("test_a.py::test_alone")}
    assert len(units) == 2 and all("live:test_a.py::test_alone" in unit for unit in units)
    assert {unit for _, test, unit in passed if test.startswith("test_z.py")} == {""}
    first = {worker: test for worker, test, _ in reversed(passed)}
    assert {worker: test.startswith(("test_a", "test_b")) for worker, test in first.items()} == {
        "gw0": True,
        "gw1": True,
        "gw2": False,
    }


def test_without_groups_no_live_test_begins(pytester: pytest.Pytester) -> None:
    """Without groups every live test fails, and other tests pass."""
    done = outcome_of(pytester, 2, UNGROUPED)
    done.assert_outcomes(errors=12, passed=12)
    assert "expected pytest-xdist to put every live test into its group" in done.stdout.str()


def test_make_test_asks_for_groups() -> None:
    """The Makefile calls pytest with groups, as does CI."""
    assert "--dist loadgroup" in (ROOT / "Makefile").read_text()
