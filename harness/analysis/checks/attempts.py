"""
Did the client make as many attempts as the rules say, no more and no fewer?

Looked at: every send. Relevant are attempts that failed (was there another one, and should there have been?) and
attempts after the first. Exact, never statistical.
"""

from harness.analysis.checks.by_rules import judged_evidence, note_differences
from harness.analysis.checks.case_facts import CaseFacts, counted
from harness.analysis.checks.scene import Scene
from harness.analysis.steps.aligned import AlignedSend
from harness.core.evidence import Evidence
from harness.core.outcome import Outcome

NAME = "attempts"


class Attempts:
    """Counts failed attempts and retries; notes a retry too many or too few."""

    def __init__(self, scene: Scene) -> None:
        self._notebook = scene.notebook

    def see(self, send: AlignedSend) -> None:
        """Look at both sides."""
        note_differences(NAME, send, self._notebook)
        for side in send.sides:
            for attempt in side.attempts:
                phase = str(side.phase_of(attempt.attempt))
                if attempt.outcome is not Outcome.OK:
                    self._notebook.count(NAME, str(side.arm), phase, "failed")
                if attempt.attempt > 0:
                    self._notebook.count(NAME, str(side.arm), phase, "retry")

    def end(self) -> None:
        """Nothing is kept from send to send."""


def answer(facts: CaseFacts) -> Evidence:
    """In: facts of one case. Out: evidence with failed attempts and retries of each arm."""
    measures = (*counted(facts, "failed-attempts", NAME, "failed"), *counted(facts, "retries", NAME, "retry"))
    return judged_evidence(facts, NAME, "failed", "retry", never="no attempt failed in either arm", measures=measures)
