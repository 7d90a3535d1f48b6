"""Successive cases in one run directory. Each runs on a cluster of the pool and can be judged at once."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.events import CaseRepeated, Listener, emit
from rocketdiff.judging.judge_runs import judge_case
from rocketdiff.judging.ledgers import load as load_ledger
from rocketdiff.run.case.cast import Pair
from rocketdiff.run.case.staged_case import StagedCase
from rocketdiff.run.manifest import entry_of, manifest_of
from rocketdiff.run.request import RunRequest
from rocketdiff.scenario import Case
from rocketdiff.traces.run_directory import CaseDirectory, RunDirectory
from rocketdiff.verdict.judge import RunVerdict, conclude


class Clusters(Protocol):
    """Source of clusters: cluster_pool.ClusterPool."""

    def cluster(self, topology: str) -> Cluster: ...

    def for_case(self, topology: str) -> Cluster: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """The results of one case, and their verdict."""

    verdict: RunVerdict
    results: tuple[CheckResult, ...]
    policy: Policy


class CaseSession:
    """Runs cases with the subjects, ledgers and policy of one request. ``directory`` has an entry for each case."""

    def __init__(
        self, request: RunRequest, directory: RunDirectory, clusters: Clusters, listeners: Sequence[Listener] = ()
    ) -> None:
        self.directory = directory
        self._request = request
        self._clusters = clusters
        self._listeners = listeners
        self._pair = Pair.of_subjects(*request.subjects)

    @classmethod
    def begin(
        cls,
        request: RunRequest,
        clusters: Clusters,
        root: Path,
        cases: Sequence[Case] = (),
        *,
        suffix: str = "",
        **instead: Any,
    ) -> "CaseSession":
        """
        Start a session with a new run directory below ``root``, the cases recorded as planned.

        The request must have a seed and come from ``execute.fetch``. suffix: appended to the run's name. instead:
        replaced fields of ``run.json``.
        """
        assert request.seed is not None
        planned = manifest_of(request, request.seed, cases)
        manifest = replace(planned, **{"run": planned.run + suffix, **instead})
        return cls(request, RunDirectory.create(root, manifest), clusters)

    def add(self, case: Case) -> CaseDirectory:
        """Plan one more case; if it never runs, it is judged INVALID."""
        return self.directory.add(lambda number: entry_of(number, case))

    def require_cluster(self, case: Case) -> None:
        """Start the cluster of a case. Raises the errors of Backend.start."""
        self._clusters.cluster(case.scenario.topology)

    def play(self, number: int, case: Case) -> None:
        """Run and seal a case without judging it. Raises the errors of StagedCase and Backend.start."""
        self.stage(number, case).play()

    def stage(self, number: int, case: Case) -> StagedCase:
        """Prepare a case for its stages, which raise the errors of Backend.start."""
        cluster, directory = partial(self._clusters.for_case, case.scenario.topology), self.directory.case(number)
        wanted = self._request.is_wire_wanted
        return StagedCase(cluster, directory, case, self._pair, self._listeners, is_wire_wanted=wanted)

    def run(self, number: int, case: Case) -> CaseAnswer:
        """
        Run a case and judge it alone.

        Raises HarnessError if the case cannot be completed. The next case then gets a new cluster.
        """
        try:
            self.play(number, case)
            return self.judge(number, case)
        except HarnessError:
            self._clusters.close()
            raise

    def judge(self, number: int, case: Case) -> CaseAnswer:
        """Judge a case that has run, alone. Raises TraceError."""
        judging = self._request.judging
        ledger = load_ledger(judging.ledgers, [case.scenario])
        results = judge_case(self.directory, number, judging.policy, ledger)
        verdict, _ = conclude(results, judging.policy)
        return CaseAnswer(verdict, results, judging.policy)

    def repeat(self, number: int, case: Case) -> None:
        """Run a case anew, in the place of the one of this number. Raises the errors of ``play``; the case is then aborted."""
        emit(self._listeners, CaseRepeated(number, str(case.id), self.directory.entry(number).why_broken))
        again = self.directory.repeat(number, lambda new: entry_of(new, case))
        try:
            self.play(again.number, case)
        except HarnessError as error:
            again.abort(str(error))
            raise

    def end(self) -> None:
        self.directory.end(wall_ms=time.time_ns() // 1_000_000)
