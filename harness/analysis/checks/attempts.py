"""
Did the client make as many attempts as the rules say, no more and no fewer?

Looked at: every send. Relevant are attempts that failed, or were stored with another status than SEND_OK (was there
another one, and should there have been?), and attempts after the first, of sends the rules could judge; the measures count
all. Exact, never statistical.
"""

from harness.analysis.checks.by_rules import judged_before, judged_evidence, note_differences, or_missed
from harness.analysis.checks.case_facts import CaseFacts, counted
from harness.analysis.checks.scene import Scene
from harness.analysis.steps.aligned import AlignedSend
from harness.core.evidence import Evidence
from harness.core.outcome import is_stored_with_reserve

NAME = "attempts"
SEEN = "attempts.seen"
"""Tally of all attempts, judged or not."""


class Attempts:
    """Counts failed attempts and retries; notes a retry too many or too few."""

    def __init__(self, scene: Scene) -> None:
        self._notebook = scene.notebook

    def see(self, send: AlignedSend) -> None:
        """Look at both sides."""
        note_differences(NAME, send, self._notebook)
        for side in send.sides:
            bound = judged_before(side)
            for attempt in side.attempts:
                tallies = (SEEN, NAME) if attempt.attempt < bound else (SEEN,)
                phase = str(side.phase_of(attempt.attempt))
                for tally in tallies:
                    if attempt.error is not None:
                        self._notebook.count(tally, str(side.arm), phase, "failed")
                    elif is_stored_with_reserve(attempt.status):
                        self._notebook.count(tally, str(side.arm), phase, "not-store-ok")
                    if attempt.attempt > 0:
                        self._notebook.count(tally, str(side.arm), phase, "retry")

    def end(self) -> None:
        """Nothing is kept from send to send."""


def answer(facts: CaseFacts) -> Evidence:
    """In: facts of one case. Out: evidence with failed attempts and retries of each arm."""
    measures = (
        *counted(facts, "failed-attempts", SEEN, "failed"),
        *counted(facts, "not-store-ok", SEEN, "not-store-ok"),
        *counted(facts, "retries", SEEN, "retry"),
    )
    never = "no attempt failed in either arm, nor was answered with a status other than SEND_OK"
    keys = ("failed", "not-store-ok", "retry")
    return or_missed(facts, judged_evidence(facts, NAME, *keys, never=never, measures=measures))
