"""What a case about consumers must have, so that a check can be decisive in it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rocketdiff.core.consuming.plan import GroupPlan
from rocketdiff.core.tables.fault import KILLS, PAUSES, FaultSpec

CALM_MESSAGES = 10
"""Fewer show nothing of a busy machine."""

SETTLES_S = 2.0
"""What comes so soon before a disturbance may be delivered in it."""


@dataclass(frozen=True, slots=True)
class Consuming:
    """A case about consumers. messages_per_s: that are fed, for duration_s."""

    group: GroupPlan
    faults: Sequence[FaultSpec]
    messages_per_s: float
    duration_s: float

    @property
    def loses_a_broker(self) -> bool:
        return any(fault.kind in (*PAUSES, *KILLS) for fault in self.faults)

    @property
    def calm_messages(self) -> float:
        """Messages that come before the first fault or change of members."""
        times = (*(fault.at_s for fault in self.faults), *(event.at_s for event in self.group.membership))
        return (min((self.duration_s, *times)) - SETTLES_S) * self.messages_per_s


_NEEDS: Mapping[str, tuple[Callable[[Consuming], bool], str]] = {
    "retries": (lambda case: case.group.has_failing_rule, "no message that comes back: no rule has a failing outcome"),
    "flow-control": (lambda case: case.group.longest_work_ms > 0, "a listener that works on nothing: work_ms is 0"),
    "promptness": (lambda case: case.calm_messages >= CALM_MESSAGES, "less than ten messages in calm"),
    "resume-time": (lambda case: case.loses_a_broker, "no broker that is paused or killed"),
    "takeover-time": (lambda case: bool(case.group.membership), "no member that comes or goes"),
}
"""By check: the condition, and what a case without it has."""


def unanswerable(check: str, case: Consuming) -> str:
    """Return why a check can never be decisive in a case, or an empty text."""
    is_met, lacking = _NEEDS.get(check, (lambda _: True, ""))
    return "" if is_met(case) else lacking
