"""What a client must offer to be driven by these programs."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from rocketdiff.core.sends.plan import PlannedSend
from rocketdiff.core.sends.records import Record
from rocketdiff.protocol.commands import SubjectSetup

Speak = Callable[[Record], None]
"""Says one record to the runner; returns at once, from any thread."""


class Answer(NamedTuple):
    """What the client's result said; not every client's names a queue."""

    status: str
    broker: str | None
    queue_id: int | None
    queue_offset: int | None


class Client(Protocol):
    """A client under test, for one setup; it speaks routes and attempts itself, in the thread they happen in."""

    def prepare(self) -> None:
        """Warm up on the warm topic, start the measured producer, look its route up, open its connections."""
        ...

    def message(self, send: PlannedSend) -> Any:
        """The message of a send, made before its time is taken."""
        ...

    def route(self) -> int:
        """Number of the publish list in use, 0 for none; a number is spoken before it is given here."""
        ...

    def send(self, send: PlannedSend, message: Any) -> Answer:
        """The call itself; raises what the client raises."""
        ...

    def send_async(self, send: PlannedSend, message: Any, told: Callable[[Answer | Exception], None]) -> None:
        """The asynchronous call; its callback tells ``told``."""
        ...

    def send_oneway(self, send: PlannedSend, message: Any) -> None:
        """The call that waits for nothing."""
        ...

    def gave_up(self, send: PlannedSend, now_ns: int) -> None:
        """The callback of an asynchronous send never came: an attempt that is still open is told, as one whose end nobody saw."""
        ...

    def shutdown(self) -> None:
        """End cleanly; may block on a paused broker."""
        ...


ClientFactory = Callable[[SubjectSetup, Speak], Client]
