"""A client of the Python driver that answers everything."""

from typing import Any

from rocketdiff.core.sends.plan import PlannedSend
from rocketdiff.drivers.python.sending.async_sends import Told
from rocketdiff.drivers.python.sending.client import ClientResult


class Willing:
    """A client that answers everything."""

    def __init__(self, trouble: str = "") -> None:
        self._trouble = trouble

    def prepare(self) -> None:
        if self._trouble:
            raise OSError(self._trouble)

    def message(self, send: PlannedSend) -> Any:
        return send.send

    def route(self) -> int:
        return 0

    def send(self, send: PlannedSend, message: Any) -> ClientResult:  # noqa: ARG002 - ignores both
        return ClientResult("SEND_OK", "broker-a", 0, 0)

    def send_async(self, send: PlannedSend, message: Any, on_end: Told) -> None:
        on_end(self.send(send, message))

    def send_oneway(self, send: PlannedSend, message: Any) -> None:
        """Does nothing."""

    def gave_up(self, send: PlannedSend, now_ns: int) -> None:
        """Never called."""

    def shutdown(self) -> None:
        """Does nothing."""
