"""The exact list of sends of a case, the same for both arms."""

from dataclasses import dataclass
from enum import StrEnum


class SendKind(StrEnum):
    """Which call of the client's interface a send uses."""

    PLAIN = "plain"
    QUEUE = "queue"
    SELECTOR = "selector"
    BATCH = "batch"


@dataclass(frozen=True, slots=True)
class PlannedSend:
    """
    One call by the application.

    due_ns: not before this offset from the start of the plan; a thread sends its own sends in order, one at a time
    (closed loop), so a late send delays the next ones of its thread only.
    argument: queue number in publish order for QUEUE, selector argument for SELECTOR (chosen queue is the argument
    modulo the number of queues), unused otherwise.
    """

    send: int
    thread: int
    due_ns: int
    kind: SendKind
    argument: int
    body_bytes: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The sends of one case and the seed they were drawn from."""

    seed: int
    threads: int
    sends: tuple[PlannedSend, ...]
