"""A foreign repository for tests of the plugin: strict settings, own scenarios, own tests."""

from importlib.metadata import entry_points
from pathlib import Path

import pytest

from rocketdiff.core.resources import import_path
from rocketdiff.pytest_plugin import collection

IMPORTED = (collection,)
"""Imported by sessions with scenarios: pytester forgets what a session imports first, but numpy can be imported only once."""

TOYS = ("--rocketdiff", "--rocketdiff-seed", "5", "--rocketdiff-subject", "python:5.3.3", "--rocketdiff-subject")

SETTINGS = """
[pytest]
addopts = --strict-markers --strict-config -p no:cacheprovider
filterwarnings = error
testpaths = conformance
"""

SCENARIO = """
format: 1
name: {name}
establishes: A short stream of sends in calm.
covers: [A3]
topology: {topology}
topic: {{queues_per_broker: 4}}
workload: {{mode: sync, threads: 1, rate_per_s: 60, duration_s: 1, body_bytes: 128}}
checks: [queue-choice, attempts, loss, duplication]
"""


class ForeignProject:
    """A folder with a pytest.ini and tests, where pytest runs."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester
        self.path = pytester.path
        (self.path / "pytest.ini").write_text(SETTINGS)
        (self.path / "conformance").mkdir()
        (self.path / "conformance" / "values.yaml").write_text("topology: somebody else's\n")

    def scenario(self, name: str, topology: str = "one-master") -> Path:
        path = self.path / "conformance" / f"{name.rpartition('/')[2]}.yaml"
        path.write_text(SCENARIO.format(name=name, topology=topology))
        return path

    def test(self, text: str) -> None:
        (self.path / "conformance" / "test_mine.py").write_text(text)

    def pytest_here(self, *arguments: str) -> pytest.RunResult:
        """Run in this process, which has imported everything: a tenth of the work, for sessions that start nothing."""
        return self._pytester.runpytest_inprocess(*_plugin(), *arguments)

    def pytest(self, *arguments: str) -> pytest.RunResult:
        return self._pytester.runpytest_subprocess(*_plugin(), *arguments, timeout=600)

    def set_runs_aside(self, number: int) -> None:
        """Move the run directories away, so that ``runs`` finds those of the next session only."""
        if (self.path / "reports").exists():
            (self.path / "reports").rename(self.path / f"reports-{number}")

    def runs(self) -> list[Path]:
        return sorted(manifest.parent for manifest in (self.path / "reports").glob("*/run.json"))


def foreign_project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> ForeignProject:
    """With this checkout on the path, if it is not installed."""
    monkeypatch.setenv("PYTHONPATH", import_path())
    return ForeignProject(pytester)


def _plugin() -> tuple[str, ...]:
    """Load the module by name if its entry point is not installed."""
    return () if entry_points(group="pytest11", name="rocketdiff") else ("-p", "rocketdiff.pytest_plugin")
