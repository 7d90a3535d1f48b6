"""
Did a failed send end with the exception, cause and code that the rules require, and a stored one with the right status?

Relevant are sends that failed or were stored with a status other than SEND_OK, and that the rules could judge to their
end; the measures count all. Exact, never statistical.
"""

import math

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.sending.checks.by_rules.replay_checks import (
    judged_before,
    judged_evidence,
    note_differences,
    note_met,
    or_missed,
)
from rocketdiff.analysis.sending.checks.context import CaseObserver, SendCheck
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.answers.verdict import Measure
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.outcome import is_stored_with_reserve

NAME = "error-kind"
SEEN = "error-kind.seen"
"""Tally of all sends that failed or were stored with a reserve, judged or not."""


class ErrorKind(CaseObserver):
    """Counts such sends by exception or status; notes a wrong one."""

    def observe(self, send: AlignedSend) -> None:
        note_differences(NAME, send, self._collector)
        for side in send.sides:
            if side.row is not None and not _went_well(side.row):
                for tally in (SEEN, NAME) if judged_before(side) == math.inf else (SEEN,):
                    seen = side.row.error or str(side.row.status)
                    self._collector.count(tally, str(side.arm), str(side.phase), seen)
                if judged_before(side) == math.inf:
                    # Which exception ends a send may depend on when a connection breaks; that the send fails does not.
                    note_met(NAME, side, self._collector, "failed" if side.row.error else str(side.row.status))


def _went_well(row: Send) -> bool:
    return row.error is None and not is_stored_with_reserve(row.status)


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence with the number of such sends, by exception or status."""
    measures = tuple(
        Measure(f"{error} {arm}", facts.n(SEEN, error, arm=str(arm)), "count", facts.n("sends", arm=str(arm)))
        for arm in Arm
        for error in facts.keys(SEEN, str(arm))
    )
    never = "no send failed in either arm, nor returned a status other than SEND_OK"
    return or_missed(facts, judged_evidence(facts, NAME, never=never, measures=measures))


CODE: SendCheck = CheckCode(NAME, observers=(ErrorKind,), evaluate=evaluate)
