"""
Is a message stored as often as its client can account for, and only where its client sent it?

Looked at: every send against all queues. Each attempt may leave one copy (a timed-out one is stored when the broker is
resumed), so several copies after several attempts are counted for both arms and are no divergence; a copy beyond the
number of attempts, or in a queue no attempt went to, is.
"""

from harness.analysis.checks.case_facts import CaseFacts, counted
from harness.analysis.checks.loss import unread
from harness.analysis.checks.scene import Scene
from harness.analysis.steps.aligned import AlignedSend
from harness.analysis.steps.reconciled import ReconciledSend
from harness.core.events import Arm
from harness.core.evidence import Evidence, Standing

NAME = "duplication"
TOO_MANY = "duplication.stored-more-than-attempted"
ELSEWHERE = "duplication.stored-elsewhere-than-claimed"


class Duplication:
    """Counts messages by number of copies; notes copies that no attempt explains."""

    def __init__(self, scene: Scene) -> None:
        self._notebook = scene.notebook

    def see(self, send: AlignedSend) -> None:
        """Look at both sides."""
        for side in send.sides:
            if not side.copies:
                continue
            self._notebook.count(NAME, str(side.arm), str(side.phase), "message")
            if len(side.copies) > 1:
                self._notebook.count(NAME, str(side.arm), str(side.phase), "stored-twice")
            # Without a witness of the attempts nothing is known about their number and places.
            if side.attempts:
                self._account(send, side)

    def end(self) -> None:
        """Nothing is kept from send to send."""

    def _account(self, send: AlignedSend, side: ReconciledSend) -> None:
        copies, attempts = side.copies or (), side.attempts
        self._notebook.count(NAME, str(side.arm), str(side.phase), "accounted")
        if len(copies) > len(attempts):
            expected, observed = f"at most {len(attempts)} copies, one an attempt", f"{len(copies)} copies"
            self._notebook.differ(NAME, TOO_MANY, send, side, expected=expected, observed=observed)
        claimed = {(attempt.broker, attempt.queue_id) for attempt in attempts}
        astray = [copy for copy in copies if (copy.broker, copy.queue_id) not in claimed]
        if astray:
            expected = "copies in " + ", ".join(f"{broker} queue {queue}" for broker, queue in sorted(claimed))
            observed = "a copy in " + ", ".join(f"{copy.broker} queue {copy.queue_id}" for copy in astray)
            self._notebook.differ(NAME, ELSEWHERE, send, side, expected=expected, observed=observed)


def answer(facts: CaseFacts) -> Evidence:
    """In: facts of one case. Out: evidence with the number of messages stored more than once in each arm."""
    standing, reason = unread(facts) or (Standing.DECISIVE, "")
    accounted = {arm: facts.n(NAME, "accounted", arm=str(arm)) for arm in Arm}
    lacking = [facts.subjects[arm] for arm in Arm if not accounted[arm]]
    if standing is Standing.DECISIVE and lacking:
        reason = f"no stored message of {lacking[0]} has a witnessed attempt to account for it"
        standing = Standing.INDECISIVE
    measures = counted(facts, "stored-more-than-once", NAME, "stored-twice")
    return facts.evidence(NAME, standing, reason, decisions=sum(accounted.values()), measures=measures)
