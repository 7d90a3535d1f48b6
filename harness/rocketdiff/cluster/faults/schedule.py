"""
Faults at their times: one thread per node, so that faults overlap on different nodes but never on one node.

A fault begins at its time, or when the previous one on the same node is proven to be over. Its duration counts from when it was
certainly in effect. A fault without an end lasts until ``stop``. After the schedule every node runs and answers, or is among
the problems of the outcome.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rocketdiff.cluster.faults.catalogue import FAULTS
from rocketdiff.cluster.faults.proof import prove_answer
from rocketdiff.cluster.faults.record import FaultAction, UnprovenFault
from rocketdiff.cluster.interface import Cluster, nodes_of
from rocketdiff.core.errors import ClusterError, FaultNotProven
from rocketdiff.core.tables.fault import BY_SETTING, KILLS, FaultKind, FaultRecord, FaultSpec
from rocketdiff.core.tables.topology import Topology
from rocketdiff.core.units import NS_PER_S

FaultListener = Callable[[FaultRecord], None]
"""Called at the begin and at the end of every fault."""


@dataclass(frozen=True, slots=True)
class ScheduleOutcome:
    """
    The faults, by time of injection, and what could not be proven.

    A problem makes the case invalid; it is not a failure of the run.
    """

    records: tuple[FaultRecord, ...]
    problems: tuple[FaultNotProven, ...]


def run_schedule(
    cluster: Cluster,
    specs: Iterable[FaultSpec],
    origin_ns: int,
    on_event: FaultListener,
    stop: threading.Event,
    faults: Mapping[FaultKind, FaultAction] = FAULTS,
) -> ScheduleOutcome:
    """
    Run the faults relative to ``origin_ns`` on the monotonic clock; return when all are healed.

    on_event: called from other threads, one call at a time. When ``stop`` is set, no further fault begins and active ones end.
    Raises UsageError before the first action for a node that is not in the topology.
    """
    by_node = _by_node(cluster.topology, specs)
    nodes = [NodeSchedule(cluster, of_node, origin_ns, stop, faults) for of_node in by_node.values()]
    one_call = threading.Lock()

    def notify(record: FaultRecord) -> None:
        with one_call:
            on_event(record)

    threads = [threading.Thread(target=node.run, args=(notify,), name="faults", daemon=True) for node in nodes]
    for thread in threads:
        thread.start()
    try:
        _join(threads)
    except BaseException:
        stop.set()
        _join(threads)
        raise
    finally:
        leftover = heal_all_proven(cluster)
    return _outcome(nodes, leftover)


class NodeSchedule:
    """The faults of one node, in sequence, for one thread. ``records``, ``problems`` and ``error`` are complete after run()."""

    def __init__(
        self,
        cluster: Cluster,
        specs: Sequence[FaultSpec],
        origin_ns: int,
        stop: threading.Event,
        faults: Mapping[FaultKind, FaultAction],
    ) -> None:
        self._cluster = cluster
        self._specs = sorted(specs, key=lambda spec: spec.at_s)
        self._origin_ns = origin_ns
        self._stop = stop
        self._faults = faults
        self.records: list[FaultRecord] = []
        self.problems: list[FaultNotProven] = []
        self.error: BaseException | None = None

    def run(self, notify: FaultListener) -> None:
        try:
            for spec in self._specs:
                self._sleep_until(self._origin_ns + round(spec.at_s * NS_PER_S))
                if self._stop.is_set():
                    return
                self._do(spec, notify)
        except BaseException as error:  # noqa: BLE001  # raised by the schedule, because this is a thread
            self.error = error
            self._stop.set()  # otherwise the threads of other nodes would wait forever

    def _do(self, spec: FaultSpec, notify: FaultListener) -> None:
        fault = self._faults[spec.kind]
        record = self._proven(lambda: fault.inject(self._cluster, spec))
        self.records.append(record)
        notify(record)
        if spec.for_s is None:
            self._stop.wait()
        else:
            self._sleep_until(record.injected_ns + round(spec.for_s * NS_PER_S))
        healed = self._proven(lambda: fault.heal(self._cluster, record))
        if spec.kind in BY_SETTING and healed.heal_proven_ns is None:
            # The end of the schedule heals processes, not settings. The next case must not start with this setting.
            self._require_undone(self._proven(lambda: fault.heal(self._cluster, record)))
        if spec.kind in KILLS and spec.for_s is None:
            return  # this kill has no end within the case; the restart only heals the cluster
        self.records[-1] = healed
        notify(healed)

    def _require_undone(self, healed: FaultRecord) -> None:
        """Raise ClusterError, which ends the use of the cluster, for a setting that may still be in effect."""
        if healed.heal_proven_ns is None:
            raise ClusterError(
                f"the end of {healed.kind} on {healed.node} to be proven, at the latest on the second try",
                seen=self.problems[-1].seen,
                hint="run again: every later case on this cluster would have had that setting",
            )

    def _proven(self, act: Callable[[], FaultRecord]) -> FaultRecord:
        try:
            return act()
        except UnprovenFault as error:
            self.problems.append(error)
            return error.record

    def _sleep_until(self, due_ns: int) -> None:
        remaining_ns = due_ns - time.monotonic_ns()
        if remaining_ns > 0:
            self._stop.wait(remaining_ns / NS_PER_S)


class ScheduleThread:
    """A schedule in its own thread. stop() may be called at any time and more than once."""

    def __init__(
        self,
        cluster: Cluster,
        specs: Iterable[FaultSpec],
        origin_ns: int,
        on_event: FaultListener,
        faults: Mapping[FaultKind, FaultAction] = FAULTS,
    ) -> None:
        """Start the schedule. Check the node names before: join() raises the UsageError for an unknown one."""
        self._stop = threading.Event()
        self._outcome: ScheduleOutcome | None = None
        self._error: BaseException | None = None
        schedule = partial(run_schedule, cluster, tuple(specs), origin_ns, on_event, self._stop, faults)
        self._thread = threading.Thread(target=self._run, args=(schedule,), name="schedule", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()

    def join(self) -> ScheduleOutcome:
        """Wait until all is healed; raise what the schedule or a listener raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._outcome is not None
        return self._outcome

    def _run(self, schedule: Callable[[], ScheduleOutcome]) -> None:
        try:
            self._outcome = schedule()
        except BaseException as error:  # noqa: BLE001  # raised by join(), because this is a thread
            self._error = error


