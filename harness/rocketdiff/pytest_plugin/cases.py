"""Cases one by one, as pytest asks for them: put down as planned, run on the shared cluster, judged, and all together at the end."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from rocketdiff.analysis.analyze import WITHOUT_SPARK
from rocketdiff.cluster.start import why_not
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.policy import Policy
from rocketdiff.core.topology import topology_named
from rocketdiff.core.verdict import CheckResult
from rocketdiff.judging.judge_runs import Judged, judge_case, judge_quietly
from rocketdiff.judging.ledgers import load as load_ledger
from rocketdiff.judging.ledgers import load_for
from rocketdiff.run.case import Pair, run_case
from rocketdiff.run.cluster_pool import ClusterPool
from rocketdiff.run.execute import RunRequest, entry_of, fetch, manifest_of
from rocketdiff.run.selection import why_not_asked
from rocketdiff.scenario import Case, Scenario, expand
from rocketdiff.subjects.registry import program_of
from rocketdiff.traces.case_directory import CaseDirectory
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.conclude import conclude
from rocketdiff.verdict.judgement import RunVerdict


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """Every check of one case, and the word they add up to."""

    verdict: RunVerdict
    results: tuple[CheckResult, ...]
    policy: Policy


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """A case that has its place in the run directory and has not begun."""

    case: Case
    directory: CaseDirectory


class Cases:
    """The run directory of one pytest process, and what goes into it."""

    def __init__(self, request: RunRequest, run: str, reproduce: str, pool: ClusterPool) -> None:
        self._request = request
        self._run = run
        self._reproduce = reproduce
        self._pool = pool

    @cached_property
    def _directory(self) -> RunDirectory:
        """Made with the first case; before it, whatever the pair needs is fetched."""
        fetch(self._request)
        assert self._request.seed is not None
        manifest = replace(manifest_of(self._request, self._request.seed, ()), run=self._run, reproduce=self._reproduce)
        directory = RunDirectory.create(self._request.out.resolve(), manifest)
        self._pool.evidence = directory.path / "cluster"
        return directory

    @cached_property
    def _pair(self) -> Pair:
        return Pair.of(program_of(self._request.baseline), program_of(self._request.candidate))

    def why_not(self, scenario: Scenario) -> str | None:
        """Why a run would leave the scenario out: its topology on this backend, or a call of one of the clients; None for nothing."""
        not_here = why_not(self._request.backend, topology_named(scenario.topology))
        return not_here or why_not_asked(scenario, (self._request.baseline, self._request.candidate))

    def plan(self, scenario: Scenario) -> PlannedCase:
        """Put a case down, so that whatever keeps it from running is missed by the judge; then see that its cluster is up."""
        assert self._request.seed is not None
        case = expand(scenario, self._request.baseline, self._request.candidate, self._request.seed)
        planned = PlannedCase(case, self._directory.add(lambda number: entry_of(number, case)))
        try:
            self._pool.cluster(scenario.topology)
        except HarnessError as error:  # the report names it, too
            planned.directory.abort(str(error))
            raise
        return planned

    def run(self, planned: PlannedCase) -> CaseAnswer:
        """Run and judge it alone; raises HarnessError for what keeps it from going on."""
        cluster = self._pool.cluster(planned.case.scenario.topology)
        wanted = self._request.is_wire_wanted
        run_case(cluster, planned.directory, planned.case, self._pair, (), is_wire_wanted=wanted)
        ledger = load_ledger(self._request.ledgers, [planned.case.scenario])
        results = judge_case(self._directory, planned.directory.number, self._request.policy, ledger)
        verdict, _ = conclude(results, self._request.policy)
        return CaseAnswer(verdict, results, self._request.policy)

    def end(self) -> None:
        """No more cases: stop the servers."""
        if "_directory" in self.__dict__:
            self._directory.end(wall_ms=time.time_ns() // 1_000_000)
        self._pool.close()


def judge_all(request: RunRequest, runs: Sequence[Path], out: Path) -> Judged:
    """All run directories of a session together: what is pooled over cases is judged here, and the report written."""
    folder = out if len(runs) > 1 else None
    return judge_quietly(
        runs, policy=request.policy, ledger=load_for(request.ledgers, runs), out=folder, master=WITHOUT_SPARK
    )
