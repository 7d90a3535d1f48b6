"""
Did a failed send fail with the exception, cause and code that the rules say?

Looked at: every send; relevant are those that did not succeed and that the rules could judge; the measures
count all. Exact, never statistical.
"""

from harness.analysis.checks.by_rules import is_judged, judged_evidence, note_differences, or_missed
from harness.analysis.checks.case_facts import CaseFacts
from harness.analysis.checks.scene import Scene
from harness.analysis.steps.aligned import AlignedSend
from harness.core.events import Arm
from harness.core.evidence import Evidence
from harness.core.outcome import Outcome
from harness.core.verdict import Measure

NAME = "error-kind"
SEEN = "error-kind.seen"
"""Tally of all failed sends, judged or not."""


class ErrorKind:
    """Counts failed sends by exception; notes a wrong one."""

    def __init__(self, scene: Scene) -> None:
        self._notebook = scene.notebook

    def see(self, send: AlignedSend) -> None:
        """Look at both sides."""
        note_differences(NAME, send, self._notebook)
        for side in send.sides:
            if side.row is not None and side.row.outcome is not Outcome.OK:
                for tally in (SEEN, NAME) if is_judged(side) else (SEEN,):
                    self._notebook.count(tally, str(side.arm), str(side.phase), side.row.error or "none")

    def end(self) -> None:
        """Nothing is kept from send to send."""


def answer(facts: CaseFacts) -> Evidence:
    """In: facts of one case. Out: evidence with the number of failed sends by exception class and arm."""
    measures = tuple(
        Measure(f"{error} {arm}", facts.n(SEEN, error, arm=str(arm)), "count", facts.n("sends", arm=str(arm)))
        for arm in Arm
        for error in facts.keys(SEEN, str(arm))
    )
    never = "no send failed in either arm"
    return or_missed(facts, judged_evidence(facts, NAME, never=never, measures=measures))
