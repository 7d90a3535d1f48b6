"""Interface of a client that these drivers run."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from rocketdiff.core.sends.plan import PlannedSend
from rocketdiff.drivers.python.session import Speak
from rocketdiff.protocol.commands import SubjectSetup


class ClientResult(NamedTuple):
    """The client's result; not every client names a queue."""

    status: str
    broker: str | None
    queue_id: int | None
    queue_offset: int | None


class Client(Protocol):
    """A client under test, for one setup; it reports routes and attempts itself, on the thread where they happen."""

    def prepare(self) -> None:
        """Warm up on the warm topic, start the measured producer, look up its route, open its connections."""
        ...

    def message(self, send: PlannedSend) -> Any:
        """Return the message of a send; raises what the client refuses."""
        ...

    def route(self) -> int:
        """Return the number of the publish list in use, already reported; 0 for none."""
        ...

    def send(self, send: PlannedSend, message: Any) -> ClientResult:
        """Make the call; raises what the client raises."""
        ...

    def send_async(self, send: PlannedSend, message: Any, on_end: Callable[[ClientResult | Exception], None]) -> None:
        """Make the asynchronous call; its callback calls ``on_end``."""
        ...

    def send_oneway(self, send: PlannedSend, message: Any) -> None:
        """Make the one-way call."""
        ...

    def gave_up(self, send: PlannedSend, now_ns: int) -> None:
        """Report open attempts, with the error UnseenEnd, of an asynchronous send whose callback never came."""
        ...

    def shutdown(self) -> None:
        """Shut down cleanly; may block on a paused broker."""
        ...


ClientFactory = Callable[[SubjectSetup, Speak], Client]
