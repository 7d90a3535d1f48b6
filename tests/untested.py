"""The end of the output: what was skipped and what that leaves untested, and which runs a busy machine made a test repeat."""

from collections import Counter
from collections.abc import Generator

import pytest

LEAVES_UNTESTED = {
    "container": "the backend containers",
    "browser": "the report page in a browser",
    "cluster": "servers and clients, and whole runs",
    "spark": "analysis on Spark",
}
"""By marker, the first that a skipped test has. A test without any is named, and so is one of an area of which others passed."""

REPEATED = "repeated because the machine was busy"
"""Property of a test that says what it had to run again."""

AREA = "area"
"""Property of a test: a marker of LEAVES_UNTESTED. The keywords of a report would hold names of folders as well."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """A worker's reports tell what its tests are marked with."""
    item.user_properties += [(AREA, marker) for marker in LEAVES_UNTESTED if item.get_closest_marker(marker)]


class Ending:
    """Listens to every test, here or in a worker, and has the last word."""

    def __init__(self) -> None:
        self.skipped: list[tuple[str | None, str, str]] = []
        """Marker of the area, test, reason."""
        self.tested: set[str] = set()
        """Markers of areas of which a test passed."""
        self.repeated: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One phase of a test."""
        if report.skipped and not hasattr(report, "wasxfail"):
            self.skipped.append((next(iter(areas_of(report)), None), name_of(report), reason_of(report)))
        if report.passed and report.when == "call":
            self.tested.update(areas_of(report))
        if report.when == "teardown":
            told = (value for name, value in report.user_properties if name == REPEATED)
            self.repeated += [f"{name_of(report)}: {value}" for value in told]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Generator[None]:
        """After everything else but the last line."""
        yield
        terminalreporter.section("skipped, and untested for that")
        for line in self.lines():
            terminalreporter.line(line)

    def lines(self) -> list[str]:
        """What is to be said; never nothing."""
        counted = Counter((self._untested_by(area, test), reason) for area, test, reason in self.skipped)
        skipped = [f"{count} skipped ({reason}): {untested} untested" for (untested, reason), count in counted.items()]
        repeated = [f"run again, the machine was too busy: {each}" for each in self.repeated]
        return [*(sorted(skipped) or ["nothing was skipped"]), *repeated]

    def _untested_by(self, area: str | None, test: str) -> str:
        """What nothing is known of without this test."""
        return test if area is None or area in self.tested else LEAVES_UNTESTED[area]


def areas_of(report: pytest.TestReport) -> list[str]:
    """Markers of what the test is about, the one that decides first."""
    return [str(value) for name, value in report.user_properties if name == AREA]


def name_of(report: pytest.TestReport) -> str:
    """Without what pytest-xdist appends."""
    return report.nodeid.partition("@")[0]


def reason_of(report: pytest.TestReport) -> str:
    """As the skip gave it."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def pytest_configure(config: pytest.Config) -> None:
    """Not in a worker: whoever started it tells."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Ending(), "untested")
