"""The check ``resources`` of producers: how many threads a pool without a limit would have."""

import numpy as np

from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.checks.resources import AT_ONCE, NAME, evaluate
from rocketdiff.analysis.sending.checks.context import SendCheck, TableObserver
from rocketdiff.core.arm import Arm
from rocketdiff.traces.schema import TableName


class SendsAtOnce(TableObserver):
    """Counts the most sends of each arm that were under way at one time."""

    def finish(self) -> None:
        for arm in Arm:
            sends = self._context.trace.table(TableName.SENDS, arm)
            begins, ends = (np.sort(sends.column(name).to_numpy()) for name in ("start_ns", "end_ns"))
            under_way = np.arange(1, len(begins) + 1) - np.searchsorted(ends, begins, side="right")
            self._collector.count(AT_ONCE, str(arm), "", "sends", n=int(under_way.max(initial=0)))


CODE: SendCheck = CheckCode(NAME, observers=(SendsAtOnce,), evaluate=evaluate)
"""Of every role: the samples of a group's members need no observer."""
