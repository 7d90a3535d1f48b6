"""Switches: rules to delay or drop frames or to reset their connection."""

from dataclasses import dataclass, field
from enum import StrEnum

from rocketdiff.relay.remoting.frames import FrameInfo


class Action(StrEnum):
    """
    What becomes of a frame.

    DELAY: later frames keep their order; with ``codes`` those of other codes overtake. SWALLOW: the frame is dropped. RESET: the
    connection is reset, the frame dropped.
    """

    DELAY = "delay"
    SWALLOW = "swallow"
    RESET = "reset"


@dataclass(frozen=True, slots=True)
class Switch:
    """
    One rule.

    node: empty for any. to: receiver, ``server`` or ``client``; empty for both. sends: only send requests and responses with a
    queue offset. codes: only requests with these, and the responses to them; empty for any. times: number of frames it applies to;
    None until it is turned off.
    """

    action: Action
    node: str = ""
    to: str = ""
    sends: bool = False
    codes: tuple[int, ...] = ()
    delay_ms: float = 0.0
    times: int | None = None

    def meets(self, node: str, to: str, info: FrameInfo, code: int | None) -> bool:
        """code: of the request, or of the one that is answered."""
        is_send = info.identity is not None or info.queue_offset is not None
        is_of_kind = not self.codes or code in self.codes
        return self.node in ("", node) and self.to in ("", to) and (is_send or not self.sends) and is_of_kind


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

    def choose(self, node: str, to: str, info: FrameInfo, code: int | None = None) -> Switch | None:
        """Return the switch that applies to this frame, if any, and count one use of it. code: as in ``Switch.meets``."""
        for number, active in self._active.items():
            if active.switch.meets(node, to, info, code):
                if active.left is not None:
                    active.left -= 1
                    if active.left <= 0:
                        del self._active[number]
                return active.switch
        return None
