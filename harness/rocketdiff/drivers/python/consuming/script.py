"""The rules of the listener, and what they make of the messages of one call."""

from collections.abc import Sequence
from dataclasses import dataclass

from rocketdiff.core.consuming.plan import ListenerOutcome, ListenerRule
from rocketdiff.core.records.consuming import CallResult, DeliveredMessage

_HEAVIEST_FIRST = (
    ListenerOutcome.THROW,
    ListenerOutcome.NULL,
    ListenerOutcome.ROLLBACK,
    ListenerOutcome.LATER,
    ListenerOutcome.ACK_INDEX,
    ListenerOutcome.COMMIT,
    ListenerOutcome.SUCCESS,
)
"""A call with several messages ends with the heaviest of their outcomes."""


@dataclass(frozen=True, slots=True)
class CallEnd:
    """How long a call works, and how it ends."""

    outcome: ListenerOutcome
    work_ms: int
    delay_level: int | None = None
    ack_index: int | None = None
    suspend_ms: int | None = None

    @property
    def result(self) -> CallResult:
        """As the application returns it: what is acknowledged in part is a success."""
        is_partly = self.outcome is ListenerOutcome.ACK_INDEX
        return CallResult.SUCCESS if is_partly else CallResult(self.outcome.value)


def end_of(messages: Sequence[DeliveredMessage], rules: Sequence[ListenerRule], work_ms: int) -> CallEnd:
    """Return what a call does: it works as long as all messages together."""
    applied = [_rule_of(message, rules) for message in messages]
    worked_ms = sum(work_ms if rule is None or rule.work_ms is None else rule.work_ms for rule in applied)
    stated = [rule for rule in applied if rule is not None]
    if not stated:
        return CallEnd(ListenerOutcome.SUCCESS, worked_ms)
    heaviest = min(stated, key=lambda rule: _HEAVIEST_FIRST.index(rule.outcome))
    ack_index = None
    if heaviest.outcome is ListenerOutcome.ACK_INDEX:
        ack_index = next(place for place, rule in enumerate(applied) if rule and rule.outcome is heaviest.outcome) - 1
    return CallEnd(heaviest.outcome, worked_ms, heaviest.delay_level, ack_index, heaviest.suspend_ms)


def _rule_of(message: DeliveredMessage, rules: Sequence[ListenerRule]) -> ListenerRule | None:
    send = message.send
    if send is None:
        return None
    return next((rule for rule in rules if send % rule.every == rule.offset and message.times < rule.tries), None)
