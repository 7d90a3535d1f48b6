"""
Did the client avoid a broker exactly as long as its fault table requires?

Examines choices made while a hidden state that explains the trace avoided a broker. Without fault latency the client
keeps no table, and the check does not apply.
"""

import numpy as np

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.sending.checks.by_rules.absence import Absences, absence_measures
from rocketdiff.analysis.sending.checks.by_rules.replay_checks import judged_evidence, note_differences
from rocketdiff.analysis.sending.checks.calm_counts import CalmCount, CalmSends, Floats, Mask
from rocketdiff.analysis.sending.checks.context import CalmBefore, CaseContext, CaseObserver, SendCheck
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.arm import Arm

NAME = "avoidance"


class Avoidance(CaseObserver):
    """Counts decisions under avoidance; notes use of an avoided broker, and absence from an available one."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context)
        self._absences = Absences(context.collector)

    def observe(self, send: AlignedSend) -> None:
        note_differences(NAME, send, self._collector, self._absences.remark)
        for side in send.sides:
            self._absences.observe(side)
            if side.judgement is None:
                continue
            for decision in side.judgement.decisions:
                if decision.avoided:
                    phase = str(side.phase_of(decision.attempt))
                    legal = decision.queues_legal / decision.queues_total
                    self._collector.count(NAME, str(side.arm), phase, "decision")
                    self._collector.count(f"{NAME}.legal", str(side.arm), phase, "decision", total=legal)

    def calm_at_end(self, calm: CalmBefore) -> None:
        """An absence that did not end lasted at least until the thread's last attempt."""
        for arm in Arm:
            self._absences.latest |= {(str(arm), thread): start_ns for thread, start_ns in calm.last_attempts(arm)}

    def finish(self) -> None:
        self._absences.finish()


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence; not applicable without fault latency or if nothing was avoided."""
    if not facts.entry.settings.send_latency_fault_enable:
        return facts.evidence(NAME, Standing.NOT_APPLICABLE, "fault latency is off: the client keeps no fault table")
    if facts.faults and not facts.n("blocked") and not facts.n(NAME, "decision"):
        return facts.evidence(NAME, Standing.INDECISIVE, "no attempt of either arm met a faulty broker")
    never = "no attempt was slow enough to have its broker avoided"
    return judged_evidence(facts, NAME, "decision", never=never, measures=absence_measures(facts))


def _avoids(sends: CalmSends) -> Mask:
    return np.asarray(sends.avoided > 0)


def _legal_share(sends: CalmSends) -> Floats:
    return np.asarray(1 / sends.queues)


CODE: SendCheck = CheckCode(
    NAME,
    observers=(Avoidance,),
    evaluate=evaluate,
    calm=(CalmCount(NAME, "decision", _avoids), CalmCount(f"{NAME}.legal", "decision", _avoids, share=_legal_share)),
)
