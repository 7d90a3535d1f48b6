"""The reference thread that chose the broker of an asynchronous attempt; each thread has its own counter."""

import threading

from rocketdiff.core.sends.plan import PlannedSend
from rocketmq_reference.api import listener as heard
from rocketmq_reference.client.message import Message

Chosen = tuple[PlannedSend, int, int | None]
"""Send, attempt number, and number of the choosing thread; None for the application's own thread."""

Started = tuple[heard.AttemptStarted, int | None]
"""The start of an attempt, and the number of the choosing thread."""


class Choosers:
    """Asynchronous sends by message, and the client's threads, numbered at first sight; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sends: dict[int, tuple[PlannedSend, Message, int]] = {}
        self._chosen: dict[tuple[int, int], Started] = {}
        self._numbers: dict[int, int] = {}

    def submitted(self, send: PlannedSend, message: Message) -> None:
        """Register a message that this thread is about to send; keeping it alive makes its ``id()`` unique."""
        with self._lock:
            self._sends[id(message)] = (send, message, threading.get_ident())

    def started(self, event: heard.AttemptStarted) -> None:
        thread = threading.get_ident()
        with self._lock:
            found = self._sends.get(id(event.message))
            if found is not None:
                caller = found[2]
                number = None if thread == caller else self._numbers.setdefault(thread, len(self._numbers))
                self._chosen[id(event.message), event.attempt] = event, number

    def is_asynchronous(self, message: Message) -> bool:
        with self._lock:
            return id(message) in self._sends

    def of(self, event: heard.AttemptEnded) -> Chosen | None:
        """Return the chooser of an ended attempt; None if it ends a second time (5.3.0 to 5.3.3)."""
        with self._lock:
            key = (id(event.message), event.attempt)
            if key not in self._chosen:
                return None
            return self._sends[key[0]][0], event.attempt, self._chosen.pop(key)[1]

    def still_open(self, send: PlannedSend) -> list[Started]:
        """Remove and return the attempts of a send that never ended, in their order."""
        with self._lock:
            messages = {key for key, (planned, _, _) in self._sends.items() if planned.send == send.send}
            keys = sorted(key for key in self._chosen if key[0] in messages)
            return [self._chosen.pop(key) for key in keys]
