"""
Faults at their times: one lane a node, so that faults of different nodes overlap freely and those of one node cannot.

A fault begins at its time, or as soon as the one before it on the same node is over and shown to be; it lasts as long
as asked for, counted from when it was in effect for certain. A fault without an end lasts until ``stop``. Whatever happens, every
node runs and answers when the schedule is over, or the outcome says which does not.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rocketdiff.cluster.faults.catalogue import FAULTS, Fault
from rocketdiff.cluster.faults.lane import FaultListener, Lane
from rocketdiff.cluster.faults.proof import prove_answer
from rocketdiff.cluster.interface import Cluster, nodes_of
from rocketdiff.core.errors import ClusterError, FaultNotProven
from rocketdiff.core.fault import OF_SLAVES, FaultKind, FaultRecord, FaultSpec
from rocketdiff.core.topology import Topology


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
    lanes = [Lane(cluster, of_node, origin_ns, stop, faults) for of_node in by_node.values()]
    telling = threading.Lock()

    def tell(record: FaultRecord) -> None:
        with telling:
            on_event(record)

    threads = [threading.Thread(target=lane.run, args=(tell,), name="faults", daemon=True) for lane in lanes]
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
    return _outcome(lanes, leftover)


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
        by_node.setdefault(_node_name(topology, spec), []).append(spec)
    return by_node


def _node_name(topology: Topology, spec: FaultSpec) -> str:
    if spec.kind is FaultKind.PAUSE_NAME_SERVER:
        return topology.name_server_named(spec.node)
    return topology.slave_named(spec.node) if spec.kind in OF_SLAVES else topology.broker_named(spec.node)


def _join(threads: Iterable[threading.Thread]) -> None:
    for thread in threads:
        thread.join()


def _outcome(lanes: Iterable[Lane], leftover: Iterable[FaultNotProven]) -> ScheduleOutcome:
    records: list[FaultRecord] = []
    problems: list[FaultNotProven] = []
    for lane in lanes:
        if lane.error is not None:
            raise lane.error
        records += lane.records
        problems += lane.problems
    records.sort(key=lambda record: record.inject_ns)
    return ScheduleOutcome(tuple(records), (*problems, *leftover))
