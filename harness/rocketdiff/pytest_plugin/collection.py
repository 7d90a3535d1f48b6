"""Session part of ``pytest --rocketdiff``: which scenarios are items, in which order, and the verdict over all of them."""

import io
import secrets
import shlex
from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from rocketdiff.core.case import CaseId
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.tables.run_options import FOR_PYTEST, RUN_OPTIONS
from rocketdiff.core.tables.suites import EVERY_SUITE, suite_of
from rocketdiff.core.text.glob import path_glob
from rocketdiff.judging.ledgers import load as load_ledger
from rocketdiff.pytest_plugin.cases import Cases, judge_all
from rocketdiff.pytest_plugin.clusters import backend_of, pool_of
from rocketdiff.pytest_plugin.items import CaseItem, ScenarioCollector, ShippedScenarios, looks_like_scenario
from rocketdiff.report.formats.summary import print_summary
from rocketdiff.run.execute import require_possible
from rocketdiff.run.request import RunRequest, request_of
from rocketdiff.scenario import Scenario, load_all, select
from rocketdiff.verdict.judge import Counts, RunVerdict, machine_line

_TO_WORKER = "rocketdiff"
_OF_SCENARIO = "rocketdiff_scenario"


class Scenarios:
    """One pytest session, or one xdist worker of it. All workers share seed and name."""

    def __init__(self, config: pytest.Config, request: RunRequest, run: str) -> None:
        self._config = config
        self._request = request
        self._run = run
        self._told: list[str] = []
        self._skipped: dict[str, str] = {}
        self._failed: set[str] = set()

    @classmethod
    def of(cls, config: pytest.Config) -> "Scenarios":
        """Raises pytest.UsageError for a wrong option."""
        given: dict[str, Any] = getattr(config, "workerinput", {}).get(_TO_WORKER, {})
        try:
            request = _request(config, given.get("seed"))
        except HarnessError as error:
            raise pytest.UsageError(f"rocketdiff: {error}") from error
        return cls(config, request, given.get("run") or f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{request.seed:08x}")

    @cached_property
    def cases(self) -> Cases:
        """Each worker has its own run directory."""
        worker = getattr(self._config, "workerinput", {}).get("workerid")
        run = f"{self._run}-{worker}" if worker else self._run
        return Cases(self._request, run, self._command(), pool_of(self._config))

    def case_name(self, scenario: Scenario) -> str:
        return str(CaseId(scenario.name, self._request.baseline.id, self._request.candidate.id))

    def wants(self, scenario: Scenario) -> bool:
        """True if a glob selects this scenario of the user's repository."""
        return not self._request.selection.patterns or any(
            _matches(pattern, [scenario]) for pattern in self._request.selection.patterns
        )

    def pytest_report_header(self) -> str:
        request = self._request
        return f"rocketdiff: {request.baseline} against {request.candidate}, seed {request.seed}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[_TO_WORKER] = {"seed": self._request.seed, "run": self._run}

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        if file_path.suffix == ".yaml" and looks_like_scenario(file_path):
            return ScenarioCollector.of(parent, file_path, self)
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the shipped scenarios. All scenarios run last, grouped by topology."""
        mine = [item for item in items if isinstance(item, CaseItem)]
        parent = ShippedScenarios.from_parent(session, name="rocketdiff", nodeid="rocketdiff")
        try:
            shipped: list[pytest.Item | pytest.Collector] = [
                CaseItem.of(parent, scenario, self) for scenario in self._shipped(mine)
            ]
            # So that collection counts include them.
            session.ihook.pytest_collectreport(report=pytest.CollectReport("rocketdiff", "passed", None, shipped))
            mine += [item for item in shipped if isinstance(item, CaseItem)]
            load_ledger(self._request.judging.ledgers, [item.scenario for item in mine])
        except HarnessError as error:
            raise pytest.UsageError(f"rocketdiff: {error}") from error
        twice = {item.name for item in mine if [other.name for other in mine].count(item.name) > 1}
        if twice:
            raise pytest.UsageError(f"rocketdiff: each scenario once; saw {', '.join(sorted(twice))} again")
        mine.sort(key=lambda item: (item.scenario.topology, item.name))
        items[:] = [*(item for item in items if not isinstance(item, CaseItem)), *mine]

    def _shipped(self, own: Sequence[CaseItem]) -> tuple[Scenario, ...]:
        """
        Scenarios that come with rocketdiff, or are in the given folder.

        Only if a suite, folder or glob selects them, or the repository has none. A glob that matches only the
        repository's scenarios is accepted; one that matches nothing raises.
        """
        root, patterns = self._request.selection.root, self._request.selection.patterns
        mine = [item.scenario for item in own]
        if own and not (root or patterns or self._config.getoption("rocketdiff_suite")):
            return ()
        suite = suite_of(self._config.getoption("rocketdiff_suite"), is_chosen=bool(patterns or root))
        there = load_all(root)
        wanted = [
            pattern for pattern in patterns if _matches(pattern, select(there, suite)) or not _matches(pattern, mine)
        ]
        return select(there, suite, wanted) if wanted or not patterns else ()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Mark the reports of scenarios by an attribute, which xdist passes from a worker to the controller."""
        report = yield
        setattr(report, _OF_SCENARIO, isinstance(item, CaseItem))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record failed scenarios and skip reasons. A skip is a tuple (file, line, reason) or text."""
        if getattr(report, _OF_SCENARIO, False) and report.failed:
            self._failed.add(report.nodeid.rpartition("::")[2])
        if getattr(report, _OF_SCENARIO, False) and report.skipped:
            why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self._skipped[report.nodeid] = why.removeprefix("Skipped: ")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Stop the servers. In the controller, judge everything together."""
        self.cases.end()
        if hasattr(self._config, "workerinput"):
            return
        out = self._request.out.resolve()
        runs = sorted(path.parent for path in out.glob(f"{self._run}*/run.json"))
        if not runs:
            if self._skipped and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
                self._told = self._nothing()
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
        elif exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR):
            self._told = [f"not judged; what there is: rocketdiff analyze {shlex.join(map(str, runs))}"]
        elif self._judge(runs, out / self._run) and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _nothing(self) -> list[str]:
        """A session in which no scenario could run must not look like a pass."""
        line = machine_line(RunVerdict.NOTHING_DECISIVE, Counts(), seed=self._request.seed, run="")
        skipped = [f"left out: {name}: {reason}" for name, reason in self._skipped.items()]
        return ["nothing was compared: no scenario was run", *skipped, line]

    def _judge(self, runs: Sequence[Path], out: Path) -> int:
        """Returns the exit code of the command line."""
        try:
            judged = judge_all(self._request, runs, out)
        except HarnessError as error:
            line = machine_line(RunVerdict.ERROR, Counts(), seed=self._request.seed, run=self._run)
            self._told = [f"rocketdiff: {error}", line]
            return int(error.exit_code)
        text = io.StringIO()
        console = Console(file=text, width=120, emoji=False)
        shown = () if self._config.getoption("tbstyle") == "no" else self._failed
        print_summary(judged.document, console, dict(judged.files), shown_before=shown)
        self._told = [line.rstrip() for line in text.getvalue().strip().splitlines()]
        return int(judged.judgement.exit_code)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The command line's summary. The last line is for programs."""
        if self._told:
            terminalreporter.section("rocketdiff")
            for line in self._told:
                terminalreporter.write_line(line)

    def _command(self) -> str:
        words = [str(word) for word in self._config.invocation_params.args]
        seed = (
            ()
            if self._config.getoption("rocketdiff_seed") is not None
            else ("--rocketdiff-seed", str(self._request.seed))
        )
        return shlex.join(["pytest", *words, *seed])


def _matches(pattern: str, scenarios: Iterable[Scenario]) -> bool:
    glob = path_glob(pattern)
    return any(glob.fullmatch(scenario.name) for scenario in scenarios)


def _request(config: pytest.Config, seed: int | None) -> RunRequest:
    """As `rocketdiff run` makes it."""
    given = {
        option.key: config.getoption(f"rocketdiff_{option.key}")
        for option in (RUN_OPTIONS[name] for name in FOR_PYTEST)
    }
    # Which shipped scenarios are wanted depends on the collection, so the request does not restrict them.
    request = request_of({**given, "suite": given["suite"] or EVERY_SUITE}, backend_of(config))
    require_possible(request)
    seeds = (seed, request.seed, secrets.randbelow(1 << 31))
    return replace(request, seed=next(value for value in seeds if value is not None))
