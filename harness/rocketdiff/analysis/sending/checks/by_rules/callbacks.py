"""
Was the callback of every asynchronous send called exactly once, when its answer had come (``late_callbacks``)?

Counts calls within the limit ``callback_limit_ms``, which covers every attempt with its timeout and the seconds in
which a client scans for timeouts. By rule some releases lose a callback (4.0.0: a given queue after a failure; up to
4.6.1: whenever requests are repeated, because two share an opaque) or call it twice (5.3.0 to 5.3.3: a connection that
came too late). Both arms are held to the rules of the baseline's release, and such calls are allowed only where a fault
may be the cause or the first callback names it. Exact, except that a candidate that lost far more callbacks to faults
than the baseline is not cleared.
"""

from collections.abc import Mapping

from rocketdiff.analysis.checks.case_facts import CaseFacts, counted, standing_with
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.sending.checks.by_rules.late_callbacks import LateCallbacks
from rocketdiff.analysis.sending.checks.calm_counts import CalmCount
from rocketdiff.analysis.sending.checks.context import CaseContext, CaseObserver, SendCheck
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Measure
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import NEVER_CALLED_BACK, Send
from rocketdiff.core.tables.signatures import CALLED_MORE_THAN_ONCE, NEVER_CALLED, Signature

NAME = "callbacks"
EXCUSED = "callbacks.excused"
"""Tally of missing callbacks that the rules allow."""

EXCUSED_BOUND = 0.05
"""
Share of the candidate's callbacks that may be lost by rule, or twice the baseline's share if that is more. The rules
say that a callback can be lost, not which, so only the baseline shows what is usual.
"""

_TOO_LATE = "RemotingTooMuchRequestException"


class Callbacks(CaseObserver):
    """Counts callbacks; notes a send with none, or more than one."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context)
        self._habits = context.rulebook.habits

    def observe(self, send: AlignedSend) -> None:
        for side in send.sides:
            if side.row is not None and side.row.callbacks is not None:
                self._count(send, side, side.row, side.row.callbacks)

    def _count(self, send: AlignedSend, side: SendView, row: Send, callbacks: int) -> None:
        is_given_up = row.error == NEVER_CALLED_BACK  # calls after the limit are counted, but not waited for
        key = "never" if is_given_up else {0: "never", 1: "once"}.get(callbacks, "more")
        self._collector.count(NAME, str(side.arm), str(side.phase), key)
        if key == "never":
            if self._context.loses_callback(row) or self._context.confuses_answers(side):
                self._collector.count(EXCUSED, str(side.arm), str(side.phase), "never")
            else:
                late = f", and {callbacks} times after it" if callbacks else ""
                self._note(NEVER_CALLED, send, side, f"the callback was not called within the limit{late}")
        most = self._habits.most_callbacks if _came_too_late(row) else 1
        if not is_given_up and callbacks > most:
            self._note(CALLED_MORE_THAN_ONCE, send, side, f"the callback was called {callbacks} times")

    def _note(self, signature: Signature, send: AlignedSend, side: SendView, observed: str) -> None:
        self._collector.differ(signature, send, side, expected="one call of the callback", observed=observed)


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence with the number of callbacks of each arm."""
    seen = {arm: facts.n(NAME, arm=str(arm)) for arm in Arm}
    standing, reason = standing_with(facts, seen, "{} reported no asynchronous send")
    excused = {arm: facts.n(EXCUSED, arm=str(arm)) for arm in Arm}
    if standing is Standing.DECISIVE and _is_too_much(excused, seen):
        lost, made = excused[Arm.CANDIDATE], seen[Arm.CANDIDATE]
        standing = Standing.INDECISIVE
        reason = f"{lost} of {made} callbacks of {facts.subjects[Arm.CANDIDATE]} may or may not be lost by rule"
    measures = (
        *counted(facts, "called-back", NAME, "once", "more"),
        *counted(facts, "never-called-back", NAME, "never"),
        *(
            Measure(f"never-called-back-by-rule {arm}", excused[arm], "count", seen[arm])
            for arm in Arm
            if any(excused.values())
        ),
    )
    return facts.evidence(NAME, standing, reason, decisions=sum(seen.values()), measures=measures)


def _came_too_late(row: Send) -> bool:
    return _TOO_LATE in (row.error, row.cause)


def _is_too_much(excused: Mapping[Arm, int], seen: Mapping[Arm, int]) -> bool:
    share = {arm: excused[arm] / seen[arm] for arm in Arm}
    return share[Arm.CANDIDATE] > max(EXCUSED_BOUND, 2 * share[Arm.BASELINE])


CODE: SendCheck = CheckCode(
    NAME,
    observers=(Callbacks, LateCallbacks),
    evaluate=evaluate,
    calm=(CalmCount(NAME, "once", lambda sends: sends.called_back),),
)
