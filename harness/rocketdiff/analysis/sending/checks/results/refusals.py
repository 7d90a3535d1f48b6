"""
Does a client refuse, before any request, the messages that the other refuses, and with the same exception?

An exact part of the check ``outcomes``, of sends that no fault can have failed. The class of the exception, its cause and its
code are compared; its text is only shown, because releases word it differently. If a client refuses every message of a case,
the checks of requests and of stored messages have no answer.
"""

from collections.abc import Iterator

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.sending.checks.context import CaseContext, CaseObserver
from rocketdiff.analysis.sending.send_view import Phase, SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.analysis.sending.steps.rulebook import reports_causes
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.knowable import nothing_got_through
from rocketdiff.core.sends.outcome import is_error_word, is_refusal
from rocketdiff.core.tables.checks import CHECKS
from rocketdiff.core.tables.signatures import (
    REFUSED_BEFORE_A_REQUEST,
    REFUSED_OTHERWISE,
    SENT_THOUGH_REFUSED,
    Signature,
)
from rocketdiff.traces.schema import TableName

REFUSED = "outcomes.refused"
"""Tally of refused sends, by their end."""

ANSWERED_WITHOUT_REQUESTS = frozenset({"outcomes", "callbacks", "resources", "protocol", "validity"})


class Refusals(CaseObserver):
    """Compares what each arm refused."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context)
        self._has_causes = all(reports_causes(context.trace, arm) for arm in Arm)

    def observe(self, send: AlignedSend) -> None:
        ends = {side.arm: refusal_of(side) for side in send.sides}
        for arm, end in ends.items():
            if end is not None:
                self._collector.count(REFUSED, str(arm), str(Phase.CALM), end)
        rows = {side.arm: side.row for side in send.sides}
        baseline, candidate = rows.get(Arm.BASELINE), rows.get(Arm.CANDIDATE)
        if baseline is None or candidate is None:
            return
        expected, seen = ends[Arm.BASELINE], ends[Arm.CANDIDATE]
        if expected is not None and seen is not None:
            if not self._are_alike(baseline, candidate):
                self._differ(send, REFUSED_OTHERWISE, _words(baseline), _words(candidate), seen)
        elif seen is not None:
            self._differ(send, REFUSED_BEFORE_A_REQUEST, "a request: the baseline sends it", _words(candidate), seen)
        elif expected is not None:
            tried = f"{len(candidate.attempts)} attempts, {candidate.error or candidate.status}"
            self._differ(send, SENT_THOUGH_REFUSED, _words(baseline), tried, expected)

    def _are_alike(self, one: Send, other: Send) -> bool:
        """One error word stands for every refusal."""
        if is_error_word(one.error) or is_error_word(other.error):
            return True
        causes_alike = not self._has_causes or one.cause == other.cause
        return (one.error, one.code) == (other.error, other.code) and causes_alike

    def _differ(self, send: AlignedSend, signature: Signature, expected: str, observed: str, place: str) -> None:
        side = send.side(Arm.CANDIDATE)
        assert side is not None
        self._collector.differ(signature, send, side, expected=expected, observed=observed, place=place)


def refusal_of(side: SendView) -> str | None:
    """The end of a send that its client refused before any request, and before any fault; else None."""
    row = side.row
    if row is None or row.attempts or side.phase is not Phase.CALM or not is_refusal(row.error, row.code, row.cause):
        return None
    return _end(row)


def _end(row: Send) -> str:
    code = "" if row.code is None else f"/code={row.code}"
    return f"{row.error}{code}{'' if row.cause is None else f'/cause={row.cause}'}"


def _words(row: Send) -> str:
    why = f": {' '.join(row.message.split())}" if row.message else ""
    return f"refused before any request, {_end(row)}{why}"


def without_requests(trace: CaseTrace, arm: Arm) -> Iterator[tuple[str, str]]:
    """Checks that have no answer because an arm refused every message, each with the reason."""
    sends, attempts = (trace.tables.get((name, arm)) for name in (TableName.SENDS, TableName.ATTEMPTS))
    if sends is None or not sends.num_rows or attempts is None or attempts.num_rows or sends.column("error").null_count:
        return
    ends = set(zip(*(sends.column(name).to_pylist() for name in ("error", "code", "cause")), strict=True))
    if all(is_refusal(*end) for end in ends):
        why = nothing_got_through(
            f"{trace.subjects[arm]} refused", sends.num_rows, ", ".join(sorted({str(end[0]) for end in ends}))
        )
        yield from ((check, why) for check in CHECKS if check not in ANSWERED_WITHOUT_REQUESTS)
