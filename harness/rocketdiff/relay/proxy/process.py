"""The runner's side of a relay process: start, addresses, switches, stop, check for complete records."""

import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from rocketdiff.core.closing import Closing
from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.process.child import Child, python_environment
from rocketdiff.relay.proxy.listener import Upstream
from rocketdiff.relay.proxy.program import Configuration, RelayOrder, RelayReply, RelayTls
from rocketdiff.relay.proxy.switches import Switch

_START_S = 20.0
"""Limit for starting an interpreter on a machine that is busy starting two clients."""

_ANSWER_S = 10.0
"""Generous: an order is executed between two frames."""


class Relay(Closing):
    """A running relay; a context manager. Several threads may turn switches."""

    def __init__(self, upstreams: Sequence[Upstream], journal: Path, tls: RelayTls | None = None) -> None:
        """
        Start the process; its stderr, normally empty, goes to ``journal`` with the suffix ``.log``.

        tls: None for plain connections. Its files may be deleted after this returns.
        """
        self._upstreams = tuple(upstreams)
        self._is_closed = False
        self._asking = threading.Lock()
        self.journal = journal
        configuration = Configuration(self._upstreams, str(journal.absolute()), tls)
        journal.parent.mkdir(parents=True, exist_ok=True)
        self._log = journal.with_suffix(".log")
        self._process = Child(
            [sys.executable, "-m", "rocketdiff.relay.proxy.program"],
            stderr=self._log.open("a+b"),
            environment=python_environment(),
        )
        try:
            self._process.write(msgspec.json.encode(configuration) + b"\n", _START_S)
            self.addresses = self._answer(_START_S).addresses or {}
        except BaseException:
            self._process.close()
            raise

    @property
    def pid(self) -> int:
        """Process id of the relay's supervisor."""
        return self._process.pid

    @property
    def name_servers(self) -> tuple[str, ...]:
        """Name server addresses for the client, in place of the cluster's own."""
        return tuple(self.addresses[each.name] for each in self._upstreams if not each.is_broker)

    def require_alive(self) -> None:
        """Raise EnvironmentMissing if the relay has died: from then on it distorts what its client does."""
        if self._process.await_end(0):
            hint = f"see {self._log.name}"
            raise EnvironmentMissing("the recording relay to outlive its client", seen=self._end(), hint=hint)

    def turn_on(self, switch: Switch) -> int:
        """Apply a switch from the next frame on; return the number for ``turn_off``."""
        number = self._order(RelayOrder(on=switch)).switch
        assert number is not None
        return number

    def turn_off(self, number: int) -> None:
        self._order(RelayOrder(off=number))

    def move(self, upstream: Upstream) -> None:
        """Follow a broker to its new address, at another port of the relay; the former port refuses from now on."""
        self.addresses |= self._order(RelayOrder(move=upstream)).addresses or {}

    def close(self) -> None:
        """
        Stop the relay; all records are then in the file. Idempotent.

        Raises EnvironmentMissing if the relay could not write all records or died before this call.
        """
        if self._is_closed:
            return
        self._is_closed = True
        try:
            reply = self._order(RelayOrder(stop=True))
        finally:
            self._process.close()
        if reply.problem:
            raise EnvironmentMissing(f"to be able to write {self.journal.name}", seen=reply.problem)
        if not self._log.stat().st_size:
            self._log.unlink()

    def _order(self, order: RelayOrder) -> RelayReply:
        with self._asking:
            self._process.write(msgspec.json.encode(order) + b"\n", _ANSWER_S)
            return self._answer(_ANSWER_S)

    def _answer(self, timeout_s: float) -> RelayReply:
        deadline = time.monotonic() + timeout_s
        seen = f"nothing for {timeout_s:g} s"
        try:
            while (lines := self._process.hear(max(0.0, deadline - time.monotonic()))) is not None:
                if lines:
                    return msgspec.json.decode(lines[0], type=RelayReply)
        except EOFError:
            seen = self._end()
        raise EnvironmentMissing("the recording relay to answer", seen=seen, hint=f"see {self._log.name}")

    def _end(self) -> str:
        words = self._process.last_words()
        return f"it ended: {words}" if words else "it ended without output"
