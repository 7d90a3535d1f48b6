"""Where an example was seen, for every role: a place that reports name, sort by and explain."""

from dataclasses import dataclass
from enum import StrEnum

NO_NUMBER = -1
"""Number of an example without a single operation, such as a statistic."""


class Place(StrEnum):
    """Kind of place. Each role has its own; ``nowhere`` is that of a statistic."""

    NOWHERE = "nowhere"
    SEND = "send"
    MESSAGE = "message"

    @property
    def part(self) -> str:
        """What ``Where.attempt`` counts."""
        return "delivery" if self is Place.MESSAGE else "attempt"


@dataclass(frozen=True, slots=True)
class Where:
    """
    One place of a case.

    number: of the operation. thread: that carried it out, or the member. attempt: of the operation, or delivery of the message,
    from 0; None for the whole of it.
    """

    place: Place = Place.NOWHERE
    number: int = NO_NUMBER
    thread: int = 0
    attempt: int | None = None

    @property
    def is_known(self) -> bool:
        """False for a statistic, which cannot be explained operation by operation."""
        return self.place is not Place.NOWHERE

    @property
    def operation(self) -> str:
        """``send 5``; empty for a statistic."""
        return f"{self.place} {self.number}" if self.is_known else ""

    @property
    def text(self) -> str:
        """``send 5, attempt 2`` (attempts are shown from 1); empty for a statistic."""
        return (
            self.operation
            if self.attempt is None or not self.is_known
            else f"{self.operation}, {self.place.part} {self.attempt + 1}"
        )

    @property
    def explain_argument(self) -> str:
        """The argument of ``rocketdiff explain`` that names it; empty for a statistic."""
        return str(self.number) if self.is_known else ""


NOWHERE = Where()


def at(place: Place, number: int, thread: int, attempt: int | None = None) -> Where:
    """Return a place; ``NOWHERE`` for ``NO_NUMBER``, whose thread and attempt mean nothing."""
    return NOWHERE if number == NO_NUMBER else Where(place, number, thread, attempt)
