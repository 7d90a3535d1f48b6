"""Collects the facts of one case about producers; a difference shows its send in both arms."""

from collections.abc import Mapping

import msgspec

from rocketdiff.analysis.fact_collector import FactCollector
from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.answers.plots import LaneAttempt
from rocketdiff.core.answers.verdict import CallEnd, SideExample, StoredAt, difficulty
from rocketdiff.core.answers.where import NO_NUMBER
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.tables.signatures import Signature
from rocketdiff.core.units import NS_PER_MS


class SendFacts(FactCollector):
    """Facts of one case whose differences are of sends."""

    def differ(
        self,
        signature: Signature,
        send: AlignedSend,
        side: SendView,
        *,
        expected: str,
        observed: str,
        place: str = "",
        of_rules: bool = False,
        attempt: int | None = None,
        rules: Mapping[str, object] | None = None,
    ) -> None:
        """Note a difference. place: further part of the signature; of_rules: the rules do not explain the baseline."""
        sides = (self._shown(Arm.BASELINE, send.baseline), self._shown(Arm.CANDIDATE, send.candidate))
        self.note(
            DifferenceFact(
                check=signature.check,
                signature=signature.text(place, of_rules=of_rules),
                arm=str(side.arm),
                thread=send.thread,
                send=send.send,
                attempt=attempt,
                phase=str(side.phase_of(attempt)),
                at_ns=side.began_ns,
                weight=difficulty(sides),
                expected=expected,
                observed=observed,
                sides=sides,
                figures={"rules": msgspec.to_builtins(dict(rules or {}), enc_hook=str)},
            )
        )

    def differ_at(
        self,
        signature: Signature,
        arm: Arm,
        *,
        at_ns: int,
        phase: str,
        expected: str,
        observed: str,
        send: int = NO_NUMBER,
        thread: int = 0,
        attempt: int | None = None,
        place: str = "",
        of_rules: bool = False,
    ) -> None:
        """Note a difference that tables show: of a send that no observer saw, or of none."""
        self.note(
            DifferenceFact(
                check=signature.check,
                signature=signature.text(place, of_rules=of_rules),
                arm=str(arm),
                thread=thread,
                send=send,
                attempt=attempt,
                phase=phase,
                at_ns=at_ns,
                weight=int(send != NO_NUMBER),
                expected=expected,
                observed=observed,
            )
        )

    def _shown(self, arm: Arm, side: SendView | None) -> SideExample:
        if side is None:
            return SideExample(str(arm), stored=())
        copies = tuple(StoredAt(copy.broker, copy.queue_id, copy.queue_offset) for copy in side.copies or ())
        attempts = tuple(lane_attempt(side, attempt, self.origin_ns) for attempt in side.attempts)
        return SideExample(str(arm), attempts, _call(side), copies)


def lane_attempt(side: SendView, attempt: Attempt, origin_ns: int) -> LaneAttempt:
    """Return an attempt as a report shows it, in ms from the origin of the case."""
    return LaneAttempt(
        arm=str(side.arm),
        thread=side.thread,
        send=side.send,
        attempt=attempt.attempt,
        broker=attempt.broker,
        queue_id=attempt.queue_id,
        start_ms=(attempt.start_ns - origin_ns) / NS_PER_MS,
        end_ms=(attempt.end_ns - origin_ns) / NS_PER_MS,
        outcome=str(attempt.outcome),
        reason=str(attempt.reason),
    )


def _call(side: SendView) -> CallEnd | None:
    row = side.row
    if row is None:
        return None
    return CallEnd(
        outcome=str(row.outcome),
        reason=str(row.reason),
        error=row.error,
        cause=row.cause,
        code=row.code,
        status=row.status,
        broker=row.broker,
        queue_id=row.queue_id,
        queue_offset=row.queue_offset,
        elapsed_ms=(row.end_ns - row.start_ns) / NS_PER_MS,
    )
