"""
Sharding keys that make the C++ client's ordered sends choose the queue of a plan's argument.

Its selector is the hash of the key (``std::hash`` of a string in its C++ library) modulo the number of queues. The key of an
argument has a hash congruent to the argument modulo ``MODULUS``, so modulo each of its divisors too.
"""

from collections.abc import Callable

MODULUS = 5_040
"""Divisible by 1 to 10, 12, 14, 15, 16, 18, 20, 21 and 24; not by 11 or 13."""


class ShardingKeys:
    """A key for every argument; the constructor takes 0.1 s."""

    def __init__(self, hash_of: Callable[[bytes], int]) -> None:
        """hash_of: the hash function of the selector."""
        self._keys: dict[int, str] = {}
        number = 0
        while len(self._keys) < MODULUS:
            key = f"key-{number}"
            self._keys.setdefault(hash_of(key.encode()) % MODULUS, key)
            number += 1

    def key_for(self, argument: int) -> str:
        """Return the key of an argument; equal arguments have equal keys."""
        return self._keys[argument % MODULUS]
