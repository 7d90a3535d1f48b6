"""Wall times by samples of the wall clock's offset."""

import pytest

from rocketdiff.core.clock import ClockAnchor

MS = 1_000_000
STEPPED = ClockAnchor(1_000 * MS, 70_000, ((1_000 * MS, 0), (2_000 * MS, 0), (2_100 * MS, 31 * MS)))
BACK = ClockAnchor(1_000 * MS, 70_000, ((1_000 * MS, 0), (2_000 * MS, 0), (2_100 * MS, -5_000 * MS)))
SLEWED = ClockAnchor(0, 0, ((0, 0), (100 * MS, 2 * MS), (200 * MS, 4 * MS), (300 * MS, 6 * MS)))


@pytest.mark.parametrize(
    ("clock", "from_ms", "to_ms", "expected"),
    [
        (ClockAnchor(1_000 * MS, 70_000), 900, 3_000, (69_900, 72_000)),
        (STEPPED, 1_000, 1_500, (70_000, 70_500)),
        (STEPPED, 500, 600, (69_500, 69_600)),
        (STEPPED, 2_040, 2_050, (71_040, 71_081)),
        (STEPPED, 1_900, 2_500, (70_900, 71_531)),
        (STEPPED, 2_100, 2_200, (71_131, 71_231)),
        (STEPPED, 9_000, 9_001, (78_031, 78_032)),
        (BACK, 2_040, 2_050, (66_040, 71_050)),
        (SLEWED, 110, 120, (112, 124)),
    ],
)
def test_wall_times_between_two_instants(
    clock: ClockAnchor, from_ms: int, to_ms: int, expected: tuple[int, int]
) -> None:
    """Before, within, across and after a step; within one, the offset is that before or after it."""
    assert clock.range_ms(from_ms * MS, to_ms * MS) == expected


@pytest.mark.parametrize(
    ("clock", "steps", "since_ms"),
    [
        (ClockAnchor(0, 0), [], None),
        (STEPPED, [(2_000, 2_100)], 2_000),
        (BACK, [(2_000, 2_100)], 2_000),
        (SLEWED, [], 200),
    ],
)
def test_a_slip_of_more_than_five_ms(clock: ClockAnchor, steps: list[tuple[int, int]], since_ms: int | None) -> None:
    """At once it is a step; slowly it is none, but the clock is off from the sample before it on."""
    assert [(from_ns // MS, to_ns // MS) for from_ns, to_ns in clock.steps()] == steps
    assert clock.slipped_since_ns == (None if since_ms is None else since_ms * MS)
