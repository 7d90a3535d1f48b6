"""
Splits a send into decision points, each with its time window.

The client reads its clock between two observed actions: first between the call and the first attempt, then between the
end of an attempt and the next attempt or the end of the call.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.units import NS_PER_MS

HARMLESS_MS = 500
"""Attempts chosen and answered within this time cause no avoidance in any release: the lowest penalty is at 550 ms."""


@dataclass(frozen=True, slots=True)
class DecisionPoint:
    """
    One decision of one call.

    settled: the attempt noted in the fault table here. chooses: the next attempt, or the end of the call, is decided
    here. followed_by: the attempt observed next, None for the end of the call. meanwhile: pending decision points of
    other threads that may fall between two reads of this one. rivals: choices of other
    threads that may rewrite the selected element of the shared list before the attempt ends.
    """

    send: Send
    number: int
    from_ns: int
    to_ns: int
    settled: Attempt | None
    chooses: bool
    followed_by: Attempt | None
    meanwhile: "tuple[DecisionPoint, ...]" = ()
    rivals: "tuple[DecisionPoint, ...]" = ()

    @property
    def is_harmless(self) -> bool:
        """True if the note made here can only end an avoidance; False without a note."""
        if self.settled is None or self.settled.error is not None:
            return False
        before = self.number - 2
        chosen_after_ns = self.send.attempts[before].end_ns if before >= 0 else self.send.start_ns
        return self.to_ns - chosen_after_ns < HARMLESS_MS * NS_PER_MS


def decision_points_of(send: Send, *, split: bool) -> Iterator[DecisionPoint]:
    """
    Yield the decision points of a send in order.

    split: note and choice are separate points, between which other threads may act. An asynchronous send has only its
    first choice; ``asynchronous.ends`` judges the rest.
    """
    if send.mode is SendMode.ASYNC:
        first = send.attempts[0]
        to_ns = max(first.start_ns, send.start_ns)
        yield DecisionPoint(send, 0, send.start_ns, to_ns, None, chooses=True, followed_by=first)
        return
    ended: Attempt | None = None
    from_ns = send.start_ns
    for number, followed_by in enumerate((*send.attempts, None)):
        to_ns = max(send.end_ns if followed_by is None else followed_by.start_ns, from_ns)
        if split and ended is not None:
            yield DecisionPoint(send, number, from_ns, to_ns, ended, chooses=False, followed_by=followed_by)
            yield DecisionPoint(send, number, from_ns, to_ns, None, chooses=True, followed_by=followed_by)
        else:
            yield DecisionPoint(send, number, from_ns, to_ns, ended, chooses=True, followed_by=followed_by)
        if followed_by is not None:
            ended = followed_by
            from_ns = followed_by.end_ns
