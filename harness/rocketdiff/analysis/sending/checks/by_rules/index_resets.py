"""
Does a retry start from a new random index, as the rules require with fault latency on (ThreadLocalIndex.reset, from 5.1.4)?

Of two brokers, the retry of a synchronous send goes to the one that did not fail: to its first queue if the new index
falls there or on any queue of the failed broker, else to where it falls. A client that goes on counting always takes
the first. Every queue is legal, so only counts show it. They belong to the check ``queue-choice``.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.sending.checks.context import CaseContext, CaseObserver
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.answers.evidence import Concentration
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.signatures import BEGINS_ALIKE

RESETS, FIRST = "queue-choice.resets", "queue-choice.resets-to-first"
"""Tallies by the number of queues of each of the two brokers: all retries, and those that took the first queue."""

BROKERS = 2
"""With more, which queue comes next depends on what else is avoided."""


class IndexResets(CaseObserver):
    """Counts the retries of both arms by the queue they took."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context)
        rules = context.rulebook.rules.get(Arm.BASELINE)
        latency = context.entry.settings.send_latency_fault_enable
        self._resets = latency and rules is not None and rules.fresh().dialect.producer.index.resets
        self._lists = {arm: context.trace.routes(arm) for arm in Arm}

    def observe(self, send: AlignedSend) -> None:
        for side in send.sides:
            row = side.row
            if self._resets and row is not None and row.mode is SendMode.SYNC and not row.kind.names_queue:
                self._count(side, self._lists[side.arm].get(row.route, ()))

    def _count(self, side: SendView, queues: Sequence[tuple[str, int]]) -> None:
        sizes = Counter(broker for broker, _ in queues)
        if len(sizes) != BROKERS or len(set(sizes.values())) != 1:
            return
        size = str(len(queues) // BROKERS)
        for before, after in pairwise(side.attempts):
            if before.error is not None and before.broker != after.broker:
                first = next((queue for broker, queue in queues if broker == after.broker), None)
                self._collector.count(RESETS, str(side.arm), "", size)
                self._collector.count(FIRST, str(side.arm), "", size, n=int(after.queue_id == first))


def concentrations(pool: Sequence[CaseFacts]) -> Iterator[Concentration]:
    """Return how many retries took the first queue, for the number of queues with most of the candidate's."""
    met = Counter[str]()
    for facts in pool:
        for size in facts.keys(RESETS, str(Arm.CANDIDATE)):
            met[size] += facts.n(RESETS, size, arm=str(Arm.CANDIDATE))
    if not met:
        return
    ((size, _),) = met.most_common(1)
    total, first = (
        {arm: sum(facts.n(name, size, arm=str(arm)) for facts in pool) for arm in Arm} for name in (RESETS, FIRST)
    )
    chance = (int(size) + 1) / (BROKERS * int(size))
    where = "the first queue after those of the broker that failed"
    baseline, candidate = Arm.BASELINE, Arm.CANDIDATE
    yield Concentration(
        BEGINS_ALIKE.text("retry"),
        where,
        chance,
        1,
        first[baseline],
        total[baseline],
        first[candidate],
        total[candidate],
    )
