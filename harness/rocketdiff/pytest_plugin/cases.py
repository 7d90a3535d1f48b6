"""The cases of a pytest process: planned, run and judged one by one, and together at the end."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rocketdiff.core.errors import HarnessError
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.judging.judge_runs import Judged, judge_runs
from rocketdiff.judging.ledgers import load_for
from rocketdiff.run.case_session import CaseAnswer, CaseSession
from rocketdiff.run.cluster_pool import ClusterPool
from rocketdiff.run.execute import fetch
from rocketdiff.run.request import RunRequest
from rocketdiff.run.selection import why_not_asked, why_not_here
from rocketdiff.scenario import Case, Scenario, expand
from rocketdiff.traces.run_directory import CaseDirectory


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """A case that is recorded in the run directory and has not started."""

    case: Case
    directory: CaseDirectory


class Cases:
    """The case session of one pytest process."""

    def __init__(self, request: RunRequest, run: str, reproduce: str, pool: ClusterPool) -> None:
        self._request = request
        self._run = run
        self._reproduce = reproduce
        self._pool = pool

    @cached_property
    def _session(self) -> CaseSession:
        """Created with the first case, after fetching."""
        request, root = fetch(self._request), self._request.out.resolve()
        session = CaseSession.begin(request, self._pool, root, run=self._run, reproduce=self._reproduce)
        self._pool.evidence = session.directory.path / "cluster"
        return session

    def why_not(self, scenario: Scenario) -> str | None:
        """Why a run would leave the scenario out; None if it would not."""
        return why_not_here(scenario, self._request.backend) or why_not_asked(scenario, self._request.subjects)

    def plan(self, scenario: Scenario) -> PlannedCase:
        """Record the case as planned (INVALID if it never runs), and start its cluster."""
        assert self._request.seed is not None
        request, pair = self._request, (self._request.baseline.id, self._request.candidate.id)
        case = expand(scenario, *pair, self._request.seed, request.attempt_timeout_ms)
        planned = PlannedCase(case, self._session.add(case))
        try:
            self._session.require_cluster(case)
        except HarnessError as error:  # so that the report has the reason too
            planned.directory.abort(str(error))
            raise
        return planned

    def run(self, planned: PlannedCase) -> CaseAnswer:
        """Raises HarnessError if the case cannot be completed."""
        return self._session.run(planned.directory.number, planned.case)

    def end(self) -> None:
        if "_session" in self.__dict__:
            self._session.end()
        self._pool.close()


def judge_all(request: RunRequest, runs: Sequence[Path], out: Path) -> Judged:
    """Judge all runs of a session together, pooled checks included, and write the report."""
    folder, judging = out if len(runs) > 1 else None, request.judging
    ledger = load_for(judging.ledgers, runs)
    return judge_runs(runs, policy=judging.policy, ledger=ledger, out=folder, master=WITHOUT_SPARK)
