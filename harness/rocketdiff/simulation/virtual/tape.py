"""The random numbers of a script: splitmix64 from its seed, the same sequence as in the Java host."""

from typing import TypeVar

Item = TypeVar("Item")

_MASK = 2**64 - 1
_STEP = 0x9E37_79B9_7F4A_7C15
_FIRST_MIX = 0xBF58_476D_1CE4_E5B9
_SECOND_MIX = 0x94D0_49BB_1331_11EB


class ScriptedTape:
    """A Tape (see rocketmq_reference.rules.tape) that is determined by its seed."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def int32(self) -> int:
        low = self._mix() & 0xFFFF_FFFF
        return low - 2**32 if low >= 2**31 else low

    def below(self, bound: int) -> int:
        return self._mix() % bound

    def shuffle(self, items: list[Item]) -> None:
        for size in range(len(items), 1, -1):
            other = self.below(size)
            items[size - 1], items[other] = items[other], items[size - 1]

    def _mix(self) -> int:
        self._state = mixed = (self._state + _STEP) & _MASK
        mixed = ((mixed ^ mixed >> 30) * _FIRST_MIX) & _MASK
        mixed = ((mixed ^ mixed >> 27) * _SECOND_MIX) & _MASK
        return mixed ^ mixed >> 31
