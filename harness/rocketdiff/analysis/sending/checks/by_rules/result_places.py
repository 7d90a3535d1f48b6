"""
Do the candidate's results name the broker, queue and offset that the baseline's name? A part of the check ``queue-choice``.

Asked of Java and the reference, and of a client whose other results in this case name them: some clients' results name none.
"""

import numpy as np

from rocketdiff.analysis.sending.checks.context import TableObserver
from rocketdiff.analysis.sending.send_arrays import is_null, is_one_of
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.signatures import RESULT_WITHOUT_PLACE
from rocketdiff.traces.schema import TableName

FIELDS = ("broker", "queue_id", "queue_offset")


class ResultPlaces(TableObserver):
    """Compares the acknowledged sends of both arms; one-way sends have no result."""

    def finish(self) -> None:
        """Note the first result that lacks each field."""
        trace = self._context.trace
        if self._context.rulebook.habits.confuses_answers:
            return
        must_name = SubjectId.parse(trace.subjects[Arm.CANDIDATE]).rules is not None
        tables = {arm: trace.table(TableName.SENDS, arm) for arm in Arm}
        numbers = [table.column("send").to_numpy() for table in tables.values()]
        _, *rows = np.intersect1d(numbers[0], numbers[1], assume_unique=True, return_indices=True)
        at = dict(zip(Arm, rows, strict=True))
        acknowledged = np.ones(at[Arm.BASELINE].size, dtype=np.bool_)
        for arm, table in tables.items():
            has_result = is_null(table.column("error")) & ~is_one_of(table.column("mode"), SendMode.ONEWAY)
            acknowledged &= has_result[at[arm]]
        for field in FIELDS:
            lacks = {arm: is_null(table.column(field))[at[arm]] for arm, table in tables.items()}
            missing = acknowledged & lacks[Arm.CANDIDATE] & ~lacks[Arm.BASELINE]
            names_others = bool((acknowledged & ~lacks[Arm.CANDIDATE]).any())
            if missing.any() and (names_others or must_name):
                count, of = int(missing.sum()), int(acknowledged.sum())
                self._note(field, int(at[Arm.CANDIDATE][missing.argmax()]), f"none in {count} of {of} results")

    def _note(self, field: str, row: int, observed: str) -> None:
        sends = self._context.sends(Arm.CANDIDATE)
        self._collector.differ_at(
            RESULT_WITHOUT_PLACE,
            Arm.CANDIDATE,
            place=field,
            thread=int(sends.thread[row]),
            send=int(sends.number[row]),
            phase=str(self._context.times.phase_at(int(sends.start[row]))),
            at_ns=int(sends.end[row]),
            expected=f"{field} in the result, as in the baseline's",
            observed=observed,
        )
