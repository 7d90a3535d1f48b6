"""The effect of each kind of difference on whoever runs the client, in a word or two."""

from collections.abc import Mapping
from enum import StrEnum

from rocketdiff.core.tables.signatures import SIGNATURES, without_place


class Effect(StrEnum):
    """What becomes of messages, or of the machine; most serious first."""

    LOST = "lost"
    TWICE = "twice"
    CHANGED = "changed"
    DISORDERED = "out of order"
    FAILED = "failed"
    LATE = "late"
    EARLY = "early"
    DISTRIBUTED = "distributed differently"
    COSTLY = "costs more"


def effect_of(text: str) -> Effect:
    """Return the effect of a divergence from the full text of its signature. That of an unknown check is CHANGED."""
    name, place = without_place(text)
    known = SIGNATURES.get(name)
    if name in _BY_END and (effect := _BY_END[name].get(place.partition("/")[0])):
        return effect
    check = name.partition(".")[0] if known is None else known.check
    return BY_SIGNATURE.get(name) or BY_CHECK.get(check, Effect.CHANGED)


_ENDS = {
    "stored-twice": Effect.TWICE,
    "sent-one-way-and-not-stored": Effect.LOST,
    "failed-at-first": Effect.LATE,
    "held-up": Effect.LATE,
}
_BY_END: Mapping[str, Mapping[str, Effect]] = {"outcomes.more-often": _ENDS, "outcomes.less-often": _ENDS}
"""Effects of what is compared by its frequency, by the first part of the signature's place."""

BY_CHECK: Mapping[str, Effect] = {
    "queue-choice": Effect.DISTRIBUTED,
    "attempts": Effect.LATE,
    "avoidance": Effect.DISTRIBUTED,
    "error-kind": Effect.FAILED,
    "timing": Effect.LATE,
    "failover-time": Effect.LATE,
    "loss": Effect.LOST,
    "duplication": Effect.TWICE,
    "content": Effect.CHANGED,
    "order": Effect.DISORDERED,
    "callbacks": Effect.LATE,
    "delay": Effect.LATE,
    "outcomes": Effect.FAILED,
    "pace": Effect.LATE,
    "resources": Effect.COSTLY,
    "delivered": Effect.LOST,
    "redelivery": Effect.TWICE,
    "delivery-order": Effect.DISORDERED,
    "retries": Effect.LATE,
    "offsets": Effect.TWICE,
    "allocation": Effect.DISTRIBUTED,
    "pulling": Effect.LATE,
    "flow-control": Effect.LATE,
    "promptness": Effect.LATE,
    "resume-time": Effect.LATE,
    "takeover-time": Effect.LATE,
    "consumption": Effect.LATE,
    "protocol": Effect.FAILED,
    "validity": Effect.FAILED,
}
"""The usual effect of a check's differences; an offset that is not committed delivers twice after the next change of members."""

BY_SIGNATURE: Mapping[str, Effect] = {
    "attempts.stopped-early": Effect.FAILED,
    "attempts.gave-up-before-timeout": Effect.FAILED,
    "attempts.gave-up-early": Effect.FAILED,
    "attempts.less-often": Effect.FAILED,
    "attempts.went-on-after-success": Effect.TWICE,
    "attempts.ends-late": Effect.LATE,
    "attempts.none-for-a-message-said-to-be-sent": Effect.LOST,
    "error.success-though-every-attempt-failed": Effect.LOST,
    "loss.body-damaged": Effect.CHANGED,
    "loss.stray-message": Effect.CHANGED,
    "callbacks.never-called": Effect.FAILED,
    "callbacks.called-more-than-once": Effect.TWICE,
    "delay.not-kept-back": Effect.EARLY,
    "delay.delivered-early": Effect.EARLY,
    "delay.not-delivered": Effect.LOST,
    "delay.delivered-to-another-queue": Effect.DISTRIBUTED,
    "outcomes.acknowledged-by-a-stopped-broker": Effect.LOST,
    "outcomes.acknowledged-before-its-answer": Effect.LOST,
    "outcomes.acknowledged-without-its-slave": Effect.LOST,
    "outcomes.connections-left-open": Effect.COSTLY,
    "outcomes.connections-at-once": Effect.COSTLY,
    "outcomes.connections-made-anew": Effect.COSTLY,
    "outcomes.other-servers": Effect.DISTRIBUTED,
    "delivered.not-yet": Effect.LATE,
    "delivered.other-message": Effect.CHANGED,
    "delivered.damaged": Effect.CHANGED,
    "delivered.other-topic": Effect.CHANGED,
    "delivered.other-properties": Effect.CHANGED,
    "delivered.not-subscribed": Effect.CHANGED,
    "delivered.while-paused": Effect.EARLY,
    "delivered.call-fails": Effect.FAILED,
    "redelivery.not-where-sought": Effect.LOST,
    "redelivery.above-the-committed-offset": Effect.LOST,
    "redelivery.gap": Effect.LOST,
    "delivery-order.repeated": Effect.TWICE,
    "retries.missing": Effect.LOST,
    "retries.not-dead": Effect.LOST,
    "retries.dead-too-early": Effect.LOST,
    "retries.too-many": Effect.TWICE,
    "retries.early": Effect.EARLY,
    "retries.other-times": Effect.CHANGED,
    "retries.property": Effect.CHANGED,
    "retries.damaged": Effect.CHANGED,
    "retries.other-broker": Effect.DISTRIBUTED,
    "offsets.unfinished-committed": Effect.LOST,
    "allocation.no-owner": Effect.LATE,
    "allocation.late-takeover": Effect.LATE,
    "allocation.takes-over-later": Effect.LATE,
    "allocation.late-round": Effect.LATE,
    "allocation.two-owners": Effect.TWICE,
    "allocation.never-settled": Effect.LATE,
    "pulling.two-at-once": Effect.COSTLY,
    "pulling.other-broker": Effect.DISTRIBUTED,
    "pulling.too-soon": Effect.COSTLY,
    "pulling.not-owned": Effect.TWICE,
    "flow-control.exceeded": Effect.COSTLY,
    "consumption.resumes-sooner": Effect.EARLY,
    "consumption.leave-fails": Effect.FAILED,
    "consumption.batch-too-large": Effect.CHANGED,
    "consumption.too-many-calls": Effect.CHANGED,
}
"""Signatures whose effect is not their check's."""
