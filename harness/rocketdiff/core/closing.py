"""What a ``with`` block closes."""

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Something that its ``with`` block closes."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
