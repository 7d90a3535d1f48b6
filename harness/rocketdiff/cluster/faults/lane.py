"""The faults of one node, one after the other, at their times."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence

from rocketdiff.cluster.faults.catalogue import Fault
from rocketdiff.cluster.faults.record import UnprovenFault
from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.errors import ClusterError, FaultNotProven
from rocketdiff.core.fault import BY_SETTING, KILLS, FaultKind, FaultRecord, FaultSpec

FaultListener = Callable[[FaultRecord], None]
"""Told of every fault twice, when it has begun and when it is over."""

_NS_PER_S = 1_000_000_000


class Lane:
    """Run by a thread of its own; ``records``, ``problems`` and ``error`` are complete when run() has returned."""

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
            self._stop.set()  # the schedule has failed; lanes that wait for its end must not wait forever

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
