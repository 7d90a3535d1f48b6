"""Put the same planned send of both arms side by side."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.core.arm import Arm


@dataclass(frozen=True, slots=True)
class AlignedSend:
    """One planned send in both arms; None where that arm never began it. sides: those that are present, baseline first."""

    thread: int
    send: int
    baseline: SendView | None
    candidate: SendView | None
    sides: tuple[SendView, ...] = field(init=False)

    def __post_init__(self) -> None:
        sides = tuple(side for side in (self.baseline, self.candidate) if side is not None)
        object.__setattr__(self, "sides", sides)

    def side(self, arm: Arm) -> SendView | None:
        return self.baseline if arm is Arm.BASELINE else self.candidate


def aligned(baseline: Iterable[SendView], candidate: Iterable[SendView]) -> Iterator[AlignedSend]:
    """Full outer merge of two streams sorted by (thread, send)."""
    first, second = iter(baseline), iter(candidate)
    left, right = next(first, None), next(second, None)
    while left is not None or right is not None:
        order = min(side.order for side in (left, right) if side is not None)
        here = left if left is not None and left.order == order else None
        there = right if right is not None and right.order == order else None
        yield AlignedSend(order[0], order[1], here, there)
        left = next(first, None) if here is not None else left
        right = next(second, None) if there is not None else right
