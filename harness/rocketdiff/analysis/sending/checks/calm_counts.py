"""
What a check counts of calm sends: those that were stored at once in both arms, far from any fault, and exist in columns only.

Each observer counts the same of such a send if it sees it as an object; ``columns.calm_sends`` counts them from the columns.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from rocketdiff.analysis.sending.send_view import PHASES
from rocketdiff.core.tables.fault import FaultRecord

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


class CalmSends(Protocol):
    """One arm's calm sends, one element each, in the order of the plan."""

    @property
    def phases(self) -> Ints:
        """Of the attempt, as indexes into ``PHASES``."""

    @property
    def in_period(self) -> Mask:
        """A period of faults may have touched the send."""

    @property
    def either_in_period(self) -> Mask:
        """The same of this arm's send or the other's."""

    @property
    def queues(self) -> Ints:
        """Number of queues to choose from; one of them was legal."""

    @property
    def avoided(self) -> Ints:
        """Number of brokers that the client avoids when it chooses."""

    @property
    def called_back(self) -> Mask:
        """The send is asynchronous, and its callback was called once."""

    @property
    def is_one_way(self) -> Mask:
        """The send is one-way."""

    @property
    def faults(self) -> Sequence[FaultRecord]:
        """All faults of the case."""

    @property
    def ended_ns(self) -> Ints:
        """When the call ended, on the monotonic clock."""

    def tried_at(self, nodes: Collection[str]) -> Mask:
        """The attempt went to one of these brokers."""

    @property
    def stored_ms(self) -> Ints:
        """Broker's clock when the message was stored."""

    @property
    def ended_ms(self) -> Floats:
        """Wall clock when the call ended; infinite if it is unknown."""

    @property
    def follows(self) -> Mask:
        """There is an earlier message of its key in its queue."""

    @property
    def shows_content(self) -> Mask:
        """The trace has what its copy carries."""


Phased = tuple[Ints, Sequence[str]]
"""An index for each send, and the phases that the indexes stand for."""


def by_phase(sends: CalmSends) -> Phased:
    """By the phase of the attempt."""
    return sends.phases, PHASES


@dataclass(frozen=True, slots=True)
class CalmCount:
    """
    A tally of calm sends.

    where: the sends that count; None for all. times: how often each counts; None for once. share: adds to the total of the
    tally.
    """

    check: str
    key: str
    where: Callable[[CalmSends], Mask] | None = None
    times: Callable[[CalmSends], Mask] | None = None
    share: Callable[[CalmSends], Floats] | None = None
    phased: Callable[[CalmSends], Phased] = by_phase
