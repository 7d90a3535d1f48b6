"""The C++ client on in-memory brokers behind a relay."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.plan import Plan
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.relay.proxy.process import Relay
from rocketdiff.relay.remoting.exchanges import Exchange, exchanges_of
from rocketdiff.relay.remoting.record import read_wire
from tests.live import PLENTY_MS
from tests.reference_impl.fake_broker import FakeCluster, Reply, Silence
from tests.relay.relayed import start_relay
from tests.relay.staging import MS, plan_of
from tests.subjects.starting import start_ready

TIMEOUT_MS = 500
"""For sends that shall time out."""

FAIR_MS = 3_000
"""For sends of which some shall time out and others be answered, on a busy machine."""

DEADLINE_S = 60
"""For all sends of a case, five attempts each, on a busy machine."""

Act = Callable[[FakeCluster, Relay], object]


def leave_alone(_cluster: FakeCluster, _relay: Relay) -> None:
    """Do nothing."""


@dataclass
class CaseRecords:
    """One case: the sends that the client reported, and the requests on the wire."""

    sends: list[Send]
    exchanges: list[Exchange]

    @property
    def places(self) -> list[tuple[str, int | None]]:
        return [(one.node[-1], one.request.queue_id) for one in self.exchanges]

    def attempts_of(self, send: int) -> list[Exchange]:
        return [one for one in self.exchanges if one.identity == f"run/T/{send}"]


@dataclass
class Client:
    """Starts the client on in-memory brokers."""

    folder: Path
    stack: ExitStack

    def on(
        self,
        *letters: str,
        replies: list[Reply],
        only: str = "",
        sends: int = 1,
        timeout_ms: int | None = None,
        **options: Any,
    ) -> CaseRecords:
        """
        All brokers, or those of ``only``, play the replies from the first measured send on.

        timeout_ms: by default long, and short if a broker shall be silent. options: of ``through``.
        """

        def play(cluster: FakeCluster, _relay: Relay) -> None:
            for letter in only or letters:
                cluster[letter].script.extend(replies)

        if timeout_ms is None:
            timeout_ms = TIMEOUT_MS if Silence() in replies else PLENTY_MS
        return self.through(*letters, plan=plan_of(sends), once_ready=play, timeout_ms=timeout_ms, **options)

    def through(
        self,
        *letters: str,
        plan: Plan,
        once_ready: Act = leave_alone,
        meanwhile: Act = leave_alone,
        retries: int = 2,
        name_servers: int = 1,
        timeout_ms: int = PLENTY_MS,
    ) -> CaseRecords:
        """Call ``once_ready`` when the client is ready, and ``meanwhile`` while it sends."""
        cluster = self.stack.enter_context(FakeCluster.of(*letters))
        cluster.set_route("W", dict.fromkeys(cluster.brokers, 4))
        relay = self.stack.enter_context(start_relay(cluster, self.folder, name_servers))
        settings = ClientSettings(send_msg_timeout_ms=timeout_ms, retry_times_when_send_failed=retries)
        setup = SubjectSetup(relay.name_servers, "T", "W", "g", "run", settings)
        subject = start_ready(self.stack, "cpp:2.1.0", self.folder / "subject", plan, setup)
        once_ready(cluster, relay)
        subject.go(time.monotonic_ns() + 50 * MS)
        meanwhile(cluster, relay)
        transcript = subject.await_done(DEADLINE_S)
        subject.close()
        return CaseRecords(transcript.sends, exchanges_on(relay))


def exchanges_on(relay: Relay) -> list[Exchange]:
    relay.close()
    return [one for one in exchanges_of(read_wire(relay.journal)) if one.identity.startswith("run/T/")]


def assert_hidden(send: Send) -> None:
    """K55: whatever failed, the client reports a missing route."""
    assert (send.error, send.code) == ("ProducerSendSyncFailed", None)
    assert send.message is not None and send.message.startswith("No route info of this topic: T")
