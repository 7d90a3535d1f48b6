"""A channel's own thread, which takes turns at reading while there is something nobody else waits for."""

import threading
from collections.abc import Callable

_LINGER_S = 1.0  # rather than a new thread for every request


class Watcher:
    """
    Runs ``take_turn`` again and again as long as ``is_wanted``; the thread comes when it is woken and goes by itself.

    lock: held by whoever calls wake(), and while the thread decides to go, so that no wake-up is lost.
    """

    def __init__(
        self, name: str, lock: threading.Lock, is_wanted: Callable[[], bool], take_turn: Callable[[], None]
    ) -> None:
        self._name = name
        self._lock = lock
        self._is_wanted = is_wanted
        self._take_turn = take_turn
        self._woken: threading.Event | None = None

    def wake(self) -> None:
        """There is something to watch for."""
        if self._woken is None:
            self._woken = threading.Event()
            threading.Thread(target=self._run, args=(self._woken,), name=self._name, daemon=True).start()
        else:
            self._woken.set()

    def _run(self, woken: threading.Event) -> None:
        while True:
            woken.clear()
            if self._is_wanted():
                self._take_turn()
            elif not woken.wait(_LINGER_S):
                with self._lock:
                    if not self._is_wanted():
                        self._woken = None
                        return
