"""
Sharding keys for the C++ client's ordered sends: which key makes it choose the queue that a plan's argument asks for.

Its selector is fixed: the hash of the key (the C++ library's ``std::hash`` of a string) modulo the number of queues. So for
an argument a key is taken whose hash is the argument modulo ``MODULUS``, and with it modulo every number that divides it.
"""

from collections.abc import Callable

MODULUS = 5_040
"""Divided by every number of queues up to 10, and by 12, 14, 15, 16, 18, 20, 21 and 24; not by 11 or 13."""


class ShardingKeys:
    """A key for every argument; made once, in a tenth of a second."""

    def __init__(self, hash_of: Callable[[bytes], int]) -> None:
        """hash_of: the hash that selects."""
        self._keys: dict[int, str] = {}
        number = 0
        while len(self._keys) < MODULUS:
            key = f"key-{number}"
            self._keys.setdefault(hash_of(key.encode()) % MODULUS, key)
            number += 1

    def key_for(self, argument: int) -> str:
        """The key of an argument; equal arguments have equal keys."""
        return self._keys[argument % MODULUS]
