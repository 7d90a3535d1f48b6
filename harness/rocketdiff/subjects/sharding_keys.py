"""
Sharding keys for the C++ client's ordered sends: the key that makes it choose the queue that a plan's argument asks for.

Its selector is fixed: the hash of the key (``std::hash`` of a string in its C++ library) modulo the number of queues. The key of
an argument has a hash that equals the argument modulo ``MODULUS``, and so modulo every divisor of it.
"""

from collections.abc import Callable

MODULUS = 5_040
"""Divided by every number of queues up to 10, and by 12, 14, 15, 16, 18, 20, 21 and 24; not by 11 or 13."""


class ShardingKeys:
    """A key for every argument. Making them takes a tenth of a second."""

    def __init__(self, hash_of: Callable[[bytes], int]) -> None:
        """hash_of: the hash function of the selector."""
        self._keys: dict[int, str] = {}
        number = 0
        while len(self._keys) < MODULUS:
            key = f"key-{number}"
            self._keys.setdefault(hash_of(key.encode()) % MODULUS, key)
            number += 1

    def key_for(self, argument: int) -> str:
        """The key of an argument; equal arguments have equal keys."""
        return self._keys[argument % MODULUS]
