"""
Did the client keep away from a broker exactly as long as its fault table says?

Looked at: choices made while some hidden state that explains the trace avoided a broker. Without fault latency the
client keeps no table and the question does not arise.
"""

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.scene import Scene
from rocketdiff.analysis.checks.sending.absence import Absences, absence_measures
from rocketdiff.analysis.checks.sending.replay_checks import judged_evidence, note_differences
from rocketdiff.analysis.steps.aligned import AlignedSend
from rocketdiff.core.evidence import Evidence, Standing

NAME = "avoidance"


class Avoidance:
    """Counts decisions made under avoidance; notes use of an avoided broker, and absence from an available one."""

    def __init__(self, scene: Scene) -> None:
        self._notebook = scene.notebook
        self._absences = Absences(scene.notebook)

    def see(self, send: AlignedSend) -> None:
        """Look at both sides."""
        note_differences(NAME, send, self._notebook, self._absences.remark)
        for side in send.sides:
            self._absences.see(side)
            if side.judgement is None:
                continue
            for decision in side.judgement.decisions:
                if decision.avoided:
                    phase = str(side.phase_of(decision.attempt))
                    legal = decision.queues_legal / decision.queues_total
                    self._notebook.count(NAME, str(side.arm), phase, "decision")
                    self._notebook.count(f"{NAME}.legal", str(side.arm), phase, "decision", total=legal)

    def end(self) -> None:
        """Threads that never went back to a broker are counted now."""
        self._absences.end()


def answer(facts: CaseFacts) -> Evidence:
    """In: facts of one case. Out: evidence; not applicable without fault latency or where nothing was avoided."""
    if not facts.entry.settings.send_latency_fault_enable:
        return facts.evidence(NAME, Standing.NOT_APPLICABLE, "fault latency is off: the client keeps no fault table")
    if facts.faults and not facts.n("blocked") and not facts.n(NAME, "decision"):
        return facts.evidence(NAME, Standing.INDECISIVE, "no attempt of either arm met a faulty broker")
    never = "no attempt was slow enough to have its broker avoided"
    return judged_evidence(facts, NAME, "decision", never=never, measures=absence_measures(facts))
