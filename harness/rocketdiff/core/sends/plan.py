"""The exact list of sends of a case, the same for both arms."""

from dataclasses import MISSING, dataclass, fields
from enum import StrEnum


class SendKind(StrEnum):
    """Which call of the client's interface a send uses."""

    PLAIN = "plain"
    QUEUE = "queue"
    SELECTOR = "selector"
    BATCH = "batch"
    GROUP = "group"


class SendMode(StrEnum):
    """How a call ends: with an answer, with a callback later on, or with nothing at all."""

    SYNC = "sync"
    ASYNC = "async"
    ONEWAY = "oneway"


@dataclass(frozen=True, slots=True)
class PlannedSend:
    """
    One call by the application.

    due_ns: not before this offset from the start of the plan; a thread sends its own sends in order, one at a time
    (closed loop), so a late send delays the next ones of its thread only.
    argument: queue number in publish order for QUEUE, selector argument for SELECTOR (chosen queue is the argument
    modulo the number of queues), the message group for GROUP (clients that speak gRPC), unused otherwise. An ASYNC call returns at once, so its thread does not wait for it.
    delay_level: 0 for none. keys and tags: empty for none. properties: user properties besides our own id.
    """

    send: int
    thread: int
    due_ns: int
    kind: SendKind
    argument: int
    body_bytes: int
    mode: SendMode = SendMode.SYNC
    delay_level: int = 0
    keys: str = ""
    tags: str = ""
    properties: tuple[tuple[str, str], ...] = ()


def plan_line(send: PlannedSend) -> dict[str, object]:
    """A planned send as a plan line holds it: what has its default is left out, so that plain plans stay as they were."""
    line: dict[str, object] = {"type": "plan"}
    for field in fields(send):
        value = getattr(send, field.name)
        if field.default is MISSING or value != field.default:
            line[field.name] = value
    return line


@dataclass(frozen=True, slots=True)
class Plan:
    """The sends of one case and the seed they were drawn from."""

    seed: int
    threads: int
    sends: tuple[PlannedSend, ...]

    @property
    def body_bytes(self) -> dict[int, int]:
        """Planned size of the body of every send."""
        return {send.send: send.body_bytes for send in self.sends}
