"""
The order in which the client's threads chose the queues of asynchronous attempts, as arrays.

The thread that chooses, of a pool of the client or the application's, has its own counter. Along each counter a first attempt follows
another if it took the next queue. A retry moves the counter by an unknown number of steps.
"""

from dataclasses import dataclass

import numpy as np

from rocketdiff.analysis.case_trace import CaseTrace, integers, integers_or
from rocketdiff.analysis.sending.columns.arm_columns import MISSING, ArmColumns, Ints, Mask
from rocketdiff.core.arm import Arm
from rocketdiff.oracle.producer.asynchronous.sends import POOL
from rocketdiff.traces.schema import TableName


@dataclass(frozen=True, slots=True)
class Choices:
    """Arrays by attempt, in the order of (thread that chose, time). follows: one of the same thread comes before it."""

    views: Ints
    threads: Ints
    at_ns: Ints
    is_retry: Mask
    follows: Mask

    def keeping(self, simple: Mask, position: Ints, total: Ints, route: Ints) -> Mask:
        """Return, by attempt, whether it is the only one of a simple view and took the queue after the one chosen before."""
        views, before = self.views, self.views[:-1]
        keeps = simple[views] & ~self.is_retry & self.follows
        in_turn = (position[before] >= 0) & (
            position[views[1:]] == (position[before] + 1) % np.maximum(total[before], 1)
        )
        keeps[1:] &= ~self.is_retry[:-1] & in_turn & (route[before] == route[views[1:]])
        return keeps


def choices_of(trace: CaseTrace, arm: Arm, columns: ArmColumns) -> Choices | None:
    """Return the choices of an arm; None if a send has no attempt or no end, so that others may have been made unseen."""
    if bool((columns.attempts == 0).any()) or bool((columns.send_row < 0).any()):
        return None
    table = trace.tables[TableName.ATTEMPTS, arm]
    views = np.repeat(np.arange(columns.keys.size), columns.attempts)
    chooser, at_ns = integers_or(table.column("chooser"), MISSING), integers(table.column("start_ns"))
    threads = np.where(chooser == MISSING, columns.threads[views], POOL + chooser)
    order = np.lexsort((columns.sends[views], at_ns, threads))
    threads = threads[order]
    follows = np.concatenate(([False], threads[1:] == threads[:-1]))
    is_retry = integers(table.column("attempt"))[order] > 0
    return Choices(views[order], threads, at_ns[order], is_retry, follows)
