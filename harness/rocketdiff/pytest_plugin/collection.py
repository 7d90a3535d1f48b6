"""What ``pytest --rocketdiff`` adds to a session: which scenarios are items, in which order, and the verdict over all of them."""

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
from rocketdiff.core.tables.suites import EVERY_SUITE
from rocketdiff.core.text.glob import path_glob
from rocketdiff.judging.ledgers import load as load_ledger
from rocketdiff.pytest_plugin.cases import Cases, judge_all
from rocketdiff.pytest_plugin.clusters import backend_of, pool_of
from rocketdiff.pytest_plugin.items import CaseItem, ScenarioFile, ShippedScenarios, looks_like_scenario
from rocketdiff.report.formats.summary import print_summary
from rocketdiff.run.execute import require_possible
from rocketdiff.run.options import suite_of
from rocketdiff.run.request import RunRequest, request_of
from rocketdiff.scenario import Scenario, load_all, select
from rocketdiff.verdict.judge import Counts, RunVerdict, machine_line

_TO_WORKER = "rocketdiff"
_OF_SCENARIO = "rocketdiff_scenario"


class Scenarios:
    """One pytest session, or one worker of it; all of them have one seed and one name."""

    def __init__(self, config: pytest.Config, request: RunRequest, run: str) -> None:
        self._config = config
        self._request = request
        self._run = run
        self._told: list[str] = []
        self._skipped: dict[str, str] = {}
        self._failed: set[str] = set()

    @classmethod
    def of(cls, config: pytest.Config) -> "Scenarios":
        """From the options; pytest.UsageError for one that is wrong."""
        given: dict[str, Any] = getattr(config, "workerinput", {}).get(_TO_WORKER, {})
        try:
            request = _request(config, given.get("seed"))
        except HarnessError as error:
            raise pytest.UsageError(f"rocketdiff: {error}") from error
        return cls(config, request, given.get("run") or f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{request.seed:08x}")

    @cached_property
    def cases(self) -> Cases:
        """Where this process runs its cases; a worker has a directory of its own."""
        worker = getattr(self._config, "workerinput", {}).get("workerid")
        run = f"{self._run}-{worker}" if worker else self._run
        return Cases(self._request, run, self._command(), pool_of(self._config))

    def case_name(self, scenario: Scenario) -> str:
        """Name of a scenario's item."""
        return str(CaseId(scenario.name, self._request.baseline.id, self._request.candidate.id))

    def wants(self, scenario: Scenario) -> bool:
        """Whether a scenario of the repository's own is among those asked for by glob."""
        return not self._request.selection.patterns or any(
            _matches(pattern, [scenario]) for pattern in self._request.selection.patterns
        )

    def pytest_report_header(self) -> str:
        """Who is compared, and the seed that repeats it."""
        request = self._request
        return f"rocketdiff: {request.baseline} against {request.candidate}, seed {request.seed}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give an xdist worker the session's seed and name."""
        node.workerinput[_TO_WORKER] = {"seed": self._request.seed, "run": self._run}

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Scenario files of the repository that is tested."""
        if file_path.suffix == ".yaml" and looks_like_scenario(file_path):
            return ScenarioFile.of(parent, file_path, self)
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Shipped scenarios come on top; all scenarios run last, those of a topology beside each other."""
        mine = [item for item in items if isinstance(item, CaseItem)]
        parent = ShippedScenarios.from_parent(session, name="rocketdiff", nodeid="rocketdiff")
        try:
            shipped: list[pytest.Item | pytest.Collector] = [
                CaseItem.of(parent, scenario, self) for scenario in self._shipped(mine)
            ]
            # Whoever counts what was collected hears of them as of those of a file.
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
        Those that come with rocketdiff, or lie in the folder that was named.

        None unless a suite, a folder or a glob asks for them or there are no own ones. A glob that only own scenarios match is no
        mistake here; one that matches nothing at all is.
        """
        root, patterns = self._request.selection.root, self._request.selection.patterns
        mine = [item.scenario for item in own]
        if own and not (root or patterns or self._config.getoption("rocketdiff_suite")):
            return ()
        suite = suite_of(self._config.getoption("rocketdiff_suite"), is_chosen=bool(patterns or root))
        there = load_all(root)
        wanted = [one for one in patterns if _matches(one, select(there, suite)) or not _matches(one, mine)]
        return select(there, suite, wanted) if wanted or not patterns else ()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Mark the reports of scenarios, by an attribute that goes with them from a worker to where the session ends."""
        report = yield
        setattr(report, _OF_SCENARIO, isinstance(item, CaseItem))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep which scenarios failed, and why one was skipped; whoever skips says it as (file, line, reason), or as text."""
        if getattr(report, _OF_SCENARIO, False) and report.failed:
            self._failed.add(report.nodeid.rpartition("::")[2])
        if getattr(report, _OF_SCENARIO, False) and report.skipped:
            why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self._skipped[report.nodeid] = why.removeprefix("Skipped: ")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Stop the servers; where the session ends, judge everything together."""
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
        """What to tell of a session in which no scenario could be run: it must not look like a pass."""
        line = machine_line(RunVerdict.NOTHING_DECISIVE, Counts(), seed=self._request.seed, run="")
        skipped = [f"left out: {name}: {reason}" for name, reason in self._skipped.items()]
        return ["nothing was compared: no scenario was run", *skipped, line]

    def _judge(self, runs: Sequence[Path], out: Path) -> int:
        """Write the report and keep the summary for the terminal; returns the exit code of the command line."""
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
        """The same summary as of the command line; its last line is for machines."""
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
    """The same as `rocketdiff run` makes of its options."""
    given = {one.key: config.getoption(f"rocketdiff_{one.key}") for one in (RUN_OPTIONS[name] for name in FOR_PYTEST)}
    # Which of the shipped scenarios are wanted depends on what else is collected, so of them a request says nothing.
    request = request_of({**given, "suite": given["suite"] or EVERY_SUITE}, backend_of(config))
    require_possible(request)
    seeds = (seed, request.seed, secrets.randbelow(1 << 31))
    return replace(request, seed=next(one for one in seeds if one is not None))
