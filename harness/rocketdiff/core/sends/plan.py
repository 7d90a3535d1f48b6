"""The exact list of sends of a case, the same for both arms."""

from dataclasses import MISSING, dataclass, fields
from enum import StrEnum


class SendKind(StrEnum):
    """Call of the client's API that a send uses."""

    PLAIN = "plain"
    QUEUE = "queue"
    SELECTOR = "selector"
    BATCH = "batch"
    GROUP = "group"

    @property
    def names_queue(self) -> bool:
        """True for a call that names its queue: no retry, no choice, no failover (sendKernelImpl is called once)."""
        return self in (SendKind.QUEUE, SendKind.SELECTOR)

    @property
    def has_argument(self) -> bool:
        """True for a call that takes an argument: it names a queue or a message group."""
        return self.names_queue or self is SendKind.GROUP


class SendMode(StrEnum):
    """How a call ends: with a response, with a later callback, or with neither."""

    SYNC = "sync"
    ASYNC = "async"
    ONEWAY = "oneway"


@dataclass(frozen=True, slots=True)
class PlannedSend:
    """
    One call by the application.

    due_ns: earliest start, from the start of the plan. A thread sends in order, one at a time (closed loop), so a
        late send delays only its own thread. An ASYNC call returns at once.
    argument: queue number in publish order for QUEUE; selector argument for SELECTOR (queue = argument modulo number
        of queues); message group for GROUP (gRPC clients).
    delay_level: 0 for none.
    keys, tags: empty for none.
    properties: user properties besides our id.
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
    """Return the members of a plan line. Defaults are left out, so that lines of plain plans do not change."""
    line: dict[str, object] = {"type": "plan"}
    for field in fields(send):
        value = getattr(send, field.name)
        if field.default is MISSING or value != field.default:
            line[field.name] = value
    return line


@dataclass(frozen=True, slots=True)
class Plan:
    """The sends of one case, and the seed they were drawn from."""

    seed: int
    threads: int
    sends: tuple[PlannedSend, ...]

    @property
    def body_bytes(self) -> dict[int, int]:
        """By send number."""
        return {send.send: send.body_bytes for send in self.sends}
