"""
Did a failed send fail with the exception, cause and code that the rules say?

Looked at: every send; relevant are those that did not succeed. Exact, never statistical.
"""

from harness.analysis.checks.by_rules import judged_evidence, note_differences
from harness.analysis.checks.case_facts import CaseFacts
from harness.analysis.checks.scene import Scene
from harness.analysis.steps.aligned import AlignedSend
from harness.core.events import Arm
from harness.core.evidence import Evidence
from harness.core.outcome import Outcome
from harness.core.verdict import Measure

NAME = "error-kind"


class ErrorKind:
    """Counts failed sends by exception; notes a wrong one."""

    def __init__(self, scene: Scene) -> None:
        self._notebook = scene.notebook

    def see(self, send: AlignedSend) -> None:
        """Look at both sides."""
        note_differences(NAME, send, self._notebook)
        for side in send.sides:
            if side.row is not None and side.row.outcome is not Outcome.OK:
                self._notebook.count(NAME, str(side.arm), str(side.phase), side.row.error or "none")

    def end(self) -> None:
        """Nothing is kept from send to send."""


def answer(facts: CaseFacts) -> Evidence:
    """In: facts of one case. Out: evidence with the number of failed sends by exception class and arm."""
    measures = tuple(
        Measure(f"{error} {arm}", facts.n(NAME, error, arm=str(arm)), "count", facts.n("sends", arm=str(arm)))
        for arm in Arm
        for error in facts.keys(NAME, str(arm))
    )
    return judged_evidence(facts, NAME, never="no send failed in either arm", measures=measures)
