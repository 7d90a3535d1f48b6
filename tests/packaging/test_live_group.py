"""How `make test` distributes live tests: those sharing a cluster stay together, and lost groups are reported."""

import re
import subprocess
import sys
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

OTHERS = """
import pytest

@pytest.mark.parametrize("turn", range(6))
def test(turn):
    pass
"""

MODULES = {"test_a": LIVE.format(mark="cluster"), "test_b": LIVE.format(mark="container"), "test_z": OTHERS}

PLUGIN = "pytest_plugins = ['tests.side_by_side']\n"

HOST = """
import pytest

@pytest.fixture(scope="session")
def java_host():
    pass
"""

ON_THE_HOST = """
import pytest

@pytest.mark.parametrize("turn", range(3))
def test_on_it(java_host, turn):
    pass
"""

UNGROUPED = """
import pytest

@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    for item in items:
        item._nodeid = item.nodeid.partition("@")[0]
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """Two live modules with a shared cluster each, and one that only computes."""
    pytester.makeini(SETTINGS)
    pytester.makeconftest(PLUGIN)
    pytester.makepyfile(**MODULES)
    return pytester


def workers_of(told: str, test: str) -> list[str]:
    """Workers that passed tests with this prefix, in order."""
    return re.findall(rf"\[(gw\d)\][^\n]* PASSED {re.escape(test)}", told)


def test_tests_of_several_modules_that_need_a_java_host_go_to_one_worker(pytester: pytest.Pytester) -> None:
    """All tests on the Java host go to one worker, because it takes ten seconds to start."""
    pytester.makeini(SETTINGS)
    pytester.makeconftest(PLUGIN + HOST)
    pytester.makepyfile(test_a=ON_THE_HOST, test_b=ON_THE_HOST, test_z=OTHERS)
    done = pytester.runpytest_inprocess("-n", "2", "--dist", "loadgroup", "-v")
    done.assert_outcomes(passed=12)
    workers = [worker for module in "ab" for worker in workers_of(done.stdout.str(), f"test_{module}.py::test_on_it")]
    assert (len(workers), len(set(workers))) == (6, 1)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Output of the project with three workers."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "tox.ini").write_text(SETTINGS)
    (folder / "conftest.py").write_text(PLUGIN)
    for name, text in MODULES.items():
        (folder / f"{name}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-n", "3", "--dist", "loadgroup", "-v"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300).stdout


def test_tests_that_share_a_cluster_go_to_one_worker(told: str) -> None:
    """Tests that share a cluster go to one worker; with pytest 9.2.0 and xdist 3.8.0 they silently did not."""
    assert "= 18 passed in " in told
    for module in ("test_a.py", "test_b.py"):
        workers = workers_of(told, f"{module}::test_shared")
        assert (len(workers), len(set(workers))) == (4, 1), module


def test_a_test_that_shares_nothing_goes_where_there_is_room(told: str) -> None:
    """A live test that shares nothing is a group of its own; a test that only computes has no group."""
    units = set(re.findall(r"PASSED test_a\.py::test_alone\S*@(live:\S+)", told))
    assert units == {"live:test_a.py::test_alone((a-b))", "live:test_a.py::test_alone(c)"}
    assert re.findall(r"PASSED test_z\.py::test\[0\](\S*)", told) == [""]


def test_the_last_worker_begins_with_what_only_computes(told: str) -> None:
    """The last worker begins with tests that only compute."""
    begun = {worker: test for test, worker in reversed(_begun(told))}
    assert {worker: test.partition("::")[0] == "test_z.py" for worker, test in begun.items()} == {
        "gw0": False,
        "gw1": False,
        "gw2": True,
    }


def _begun(told: str) -> list[tuple[str, str]]:
    return [(test, worker) for worker, test in re.findall(r"\[(gw\d)\][^\n]* PASSED (\S+)", told)]


def test_one_worker_does_everything(project: pytest.Pytester) -> None:
    """A single worker runs everything."""
    project.runpytest_inprocess("-n", "1", "--dist", "loadgroup").assert_outcomes(passed=18)


def test_without_groups_no_live_test_begins(project: pytest.Pytester) -> None:
    """Without groups every live test fails, and other tests pass."""
    project.makeconftest(PLUGIN + UNGROUPED)
    done = project.runpytest_inprocess("-n", "2", "--dist", "loadgroup")
    done.assert_outcomes(errors=12, passed=6)
    assert "expected pytest-xdist to put every live test into its group" in done.stdout.str()


def test_make_test_asks_for_groups() -> None:
    """The Makefile calls pytest with groups, as does CI."""
    assert "--dist loadgroup" in (ROOT / "Makefile").read_text()
