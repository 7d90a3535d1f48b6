"""Switches: rules to delay or drop frames or to reset their connection."""

from dataclasses import dataclass, field
from enum import StrEnum

from rocketdiff.relay.remoting.frames import FrameInfo


class Action(StrEnum):
    """DELAY: later frames keep their order. SWALLOW: the frame is dropped. RESET: the connection is reset, the frame dropped."""

    DELAY = "delay"
    SWALLOW = "swallow"
    RESET = "reset"


@dataclass(frozen=True, slots=True)
class Switch:
    """
    One rule.

    node: empty for any. to: receiver, ``server`` or ``client``; empty for both. sends: only send requests and responses with a
    queue offset. times: number of frames it applies to; None until it is turned off.
    """

    action: Action
    node: str = ""
    to: str = ""
    sends: bool = False
    delay_ms: float = 0.0
    times: int | None = None

    def meets(self, node: str, to: str, info: FrameInfo) -> bool:
        is_send = info.identity is not None or info.queue_offset is not None
        return self.node in ("", node) and self.to in ("", to) and (is_send or not self.sends)


@dataclass(slots=True)
class _Active:
    switch: Switch
    left: int | None


@dataclass(slots=True)
class Switchboard:
    """The active switches; the one turned on first wins."""

    _active: dict[int, _Active] = field(default_factory=dict)
    _count: int = 0

    @property
    def is_idle(self) -> bool:
        return not self._active

    def turn_on(self, switch: Switch) -> int:
        self._count += 1
        self._active[self._count] = _Active(switch, switch.times)
        return self._count

    def turn_off(self, number: int) -> None:
        """Deactivate a switch; idempotent."""
        self._active.pop(number, None)

    def choose(self, node: str, to: str, info: FrameInfo) -> Switch | None:
        """Return the switch that applies to this frame, if any, and count one use of it."""
        for number, active in self._active.items():
            if active.switch.meets(node, to, info):
                if active.left is not None:
                    active.left -= 1
                    if active.left <= 0:
                        del self._active[number]
                return active.switch
        return None