def heal_all_proven(cluster: Cluster) -> list[FaultNotProven]:
    """Resume and restart nodes and probe all; return a problem for each node that does not answer."""
    try:
        cluster.heal_all()
    except ClusterError as error:
        return [FaultNotProven(error.expected, seen=error.seen, hint=error.hint)]
    problems = []
    for node in nodes_of(cluster):
        try:
            prove_answer(node)
        except FaultNotProven as error:
            problems.append(error)
    return problems


def _by_node(topology: Topology, specs: Iterable[FaultSpec]) -> dict[str, list[FaultSpec]]:
    by_node: dict[str, list[FaultSpec]] = {}
    for spec in specs:
        by_node.setdefault(topology.node_named(spec.kind.traits.node, spec.node), []).append(spec)
    return by_node


def _join(threads: Iterable[threading.Thread]) -> None:
    for thread in threads:
        thread.join()


def _outcome(nodes: Iterable[NodeSchedule], leftover: Iterable[FaultNotProven]) -> ScheduleOutcome:
    records: list[FaultRecord] = []
    problems: list[FaultNotProven] = []
    for node in nodes:
        if node.error is not None:
            raise node.error
        records += node.records
        problems += node.problems
    records.sort(key=lambda record: record.inject_ns)
    return ScheduleOutcome(tuple(records), (*problems, *leftover))
