"""The end of the output: skipped tests, what they leave untested, and runs repeated on a busy machine."""

from collections import Counter
from collections.abc import Generator

import pytest

LEAVES_UNTESTED = {
    "container": "the backend containers",
    "browser": "the report page in a browser",
    "cluster": "servers and clients, and whole runs",
    "spark": "analysis on Spark",
}
"""By the first marker of a skipped test. A test without marker, or of an area with passed tests, is named instead."""

REPEATED = "repeated because the machine was busy"
"""Property of a test: what it ran again."""

AREA = "area"
"""Property of a test: a marker of LEAVES_UNTESTED. Report keywords would also contain folder names."""


def pytest_itemcollected(item: pytest.Item) -> None:
    item.user_properties += [(AREA, marker) for marker in LEAVES_UNTESTED if item.get_closest_marker(marker)]


class Ending:
    """Collects all test reports and prints the last section."""

    def __init__(self) -> None:
        self.skipped: list[tuple[str | None, str, str]] = []
        """Marker of the area, test, reason."""
        self.tested: set[str] = set()
        """Markers of areas with a passed test."""
        self.repeated: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self.skipped.append((next(iter(areas_of(report)), None), name_of(report), reason_of(report)))
        if report.passed and report.when == "call":
            self.tested.update(areas_of(report))
        if report.when == "teardown":
            reported = (value for name, value in report.user_properties if name == REPEATED)
            self.repeated += [f"{name_of(report)}: {value}" for value in reported]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Generator[None]:
        """Print the section before the last line."""
        yield
        terminalreporter.section("skipped, and untested for that")
        for line in self.lines():
            terminalreporter.line(line)

    def lines(self) -> list[str]:
        counted = Counter((self._untested_by(area, test), reason) for area, test, reason in self.skipped)
        skipped = [f"{count} skipped ({reason}): {untested} untested" for (untested, reason), count in counted.items()]
        repeated = [f"run again, the machine was too busy: {each}" for each in self.repeated]
        return [*(sorted(skipped) or ["nothing was skipped"]), *repeated]

    def _untested_by(self, area: str | None, test: str) -> str:
        return test if area is None or area in self.tested else LEAVES_UNTESTED[area]


def areas_of(report: pytest.TestReport) -> list[str]:
    """Markers of the test's area, the decisive one first."""
    return [str(value) for name, value in report.user_properties if name == AREA]


def name_of(report: pytest.TestReport) -> str:
    """Remove the suffix of pytest-xdist."""
    return report.nodeid.partition("@")[0]


def reason_of(report: pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def pytest_configure(config: pytest.Config) -> None:
    """Workers do not register: the process that started them reports."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Ending(), "untested")
