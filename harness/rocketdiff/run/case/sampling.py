"""A thread that looks at all clients of a case at intervals, and at them at rest."""

import threading
from abc import ABC, abstractmethod
from typing import Self


class Watch(ABC):
    """
    Looks when the block begins, regularly while it is active, and in its own way at rest if ``rest`` was called.

    every_s: sampling interval; by default a second of calm gets two samples. Each watch states its cost.
    """

    every_s = 0.5

    def __init__(self, name: str) -> None:
        self._over = threading.Event()
        self._is_at_rest = False
        self._thread = threading.Thread(target=self._watch, name=name, daemon=True)

    def __enter__(self) -> Self:
        self._look()
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._thread.join()

    def rest(self) -> None:
        """End regular sampling once everything is healed. Leaving the block waits for the last samples."""
        self._is_at_rest = True
        self._over.set()

    def await_rest(self) -> None:
        """Wait for the last samples, before what they show would change."""
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(self.every_s):
            self._look()
        if self._is_at_rest:
            self._look_at_rest()

    @abstractmethod
    def _look(self, *, is_at_rest: bool = False) -> None:
        """Take one sample of each client."""

    @abstractmethod
    def _look_at_rest(self) -> None:
        """Take the last samples."""
