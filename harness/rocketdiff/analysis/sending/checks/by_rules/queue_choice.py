"""
Did the client choose, at every attempt, a queue that the rules allow, and is the message where the client reports it?

Examines every choice among several queues, against those that a surviving hidden state would have taken; the publish
lists (``publish_lists``); and the queue and offset that each acknowledged send returned (``result_places``), against what the brokers hold.
These two witness one fact, so a disagreement is an error of one of them, never a tolerance.
"""

import numpy as np

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.sending.checks.by_rules.index_resets import IndexResets
from rocketdiff.analysis.sending.checks.by_rules.publish_lists import PublishLists
from rocketdiff.analysis.sending.checks.by_rules.replay_checks import judged_evidence, note_differences, note_met
from rocketdiff.analysis.sending.checks.by_rules.result_places import ResultPlaces
from rocketdiff.analysis.sending.checks.by_rules.start_positions import StartPositions, pooled
from rocketdiff.analysis.sending.checks.calm_counts import CalmCount, CalmSends, Floats, Mask
from rocketdiff.analysis.sending.checks.context import CaseObserver, SendCheck
from rocketdiff.analysis.sending.send_view import Fate, SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.tables.signatures import QUEUE_OR_OFFSET_WRONG

NAME = "queue-choice"
Claim = tuple[str | None, int | None, int]
"""Broker, queue and offset of a message."""


class QueueChoice(CaseObserver):
    """Counts decisions with their legal share; notes illegal queues and results with a wrong place."""

    def observe(self, send: AlignedSend) -> None:
        note_differences(NAME, send, self._collector)
        for side in send.sides:
            self._count(side)
            self._compare_witnesses(send, side)

    def _count(self, side: SendView) -> None:
        if side.judgement is None:
            return
        choices = [decision for decision in side.judgement.decisions if decision.queues_total > 1]
        if choices:
            note_met(NAME, side, self._collector, "choice")
        for decision in choices:
            phase = str(side.phase_of(decision.attempt))
            legal = decision.queues_legal / decision.queues_total
            self._collector.count(NAME, str(side.arm), phase, "decision")
            self._collector.count(f"{NAME}.legal", str(side.arm), phase, "decision", total=legal)

    def _compare_witnesses(self, send: AlignedSend, side: SendView) -> None:
        row = side.row
        if row is None or row.queue_offset is None or side.fate is not Fate.STORED:
            return
        if self._context.confuses_answers(side):
            return  # the result may be another message's
        claimed = (None if self._context.rulebook.renames else row.broker, row.queue_id, row.queue_offset)
        if row.delay_level:
            # The result of a delayed message has its offset in the queue of its level.
            claimed = (claimed[0], row.delay_level - 1, row.queue_offset)
        found = [(copy.broker, copy.queue_id, copy.queue_offset) for copy in (side.kept or side.copies or ())]
        if not any(_agree(claimed, place) for place in found):
            self._collector.differ(
                QUEUE_OR_OFFSET_WRONG,
                send,
                side,
                expected=f"the message at {_place(claimed)}, as in the result",
                observed=f"stored at {', '.join(map(_place, found))}",
            )


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence with the mean share of legal queues."""
    return judged_evidence(facts, NAME, "decision", never="no client had more than one queue to choose from")


def _agree(claimed: Claim, place: Claim) -> bool:
    """True if the result names no other place; the results of some clients name no queue."""
    return all(part is None or part == seen for part, seen in zip(claimed, place, strict=True))


def _place(place: Claim) -> str:
    broker, queue, offset = place
    return f"offset {offset}" if broker is None else f"{broker} queue {queue} offset {offset}"


def _is_choice(sends: CalmSends) -> Mask:
    return np.asarray(sends.queues > 1)


def _legal_share(sends: CalmSends) -> Floats:
    return np.asarray(1 / sends.queues)


CODE: SendCheck = CheckCode(
    NAME,
    observers=(QueueChoice, PublishLists, ResultPlaces, StartPositions, IndexResets),
    evaluate=evaluate,
    pooled=pooled,
    calm=(
        CalmCount(f"{NAME}.met", "choice", _is_choice),
        CalmCount(NAME, "decision", _is_choice),
        CalmCount(f"{NAME}.legal", "decision", _is_choice, share=_legal_share),
    ),
)
