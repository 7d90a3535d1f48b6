"""Cases one after another, in one run directory: each on a cluster of the pool, judged alone as soon as it has run."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.events import Listener
from rocketdiff.core.policy import Policy
from rocketdiff.core.verdict import CheckResult
from rocketdiff.judging.judge_runs import judge_case
from rocketdiff.judging.ledgers import load as load_ledger
from rocketdiff.run.case import Pair, run_case
from rocketdiff.run.manifest import entry_of, manifest_of
from rocketdiff.run.request import RunRequest
from rocketdiff.scenario import Case
from rocketdiff.subjects.registry import program_of
from rocketdiff.traces.case_directory import CaseDirectory
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judge import RunVerdict, conclude


class Clusters(Protocol):
    """Where cases get their cluster from: cluster_pool.ClusterPool."""

    def cluster(self, topology: str) -> Cluster:
        """One of this topology that serves."""
        ...

    def for_case(self, topology: str) -> Cluster:
        """The same for one more case."""
        ...

    def close(self) -> None:
        """End it."""
        ...


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """Every check of one case, and the word they add up to."""

    verdict: RunVerdict
    results: tuple[CheckResult, ...]
    policy: Policy


class CaseSession:
    """The cases of one request, with its clients, ledgers and policy; ``directory`` has an entry for each."""

    def __init__(
        self, request: RunRequest, directory: RunDirectory, clusters: Clusters, listeners: Sequence[Listener] = ()
    ) -> None:
        self.directory = directory
        self._request = request
        self._clusters = clusters
        self._listeners = listeners
        self._pair = Pair.of(*map(program_of, request.subjects))

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
        A session with a new run directory below ``root``, in which the cases are put down as planned.

        The request has a seed, and has been ``fetched``. suffix: of the run's name, which is otherwise made of time and seed.
        instead: what ``run.json`` says otherwise than of a run.
        """
        assert request.seed is not None
        planned = manifest_of(request, request.seed, cases)
        manifest = replace(planned, **{"run": planned.run + suffix, **instead})
        return cls(request, RunDirectory.create(root, manifest), clusters)

    def add(self, case: Case) -> CaseDirectory:
        """Put one more case down, so that whatever keeps it from running is missed by the judge."""
        return self.directory.add(lambda number: entry_of(number, case))

    def require_cluster(self, case: Case) -> None:
        """See that the cluster of a case is up; raises what the pool raises."""
        self._clusters.cluster(case.scenario.topology)

    def play(self, number: int, case: Case) -> None:
        """Run a case and seal it, to be judged with all the others; raises what run_case and the pool raise."""
        cluster = self._clusters.for_case(case.scenario.topology)
        wanted = self._request.is_wire_wanted
        run_case(cluster, self.directory.case(number), case, self._pair, self._listeners, is_wire_wanted=wanted)

    def run(self, number: int, case: Case) -> CaseAnswer:
        """
        Run a case and judge it alone.

        Raises HarnessError for what keeps it from going on; the next case gets a new cluster then.
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
        """No more cases."""
        self.directory.end(wall_ms=time.time_ns() // 1_000_000)
