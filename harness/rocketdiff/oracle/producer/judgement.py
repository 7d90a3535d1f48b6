"""What the oracle answers for one send."""

from dataclasses import dataclass, field
from enum import StrEnum


class DifferenceKind(StrEnum):
    """Which check a difference belongs to."""

    QUEUE = "queue"
    AVOIDANCE = "avoidance"
    ATTEMPTS = "attempts"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Decision:
    """
    How decisive one observed choice of a queue was.

    queues_legal of queues_total would have been explained. avoided: brokers of the list that some surviving hidden state was avoiding when the choice was made; 0 means that the
    choice says nothing about avoidance.
    """

    attempt: int
    queues_total: int
    queues_legal: int
    avoided: int


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """
    Something no hidden state explains.

    signature is stable over seeds, times, queues and brokers. expected and observed are sentences for operators, detail
    is for machines.
    """

    kind: DifferenceKind
    signature: str
    attempt: int | None
    expected: str
    observed: str
    detail: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SendJudgement:
    """
    Answer for one send; ``states`` hidden states are left after it.

    undecided: why nothing can be said, None normally. An undecided send has no difference. further: what would have been
    the difference if the one before had not been found; only where the rules explain every decision point of the send.
    """

    send: int
    thread: int
    decisions: tuple[Decision, ...]
    difference: RuleDifference | None
    states: int
    undecided: str | None = None
    further: tuple[RuleDifference, ...] = ()
