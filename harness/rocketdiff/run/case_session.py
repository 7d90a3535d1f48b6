"""Successive cases in one run directory: each runs on a cluster of the pool, and can be judged at once."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.events import Listener
from rocketdiff.judging.judge_runs import judge_case
from rocketdiff.judging.ledgers import load as load_ledger
from rocketdiff.run.case.case_run import Pair, run_case
from rocketdiff.run.manifest import entry_of, manifest_of
from rocketdiff.run.request import RunRequest
from rocketdiff.scenario import Case
from rocketdiff.traces.run_directory import CaseDirectory, RunDirectory
from rocketdiff.verdict.judge import RunVerdict, conclude


class Clusters(Protocol):
    """Source of clusters: cluster_pool.ClusterPool."""

    def cluster(self, topology: str) -> Cluster:
        """A cluster of this topology."""
        ...

    def for_case(self, topology: str) -> Cluster:
        """The same, counted as a case."""
        ...

    def close(self) -> None:
        """Ends the cluster."""
        ...


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """The results of one case, and the verdict on them."""

    verdict: RunVerdict
    results: tuple[CheckResult, ...]
    policy: Policy


class CaseSession:
    """Runs cases with the subjects, ledgers and policy of one request; ``directory`` has an entry for each."""

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
        Starts a session with a new run directory below ``root`` that records the cases as planned.

        The request must have a seed and come from ``execute.fetched``. suffix: for the run's name, which is made of time and seed.
        instead: fields of ``run.json`` that differ from those of an ordinary run.
        """
        assert request.seed is not None
        planned = manifest_of(request, request.seed, cases)
        manifest = replace(planned, **{"run": planned.run + suffix, **instead})
        return cls(request, RunDirectory.create(root, manifest), clusters)

    def add(self, case: Case) -> CaseDirectory:
        """Records one more case as planned, so that a case that never runs is judged INVALID."""
        return self.directory.add(lambda number: entry_of(number, case))

    def require_cluster(self, case: Case) -> None:
        """Makes sure that the cluster of a case is running; raises the errors of Backend.start."""
        self._clusters.cluster(case.scenario.topology)

    def play(self, number: int, case: Case) -> None:
        """Runs and seals a case, to be judged together with the others; raises the errors of run_case and Backend.start."""
        cluster = self._clusters.for_case(case.scenario.topology)
        wanted = self._request.is_wire_wanted
        run_case(cluster, self.directory.case(number), case, self._pair, self._listeners, is_wire_wanted=wanted)

    def run(self, number: int, case: Case) -> CaseAnswer:
        """
        Runs a case and judges it alone.

        Raises HarnessError if it cannot be completed; the next case then gets a new cluster.
        """
        judging = self._request.judging
        try:
            self.play(number, case)
            ledger = load_ledger(judging.ledgers, [case.scenario])
            results = judge_case(self.directory, number, judging.policy, ledger)
        except HarnessError:
            self._clusters.close()
            raise
        verdict, _ = conclude(results, judging.policy)
        return CaseAnswer(verdict, results, judging.policy)

    def end(self) -> None:
        """Records the end of the run."""
        self.directory.end(wall_ms=time.time_ns() // 1_000_000)
