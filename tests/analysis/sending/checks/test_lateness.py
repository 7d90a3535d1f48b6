"""Whether delays of timeouts are those of a machine."""

from itertools import pairwise

import pytest

from rocketdiff.analysis.sending.checks.durations.lateness import (
    ERROR_BUDGET,
    chance_of_delays,
    grows,
    growth_ms,
    limit_ms,
)

ON_TIME = [1.0, 4.0, 2.0, 1.0, 3.0, 2.0, 1.0, 2.0, 1.0]
"""Of nine timeouts of a faithful client on an idle machine."""


@pytest.mark.parametrize(
    ("baseline", "candidate", "chance"),
    [
        (ON_TIME, [450.0, 440.0, 430.0], 2.13e-7),  # 1 / C(27, 9): six times 50/3 ms or more
        (ON_TIME, [51.0, 52.0, 53.0], 1.8e-5),  # three times 50/3 ms: about 1 / C(18, 9), above the budget
        (ON_TIME, [450.0, 440.0], 1.0),
        (ON_TIME, [450.0, 440.0, 430.0, 1.0, 1.0, 1.0], 1.0),
        (ON_TIME, [50.0] * 9, 1.0),
        ([200.0, *ON_TIME], [450.0] * 9, 1.0),
        ([], [450.0] * 9, 1.0),
        ([1.0], [450.0] * 3, 1 / 19),
        ([1.0], [51.0] * 9, 1.0),  # C(9, 5) / C(16, 15) is more
    ],
)
def test_chance_of_delays(baseline: list[float], candidate: list[float], chance: float) -> None:
    """Most of a client's delays, at least three, must be late; the baseline's own largest counts three times."""
    assert chance_of_delays(baseline, candidate) == pytest.approx(chance, rel=0.1)


def test_more_timeouts_make_it_less_likely() -> None:
    """The more timeouts either client has, the less a machine explains them."""
    chances = [chance_of_delays(ON_TIME[:n], [450.0] * n) for n in range(3, 10)]
    assert all(later < earlier for earlier, later in pairwise(chances))
    assert chances[0] > ERROR_BUDGET > chances[-1]


def test_a_machine_that_is_slow_in_calm_excuses_late_timeouts() -> None:
    """Seen at load 20: four of seven timeouts of a faithful client up to 82 ms late, where calm sends took up to 29 ms."""
    late = [1.0, 2.0, 5.0, 60.0, 70.0, 75.0, 82.0]
    assert chance_of_delays([1.0] * 40, late) < ERROR_BUDGET
    assert chance_of_delays([1.0] * 40, late, 29.0) == 1.0
    growing = [0.0, 1, 2, 10, 11, 12, 24, 25, 26]
    assert (grows(ON_TIME, growing), grows(ON_TIME, growing, 29.0)) == (True, False)


def test_limit_follows_the_baseline() -> None:
    """50 ms, or three times the largest delay of the baseline in this case."""
    assert [limit_ms(ON_TIME), limit_ms([100.0]), limit_ms([])] == [50, 300, 50]


GROWING = [10.0 * n for n in range(12)]


@pytest.mark.parametrize(
    ("baseline", "candidate", "found"),
    [
        (ON_TIME, GROWING, True),
        (ON_TIME, [20.0, *GROWING[1:]], True),
        (ON_TIME, GROWING[:8], False),
        (ON_TIME, [each / 10 for each in GROWING], False),
        (ON_TIME, GROWING[::-1], False),
        (ON_TIME, [*GROWING[6:], *GROWING[:6]], False),
        (ON_TIME, GROWING[:9], True),
        ([100 + each for each in ON_TIME], GROWING, True),
        ([1.0] * 9, GROWING, True),
        (ON_TIME, [0.0, 1.0, 2.0, 40.0, 30.0, 50.0, 60.0, 70.0, 80.0], False),  # p = 9 / 9!
        (ON_TIME, [0.0, 1.0, 2.0, 8.0, 9.0, 10.0, 20.0, 21.0, 22.0], False),
        (GROWING, GROWING, False),
        ([each / 10 for each in GROWING], [4 * each for each in GROWING], False),
        ([0.0, 100.0, 50.0], GROWING, False),
        ([], GROWING, False),
        (ON_TIME, [100.0] * 12, False),
        ([0.0, 1.0, 2.0, 3.0, 4.0], GROWING, False),  # p = 0.008
        ([0.0, 1.0, 2.0, 3.0, 6.0, 5.0, 4.0], GROWING, True),  # p = 0.015
    ],
)
def test_growth(baseline: list[float], candidate: list[float], found: bool) -> None:
    """Delays in rising order grow, unless they are few, small, or the baseline's scatter or rise as much."""
    assert grows(baseline, candidate) is found


def test_growth_is_between_thirds() -> None:
    """Median of the last third less that of the first."""
    assert growth_ms([0.0, 1.0, 2.0, 5.0, 5.0, 5.0, 10.0, 11.0, 12.0]) == 10
