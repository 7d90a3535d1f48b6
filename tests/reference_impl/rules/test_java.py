"""Java's integers and hashes."""

import pytest

from rocketmq_reference.rules.java import INT_MAX, INT_MIN, abs32, remainder, spread_hash, string_hash, wrap32


@pytest.mark.parametrize(
    ("value", "wrapped"), [(INT_MAX, INT_MAX), (INT_MAX + 1, INT_MIN), (INT_MIN - 1, INT_MAX), (-1, -1)]
)
def test_an_int_wraps_at_32_bits(value: int, wrapped: int) -> None:
    """MAX + 1 is MIN, and MIN − 1 is MAX."""
    assert wrap32(value) == wrapped


def test_the_absolute_value_of_min_is_min() -> None:
    """abs(MIN) is MIN, because its absolute value does not fit."""
    assert [abs32(INT_MIN), abs32(-5), abs32(5)] == [INT_MIN, 5, 5]


def test_a_remainder_takes_the_sign_of_the_dividend() -> None:
    """A remainder has the sign of the dividend, unlike Python's modulo."""
    assert [remainder(-7, 4), remainder(7, 4), remainder(-8, 4)] == [-3, 3, 0]


def test_a_remainder_of_nothing_is_an_arithmetic_error() -> None:
    """A remainder by 0 raises ZeroDivisionError, as Java's ArithmeticException."""
    with pytest.raises(ZeroDivisionError):
        remainder(-1, 0)


def test_string_hashes_are_javas() -> None:
    """String hashes equal those of the JDK, for two strings that collide and one that overflows."""
    assert string_hash("Aa") == string_hash("BB") == 2112
    assert string_hash("polygenelubricants") == INT_MIN


def test_the_spread_hash_folds_the_upper_half_into_the_lower() -> None:
    """The spread hash of 0x80000000 is 0x80008000 without its sign bit."""
    assert spread_hash("polygenelubricants") == 0x8000
