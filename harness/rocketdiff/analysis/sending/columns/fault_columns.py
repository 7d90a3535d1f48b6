"""The phase of each instant, and the attempts that a fault of their broker may have met, for arrays."""

from collections.abc import Iterable

import numpy as np

from rocketdiff.analysis.fault_windows import Windows, first_fault_ns
from rocketdiff.analysis.sending.columns.arm_columns import Ints, Mask, WordDictionary
from rocketdiff.analysis.sending.send_view import PHASES, Phase
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.core.tables.topology import master_of, may_meet


def phase_codes(faults: Iterable[FaultRecord], instants: Ints) -> Ints:
    """Return the index into PHASES of each instant, as ``FaultTimes.phase_at``."""
    faults = tuple(faults)
    codes = np.zeros(instants.size, dtype=np.int64)
    first_ns = first_fault_ns(faults)
    if first_ns is not None:
        codes[instants >= first_ns] = PHASES.index(Phase.AFTER)
        codes[Windows.of_faults(faults).hold_many(instants)] = PHASES.index(Phase.PAUSED)
    return codes


def near_faults(faults: Iterable[FaultRecord], brokers: WordDictionary, codes: Ints, starts: Ints, ends: Ints) -> Mask:
    """True for each attempt during which a fault of its broker or the broker's slave may have been in force; errs to True."""
    near = np.zeros(starts.size, dtype=np.bool_)
    faults = tuple(faults)
    for code, broker in enumerate(brokers.words):
        own = [fault for fault in faults if may_meet(fault.node, broker) or master_of(fault.node) == broker]
        if own:
            here = np.flatnonzero(codes == code)
            met = Windows.of(map(_with_edges, own)).meet_many(starts[here], ends[here])
            near[here[met]] = True
    return near


def _with_edges(fault: FaultRecord) -> tuple[int, int | None]:
    return fault.inject_ns - 1, None if fault.heal_ns is None else fault.heal_ns + 1
