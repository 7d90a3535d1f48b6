"""What the listener does with the messages of a call: the rules of the scenario."""

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


@dataclass(frozen=True, slots=True)
class CallEnd:
    """How long a call works, and how it ends; what is acknowledged in part is a success."""

    outcome: ListenerOutcome
    delay_level: int | None
    ack_index: int | None
    work_ms: int

    @property
    def result(self) -> CallResult:
        is_partly = self.outcome is ListenerOutcome.ACK_INDEX
        return CallResult.SUCCESS if is_partly else CallResult(self.outcome.value)


class ListenerScript:
    """work_ms: for a message without a rule that says so."""

    def __init__(self, rules: Sequence[ListenerRule], work_ms: int) -> None:
        self._rules = rules
        self._work_ms = work_ms

    def end_of(self, messages: Sequence[DeliveredMessage]) -> CallEnd:
        """A call works as long as all its messages together, and ends with the heaviest outcome."""
        found = [self._rule_for(message) for message in messages]
        rules = [rule for rule in found if rule is not None]
        heaviest = min(rules, key=lambda rule: _HEAVIEST_FIRST.index(rule.outcome), default=None)
        work_ms = sum(self._work_ms if rule is None or rule.work_ms is None else rule.work_ms for rule in found)
        if heaviest is None:
            return CallEnd(ListenerOutcome.SUCCESS, None, None, work_ms)
        first = next(
            (place for place, rule in enumerate(found) if rule and rule.outcome is ListenerOutcome.ACK_INDEX), None
        )
        ack_index = first - 1 if first is not None and heaviest.outcome is ListenerOutcome.ACK_INDEX else None
        return CallEnd(heaviest.outcome, heaviest.delay_level, ack_index, work_ms)

    def _rule_for(self, message: DeliveredMessage) -> ListenerRule | None:
        number = message.send
        if number is None:
            return None
        return next((rule for rule in self._rules if _applies(rule, number, message.times)), None)


def _applies(rule: ListenerRule, number: int, times: int) -> bool:
    return number % rule.every == rule.offset and times < rule.tries
