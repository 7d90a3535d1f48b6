"""The merge of both arms, on literal rows."""

from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.analysis.sending.steps.aligned import aligned
from rocketdiff.core.arm import Arm


def side(arm: Arm, thread: int, send: int) -> SendView:
    return SendView(arm, thread, send, None)


def test_every_send_appears_once_with_the_arms_that_began_it() -> None:
    """Every send appears once, by thread and number, also if one arm lacks it."""
    baseline = [side(Arm.BASELINE, 0, 0), side(Arm.BASELINE, 0, 2), side(Arm.BASELINE, 1, 3)]
    candidate = [side(Arm.CANDIDATE, 0, 0), side(Arm.CANDIDATE, 1, 1), side(Arm.CANDIDATE, 1, 3)]
    merged = list(aligned(baseline, candidate))
    assert [(one.thread, one.send, [str(each.arm) for each in one.sides]) for one in merged] == [
        (0, 0, ["baseline", "candidate"]),
        (0, 2, ["baseline"]),
        (1, 1, ["candidate"]),
        (1, 3, ["baseline", "candidate"]),
    ]


def test_a_silent_arm_leaves_the_other_alone() -> None:
    """An arm without sends does not affect the other's."""
    (only,) = aligned([], [side(Arm.CANDIDATE, 0, 5)])
    assert only.baseline is None and only.side(Arm.CANDIDATE) is only.candidate
    (other,) = aligned([side(Arm.BASELINE, 0, 5)], [])
    assert other.candidate is None and other.side(Arm.BASELINE) is other.baseline
