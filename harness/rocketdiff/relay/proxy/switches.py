"""What the relay may do to frames besides passing them on: delay, swallow or reset, where and as often as told."""

from dataclasses import dataclass, field
from enum import StrEnum

from rocketdiff.relay.remoting.saying import Saying


class Action(StrEnum):
    """Delay keeps the order of what follows; swallow loses the frame; reset ends the connection in place of it."""

    DELAY = "delay"
    SWALLOW = "swallow"
    RESET = "reset"


@dataclass(frozen=True, slots=True)
class Switch:
    """
    One rule. ``to``: frames on their way to the ``server`` or the ``client``, empty for both. ``node`` empty: any.

    sends: only send requests (and, towards the client, what answers with a queue offset); otherwise every frame.
    times: how many frames it is good for, None for all until it is turned off.
    """

    action: Action
    node: str = ""
    to: str = ""
    sends: bool = False
    delay_ms: float = 0.0
    times: int | None = None

    def meets(self, node: str, to: str, saying: Saying) -> bool:
        """Whether it is about this frame."""
        is_send = saying.identity is not None or saying.queue_offset is not None
        return self.node in ("", node) and self.to in ("", to) and (is_send or not self.sends)


@dataclass(slots=True)
class _Held:
    switch: Switch
    left: int | None


@dataclass(slots=True)
class Switchboard:
    """The switches that are on, first come first served."""

    _held: dict[int, _Held] = field(default_factory=dict)
    _count: int = 0

    @property
    def is_idle(self) -> bool:
        """Whether every frame simply passes."""
        return not self._held

    def turn_on(self, switch: Switch) -> int:
        """Hold from now on; returns the number to turn it off with."""
        self._count += 1
        self._held[self._count] = _Held(switch, switch.times)
        return self._count

    def turn_off(self, number: int) -> None:
        """Let go; one that is off already is no error."""
        self._held.pop(number, None)

    def choose(self, node: str, to: str, saying: Saying) -> Switch | None:
        """The switch this frame meets, which is then used once."""
        for number, held in self._held.items():
            if held.switch.meets(node, to, saying):
                if held.left is not None:
                    held.left -= 1
                    if held.left <= 0:
                        del self._held[number]
                return held.switch
        return None
