"""
Java's ``int`` arithmetic and string hash, as far as the producer's decisions depend on them.

An ``int`` wraps at 32 bits, ``Math.abs(MIN)`` is MIN, and ``%`` takes the sign of the dividend.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeVar

Item = TypeVar("Item")

INT_MAX = 2**31 - 1
INT_MIN = -(2**31)


def wrap32(value: int) -> int:
    """Return the value as a Java ``int`` holds it after overflow."""
    return (value + 2**31) % 2**32 - 2**31


def increment(value: int) -> int:
    """Return ``value + 1`` of an ``int``: MAX is followed by MIN."""
    return value + 1 if value < INT_MAX else INT_MIN


def abs32(value: int) -> int:
    """Return ``Math.abs(int)``: the absolute value, except that MIN stays MIN."""
    return value if value >= 0 or value == INT_MIN else -value


def remainder(dividend: int, divisor: int) -> int:
    """Return Java's ``%``; raises ZeroDivisionError where Java throws ArithmeticException."""
    return dividend % divisor if dividend >= 0 else -(-dividend % divisor)


def string_hash(text: str) -> int:
    """Return ``String.hashCode``: a polynomial over UTF-16 units."""
    units = text.encode("utf-16-be", "surrogatepass")
    result = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        result = (31 * result + (high << 8 | low)) & 0xFFFF_FFFF
    return wrap32(result)


def hash_order(names: Iterable[str], *, buckets: int, concurrent: bool) -> list[str]:
    """
    Return names in the iteration order of a Java hash table: by bucket, within a bucket by insertion.

    A HashMap doubles when it is more than three quarters full, a ConcurrentHashMap when it reaches three quarters (observed
    on 4.9.4's classes with 24 brokers). The order within a bucket after a doubling is not modelled.
    """
    return in_bucket_order(names, spread_hash, buckets=buckets, concurrent=concurrent)


def in_bucket_order(
    items: Iterable[Item], spread_of: Callable[[Item], int], *, buckets: int, concurrent: bool
) -> list[Item]:
    """Return items in the iteration order of a hash table, like ``hash_order``; spread_of: the spread hash of an item."""
    known = list(items)
    buckets = grown(buckets, len(known) if concurrent else len(known) - 1)
    return sorted(known, key=lambda item: spread_of(item) % buckets)


def grown(buckets: int, entries: int) -> int:
    """Return the number of buckets of a ConcurrentHashMap with so many entries."""
    while entries >= buckets * 3 // 4:
        buckets *= 2
    return buckets


def table_size(capacity: int) -> int:
    """Return the number of buckets of a HashMap that is made for so many entries: the next power of two."""
    return 1 << max(0, capacity - 1).bit_length()


@lru_cache(maxsize=4_096)  # called repeatedly for few names
def spread_hash(text: str) -> int:
    """Return the hash by which ConcurrentHashMap finds a bucket: upper half folded into the lower, sign dropped."""
    return spread(string_hash(text))


def spread(code: int) -> int:
    """Return a hash code as ``spread_hash`` does."""
    unsigned = code & 0xFFFF_FFFF
    return (unsigned ^ unsigned >> 16) & INT_MAX
