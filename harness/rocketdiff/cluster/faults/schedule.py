"""
Faults at their times: one thread a node, so that faults of different nodes overlap freely and those of one node cannot.

A fault begins at its time, or as soon as the one before it on the same node is over and shown to be; it lasts as long
as asked for, counted from when it was in effect for certain. A fault without an end lasts until ``stop``. Whatever happens, every
node runs and answers when the schedule is over, or the outcome says which does not.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rocketdiff.cluster.faults.catalogue import FAULTS
from rocketdiff.cluster.faults.proof import prove_answer
from rocketdiff.cluster.faults.record import Fault, UnprovenFault
from rocketdiff.cluster.interface import Cluster, nodes_of
from rocketdiff.core.errors import ClusterError, FaultNotProven
from rocketdiff.core.fault import BY_SETTING, KILLS, FaultKind, FaultRecord, FaultSpec
from rocketdiff.core.topology import Topology

FaultListener = Callable[[FaultRecord], None]
"""Told of every fault twice, when it has begun and when it is over."""

_NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class ScheduleOutcome:
    """
    What was done, by time of injection, and what could not be shown.

    A problem makes what was measured invalid; it is data for the case, not a failure of the run.
    """

    records: tuple[FaultRecord, ...]
    problems: tuple[FaultNotProven, ...]


def run_schedule(
    cluster: Cluster,
    specs: Iterable[FaultSpec],
    origin_ns: int,
    on_event: FaultListener,
    stop: threading.Event,
    faults: Mapping[FaultKind, Fault] = FAULTS,
) -> ScheduleOutcome:
    """
    Run the faults relative to ``origin_ns`` on the monotonic clock; returns when all is healed.

    on_event is told of every fault when it has begun and when it is over, one call at a time, from other threads. When
    ``stop`` is set no further fault begins and those under way end. Raises UsageError, before anything is done, for a
    node that the topology has not.
    """
    by_node = _by_node(cluster.topology, specs)
    nodes = [NodeSchedule(cluster, of_node, origin_ns, stop, faults) for of_node in by_node.values()]
    telling = threading.Lock()

    def tell(record: FaultRecord) -> None:
        with telling:
            on_event(record)

    threads = [threading.Thread(target=node.run, args=(tell,), name="faults", daemon=True) for node in nodes]
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
    """The faults of one node, one after the other. Run by a thread of its own; ``records``, ``problems`` and ``error`` are complete when run() has returned."""

    def __init__(
        self,
        cluster: Cluster,
        specs: Sequence[FaultSpec],
        origin_ns: int,
        stop: threading.Event,
        faults: Mapping[FaultKind, Fault],
    ) -> None:
        self._cluster = cluster
        self._specs = sorted(specs, key=lambda spec: spec.at_s)
        self._origin_ns = origin_ns
        self._stop = stop
        self._faults = faults
        self.records: list[FaultRecord] = []
        self.problems: list[FaultNotProven] = []
        self.error: BaseException | None = None

    def run(self, tell: FaultListener) -> None:
        """Do every fault, and undo it, until there is none left or ``stop`` is set."""
        try:
            for spec in self._specs:
                self._sleep_until(self._origin_ns + round(spec.at_s * _NS_PER_S))
                if self._stop.is_set():
                    return
                self._do(spec, tell)
        except BaseException as error:  # noqa: BLE001  # a thread has nobody to raise to; the schedule raises it
            self.error = error
            self._stop.set()  # the schedule has failed; the other nodes' that wait for its end must not wait forever

    def _do(self, spec: FaultSpec, tell: FaultListener) -> None:
        fault = self._faults[spec.kind]
        record = self._proven(lambda: fault.inject(self._cluster, spec))
        self.records.append(record)
        tell(record)
        if spec.for_s is None:
            self._stop.wait()
        else:
            self._sleep_until(record.injected_ns + round(spec.for_s * _NS_PER_S))
        healed = self._proven(lambda: fault.heal(self._cluster, record))
        if spec.kind in BY_SETTING and healed.heal_proven_ns is None:
            # A process is made whole at the end of the schedule, a setting only here: the next case must not inherit it.
            self._require_undone(self._proven(lambda: fault.heal(self._cluster, record)))
        if spec.kind in KILLS and spec.for_s is None:
            return  # such a kill has no end within the case; the restart only makes the cluster whole again
        self.records[-1] = healed
        tell(healed)

    def _require_undone(self, healed: FaultRecord) -> None:
        """ClusterError, which gives the cluster up, for a setting that is still there, as far as is known."""
        if healed.heal_proven_ns is None:
            raise ClusterError(
                f"the end of {healed.kind} on {healed.node} to be shown, at the second try at least",
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
        """Sleep until a moment of the monotonic clock, or until ``stop`` is set."""
        remaining_ns = due_ns - time.monotonic_ns()
        if remaining_ns > 0:
            self._stop.wait(remaining_ns / _NS_PER_S)


class ScheduleThread:
    """A schedule that runs beside the caller; stop() may come at any time and more than once."""

    def __init__(
        self,
        cluster: Cluster,
        specs: Iterable[FaultSpec],
        origin_ns: int,
        on_event: FaultListener,
        faults: Mapping[FaultKind, Fault] = FAULTS,
    ) -> None:
        """Start it. The node names should have been checked before: their UsageError comes out of join()."""
        self._stop = threading.Event()
        self._outcome: ScheduleOutcome | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(
            target=self._run, args=(cluster, tuple(specs), origin_ns, on_event, faults), name="schedule", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Begin no further fault and end those under way."""
        self._stop.set()

    def join(self) -> ScheduleOutcome:
        """Wait until all is healed; raises what the schedule or a listener raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._outcome is not None
        return self._outcome

    def _run(
        self,
        cluster: Cluster,
        specs: tuple[FaultSpec, ...],
        origin_ns: int,
        on_event: FaultListener,
        faults: Mapping[FaultKind, Fault],
    ) -> None:
        try:
            self._outcome = run_schedule(cluster, specs, origin_ns, on_event, self._stop, faults)
        except BaseException as error:  # noqa: BLE001  # a thread has nobody to raise to; join() raises it
            self._error = error


def heal_all_proven(cluster: Cluster) -> list[FaultNotProven]:
    """Resume and restart whatever needs it and ask every node; what does not answer is a problem."""
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
        by_node.setdefault(topology.node_named(spec.kind.traits.role, spec.node), []).append(spec)
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
