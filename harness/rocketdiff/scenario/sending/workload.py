"""What applications send in a scenario."""

from collections.abc import Sequence
from dataclasses import dataclass

from rocketdiff.core.demand import SendDemand
from rocketdiff.core.sends.plan import SendKind, SendMode


@dataclass(frozen=True, slots=True)
class Workload:
    """
    What the application does, the same in both arms.

    rate_per_s: over all threads together.
    arguments: used in turn; empty: the number of the send; None: drawn from the seed.
    calls, body_bytes, delay_levels, keys, tags: used in turn.
    properties: user properties of every message.
    """

    threads: int
    rate_per_s: float
    duration_s: float
    calls: tuple[SendKind, ...]
    arguments: tuple[int, ...] | None
    body_bytes: tuple[int, ...]
    mode: SendMode = SendMode.SYNC
    delay_levels: tuple[int, ...] = (0,)
    keys: tuple[str, ...] = ("",)
    tags: tuple[str, ...] = ("",)
    properties: tuple[tuple[str, str], ...] = ()

    @property
    def call(self) -> SendKind:
        """The only call; of several, the one that lets the client choose most."""
        return freest(self.calls)

    @property
    def sends(self) -> int:
        """Sends per arm."""
        return max(1, round(self.rate_per_s * self.duration_s))

    def demands(self, queue_counts: tuple[int, ...]) -> tuple[SendDemand, ...]:
        """What a client must have to take part. queue_counts: of the topic, with one broker, two, and so on."""
        return tuple(SendDemand(call, self.mode, queue_counts) for call in dict.fromkeys(self.calls))

    def figures(self) -> dict[str, object]:
        return {
            "mode": self.mode.value,
            "call": ", ".join(self.calls),
            "threads": self.threads,
            "rate_per_s": self.rate_per_s,
            "duration_s": self.duration_s,
            "body_bytes": list(self.body_bytes),
        }


def freest(calls: Sequence[SendKind]) -> SendKind:
    """Return the first call that names no queue, else the first: it decides what can be known of a case."""
    return next((call for call in calls if not call.names_queue), calls[0])
