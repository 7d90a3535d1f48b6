"""
How long is the application held up by a send whose first attempt went to a paused broker: the same in both arms?

Examines sends whose first attempt was blocked and began at least one send timeout before the pause ended; otherwise the
wait would measure when the send began, not what the client does. One value per arm and outage: the upper median,
because a client that has just closed a connection after a timeout may see its next attempt fail at once (seen in Java).
Such a send is never the first of its outage, so it does not decide one. Statistical; the unit is the outage.
"""

from collections import defaultdict
from collections.abc import Sequence
from statistics import median_high

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.checks.pairing import Question, case_evidence, pooled_evidence, pools_of
from rocketdiff.analysis.facts import OutageValue
from rocketdiff.analysis.sending.checks.context import CaseContext, CaseObserver, SendCheck
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.analysis.sending.steps.attempts_in_context import Outage
from rocketdiff.core.answers.evidence import Ending, Evidence, Margin
from rocketdiff.core.units import NS_PER_MS

NAME = "timing"
BLOCKED_SEND = Question(
    check=NAME,
    sample="blocked-send-duration",
    margin=Margin(
        1.2,
        "a blocked send lasts whole timeouts, so any other number of them is at least a third off; at the shortest"
        " timeout of the shipped scenarios (300 ms) a fifth is 60 ms, several times the scheduling noise of two busy cores",
    ),
)


class Timing(CaseObserver):
    """Gathers the durations of fully blocked sends, by arm and outage."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context)
        self._timeout_ns = context.entry.settings.send_msg_timeout_ms * NS_PER_MS
        self._durations: defaultdict[tuple[str, int], list[int]] = defaultdict(list)

    def observe(self, send: AlignedSend) -> None:
        for side in send.sides:
            outage = self._blocking_outage(side)
            if outage is not None and side.row is not None:
                self._durations[str(side.arm), outage.episode].append(side.row.end_ns - side.row.start_ns)

    def finish(self) -> None:
        for (arm, episode), durations in self._durations.items():
            usual_ns = float(median_high(durations))
            self._context.collector.note(
                OutageValue(NAME, BLOCKED_SEND.sample, arm, episode, usual_ns, len(durations), Ending.FAILOVER)
            )

    def _blocking_outage(self, side: SendView) -> Outage | None:
        if not side.contexts or not side.contexts[0].blocked:
            return None
        pause, attempt = side.contexts[0].hit, side.attempts[0]
        if pause is None or (pause.heal_ns is not None and attempt.start_ns + self._timeout_ns > pause.heal_ns):
            return None
        return self._context.times.outage_of(pause)


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence of paired outages, for information; the pool gates."""
    return case_evidence(facts, BLOCKED_SEND)


def pooled(cases: Sequence[CaseFacts]) -> tuple[Evidence, ...]:
    """Return one gating evidence per pool."""
    return tuple(pooled_evidence(name, pool, BLOCKED_SEND) for name, pool in pools_of(cases, NAME).items())


CODE: SendCheck = CheckCode(NAME, observers=(Timing,), evaluate=evaluate, pooled=pooled)
