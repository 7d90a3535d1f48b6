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
"""By marker, the first that a skipped test has; a test without any is named."""

REPEATED = "repeated because the machine was busy"
"""Property of a test that says what it had to run again."""


class Ending:
    """Listens to every test, here or in a worker, and has the last word."""

    def __init__(self) -> None:
        self.skipped: Counter[tuple[str, str]] = Counter()
        self.repeated: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One phase of a test."""
        if report.skipped and not hasattr(report, "wasxfail"):
            self.skipped[untested_by(report), reason_of(report)] += 1
        if report.when == "teardown":
            told = (value for name, value in report.user_properties if name == REPEATED)
            self.repeated += [f"{report.nodeid.partition('@')[0]}: {value}" for value in told]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Generator[None]:
        """After everything else but the last line."""
        yield
        terminalreporter.section("skipped, and untested for that")
        for line in self.lines():
            terminalreporter.line(line)

    def lines(self) -> list[str]:
        """What is to be said; never nothing."""
        skipped = [
            f"{count} skipped ({reason}): {untested} untested" for (untested, reason), count in self.skipped.items()
        ]
        repeated = [f"run again, the machine was too busy: {each}" for each in self.repeated]
        return [*(sorted(skipped) or ["nothing was skipped"]), *repeated]


def untested_by(report: pytest.TestReport) -> str:
    """What nothing is known of without this test."""
    told = (untested for marker, untested in LEAVES_UNTESTED.items() if marker in report.keywords)
    return next(told, report.nodeid.partition("@")[0])


def reason_of(report: pytest.TestReport) -> str:
    """As the skip gave it."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def pytest_configure(config: pytest.Config) -> None:
    """Not in a worker: whoever started it tells."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Ending(), "untested")
