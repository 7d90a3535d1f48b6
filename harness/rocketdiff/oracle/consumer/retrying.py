"""
What becomes of a message whose listener failed: the copies of it that brokers may hold, and those that they must hold.

The client hands a failed message back to its broker, which stores a copy with one failure more, under the level that the listener
asked for, or among the dead letters. If the broker did not answer, the client sends the message itself, to any broker, under level
3 + failures whatever was asked. Both may be stored, one of them, or neither: then the same member consumes the message again 5 s later.
A second attempt of that send has lost its count of failures, which is in the first request's header only (sendKernelImpl, every release).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rocketdiff.core.sends.message import DELAY_S

FIRST_LEVEL = 3
"""Level of a first retry whose listener asks for none; each further one is one higher."""

DEFAULT_MOST = 16
"""Retries of a message whose group has no setting for it."""

OWN_SENDS = 2
"""Copies of one hand-back that the client's own send may leave: a paused broker stores what it was sent after its pause."""

REFUSED_SHARE, REFUSED_FEW = 20, 2
"""A crowded broker refuses one hand-back in so many, or so few of a case."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a failed message in the delay topic, the retry topic or the dead letters. level: 0 of a dead letter."""

    times: int
    level: int
    broker: str
    is_dead: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """
    A call that failed a message.

    times: failures that the message showed. asked: level that the listener set, None or 0 for none, below 0 for the dead letters at once.
    is_certain: its broker was there and the member had the queue, so that exactly one copy must be there. may_be_lost: the member
    may have thrown the result away.
    """

    times: int
    broker: str
    asked: int | None = None
    is_certain: bool = True
    may_be_lost: bool = False

    @property
    def level(self) -> int:
        """The delay level of the copy that its broker stores; brokers lower one that they do not have."""
        return min(self.asked or FIRST_LEVEL + self.times, len(DELAY_S))

    @property
    def own_level(self) -> int:
        """The delay level of the client's own send."""
        return min(FIRST_LEVEL + self.times, len(DELAY_S))

    def is_dead(self, most: int) -> bool:
        """Return True if its broker stores it among the dead letters. most: retries of the group."""
        return self.times >= most or (self.asked is not None and self.asked < 0)

    def handed_back(self, most: int) -> Copy:
        """Return the copy that its broker stores."""
        is_dead = self.is_dead(most)
        return Copy(self.times + 1, 0 if is_dead else self.level, self.broker, is_dead)

    def may_have_sent(self, copy: Copy, most: int) -> bool:
        """Return True for a copy of the client's own send. Brokers before 5.0.0 count a failure more: at ``most`` it is dead."""
        is_next = copy.times in (self.times + 1, 0)
        return is_next and (copy.times >= most if copy.is_dead else copy.level == self.own_level)


@dataclass(slots=True)
class Settled:
    """missing: failures without the copy that they must have; further: copies that no failure explains."""

    missing: list[Failure] = field(default_factory=list)
    further: list[Copy] = field(default_factory=list)


def settled(failures: Sequence[Failure], copies: Iterable[Copy], most: int) -> Settled:
    """Match the failures of one message with its copies: first each failure that must have its one copy, then what is left."""
    left, found = list(copies), Settled()
    for failure in sorted(failures, key=lambda failure: failure.may_be_lost):
        if failure.is_certain:
            back = failure.handed_back(most)
            if back in left:
                left.remove(back)
            elif not failure.may_be_lost:
                found.missing.append(failure)
    disturbed = [failure for failure in failures if not failure.is_certain]
    backs, sends = [failure.handed_back(most) for failure in disturbed], disturbed * OWN_SENDS
    for copy in left:
        sender = next((failure for failure in sends if failure.may_have_sent(copy, most)), None)
        if copy in backs:
            backs.remove(copy)
        elif sender is not None:
            sends.remove(sender)
        else:
            found.further.append(copy)
    return found


def may_be_refused(refused: int, failures: int) -> bool:
    """Return True if so few of the hand-backs of a case failed that the brokers were crowded (CODE 2 after 0.2 s in their queue)."""
    return refused <= max(REFUSED_FEW, failures // REFUSED_SHARE)
