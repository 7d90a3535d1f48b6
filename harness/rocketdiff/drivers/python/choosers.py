"""Which thread of the reference chose the broker of an asynchronous attempt: each thread has a counter of its own."""

import threading

from rocketdiff.core.sends.plan import PlannedSend
from rocketmq_reference.application import listener as heard
from rocketmq_reference.application.message import Message

Chosen = tuple[PlannedSend, int, int | None]
"""The send, the number of the attempt, and the number of the thread that chose; None for the application's own."""

Started = tuple[heard.AttemptStarted, int | None]
"""An attempt as it began, and the number of the thread that chose."""


class Choosers:
    """Asynchronous sends under way by their message, and the client's threads numbered as they are met; safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sends: dict[int, tuple[PlannedSend, Message, int]] = {}
        self._chosen: dict[tuple[int, int], Started] = {}
        self._numbers: dict[int, int] = {}

    def submitted(self, send: PlannedSend, message: Message) -> None:
        """The calling thread is about to send a message; it is kept, so that no other can have its identity."""
        with self._lock:
            self._sends[id(message)] = (send, message, threading.get_ident())

    def started(self, event: heard.AttemptStarted) -> None:
        """The running thread has chosen."""
        thread = threading.get_ident()
        with self._lock:
            found = self._sends.get(id(event.message))
            if found is not None:
                caller = found[2]
                number = None if thread == caller else self._numbers.setdefault(thread, len(self._numbers))
                self._chosen[id(event.message), event.attempt] = event, number

    def is_asynchronous(self, message: Message) -> bool:
        """Whether a message was submitted."""
        with self._lock:
            return id(message) in self._sends

    def of(self, event: heard.AttemptEnded) -> Chosen | None:
        """Who chose an attempt that has ended; None for one that ends a second time (5.3.0 to 5.3.3)."""
        with self._lock:
            key = (id(event.message), event.attempt)
            if key not in self._chosen:
                return None
            return self._sends[key[0]][0], event.attempt, self._chosen.pop(key)[1]

    def still_open(self, send: PlannedSend) -> list[Started]:
        """Attempts of a send that never ended, and from now on never will, in their order."""
        with self._lock:
            messages = {key for key, (planned, _, _) in self._sends.items() if planned.send == send.send}
            keys = sorted(key for key in self._chosen if key[0] in messages)
            return [self._chosen.pop(key) for key in keys]
