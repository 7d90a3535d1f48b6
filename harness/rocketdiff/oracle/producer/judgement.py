"""Result types of the oracle."""

from dataclasses import dataclass, field
from enum import StrEnum


class DifferenceKind(StrEnum):
    """The check that a difference belongs to."""

    QUEUE = "queue"
    AVOIDANCE = "avoidance"
    ATTEMPTS = "attempts"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Decision:
    """
    How restrictive the rules were for one observed choice: queues_legal of queues_total were legal.

    avoided: most brokers of the list avoided in a surviving hidden state; if 0, the choice does not test avoidance.
    """

    attempt: int
    queues_total: int
    queues_legal: int
    avoided: int


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """
    An observation that no hidden state explains.

    signature is stable over seeds, times, queues and brokers. expected and observed are sentences for operators, detail
    is for programs.
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
    Judgement of one send; ``states`` hidden states are left after it.

    undecided: the reason if nothing can be concluded, else None; then there is no difference. further: differences
    found without the first one, only if the rules explain every decision point.
    """

    send: int
    thread: int
    decisions: tuple[Decision, ...]
    difference: RuleDifference | None
    states: int
    undecided: str | None = None
    further: tuple[RuleDifference, ...] = ()
