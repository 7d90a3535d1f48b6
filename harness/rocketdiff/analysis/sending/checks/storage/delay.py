"""
Was a delayed message kept back by its broker under the requested level, and delivered, but not early?

Examines the copies of acknowledged sends with a delay level, in SCHEDULE_TOPIC_XXXX (level, target queue and topic,
store time) and in their own topic. A run waits for deliveries up to level 3 (10 s); of longer delays only the kept-back
copy is judged. A delivery is early if the two store times are closer than the delay. Lateness is the broker's doing,
and only measured.
"""

from rocketdiff.analysis.checks.case_facts import CaseFacts, counted, standing_with
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.sending.checks.context import CaseObserver, SendCheck
from rocketdiff.analysis.sending.checks.storage.loss import unread
from rocketdiff.analysis.sending.send_view import Copy, SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.answers.verdict import Measure
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.message import DELAY, delay_s, is_awaited
from rocketdiff.core.sends.outcome import Outcome
from rocketdiff.core.tables.signatures import (
    DELIVERED_EARLY,
    DELIVERED_TO_ANOTHER_QUEUE,
    NOT_DELIVERED,
    NOT_KEPT_BACK,
    OTHER_LEVEL,
    Signature,
)
from rocketdiff.core.units import NS_PER_MS, NS_PER_S

NAME = "delay"
LATENESS = "delay.lateness"
"""Tally of deliveries; its totals are milliseconds."""

DELIVERY_CLOCK_MS = 5
"""Possible slip of a disciplined wall clock between two readings."""

_MS_PER_S = 1_000


class Delay(CaseObserver):
    """Counts delayed messages; notes violations of their level."""

    def observe(self, send: AlignedSend) -> None:
        for side in send.sides:
            row = side.row
            if row is None or not row.delay_level or side.copies is None or row.outcome is not Outcome.OK:
                continue
            self._collector.count(NAME, str(side.arm), str(side.phase), "message")
            kept = side.kept[0] if side.kept else None
            if kept is None:
                where = "in its topic at once" if side.copies else "nowhere"
                self._note(NOT_KEPT_BACK, send, side, f"kept back under level {row.delay_level}", where)
                continue
            self._look_at_kept(send, side, kept, row.delay_level)
            self._look_at_delivery(send, side, row.delay_level)

    def _look_at_kept(self, send: AlignedSend, side: SendView, kept: Copy, level: int) -> None:
        delay = kept.carried().get(DELAY)
        if kept.queue_id != level - 1 or delay != str(level):
            self._note(
                OTHER_LEVEL, send, side, f"kept back under level {level}", f"level {kept.queue_id + 1}, DELAY {delay}"
            )

    def _look_at_delivery(self, send: AlignedSend, side: SendView, level: int) -> None:
        if not side.copies:
            if is_awaited(level):
                self._note(
                    NOT_DELIVERED, send, side, f"delivered {delay_s(level)} s after it was kept back", "not at all"
                )
            return
        waiting, due = sorted(side.kept, key=_stored_ms), {_due_at(kept) for kept in side.kept}
        for delivered in sorted(side.copies, key=_stored_ms):
            place = (delivered.broker, str(delivered.queue_id))
            kept = next((kept for kept in waiting if _due_at(kept) == place), None)
            if kept is not None:
                waiting.remove(kept)
                self._look_at_time(send, side, kept, delivered, level)
            elif place not in due:
                broker, queue = _due_at((waiting or side.kept)[0])
                observed = f"queue {delivered.queue_id} of {delivered.broker}"
                self._note(DELIVERED_TO_ANOTHER_QUEUE, send, side, f"delivered to queue {queue} of {broker}", observed)
                return

    def _look_at_time(self, send: AlignedSend, side: SendView, kept: Copy, delivered: Copy, level: int) -> None:
        late_ms = delivered.store_timestamp_ms - kept.store_timestamp_ms - delay_s(level) * _MS_PER_S
        self._collector.count(LATENESS, str(side.arm), str(side.phase), "delivered", total=late_ms)
        if late_ms < -DELIVERY_CLOCK_MS - self._stepped_ms(side, level):
            self._note(
                DELIVERED_EARLY, send, side, f"not before {delay_s(level)} s have passed", f"{-late_ms} ms too early"
            )

    def _stepped_ms(self, side: SendView, level: int) -> float:
        """How far the wall clock, by which a broker waits and stores, was set between a send and its delivery."""
        clock, row = self._context.entry.clock, side.row
        if clock is None or row is None or not clock.offsets:
            return 0
        least, most = clock.offset_range_ns(row.start_ns, row.end_ns + delay_s(level) * NS_PER_S)
        return (most - least) / NS_PER_MS

    def _note(self, signature: Signature, send: AlignedSend, side: SendView, expected: str, observed: str) -> None:
        self._collector.differ(signature, send, side, expected=expected, observed=observed)


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence with deliveries and their mean lateness."""
    seen = {arm: facts.n(NAME, "message", arm=str(arm)) for arm in Arm}
    standing, reason = unread(facts) or standing_with(facts, seen, "no delayed message of {} was acknowledged")
    measures = counted(facts, "delivered", LATENESS, "delivered")
    for arm in Arm:
        mean_ms = facts.mean(LATENESS, arm=str(arm))
        if mean_ms is not None:
            measures += (Measure(f"delivered-late-by {arm}", mean_ms, "ms", facts.n(LATENESS, arm=str(arm))),)
    return facts.evidence(NAME, standing, reason, decisions=sum(seen.values()), measures=measures)


def _due_at(kept: Copy) -> tuple[str, str | None]:
    """Target broker and queue of a kept-back copy. A message that was sent again is kept back more than once."""
    return kept.broker, kept.carried().get("REAL_QID")


def _stored_ms(copy: Copy) -> int:
    return copy.store_timestamp_ms


CODE: SendCheck = CheckCode(NAME, observers=(Delay,), evaluate=evaluate)
