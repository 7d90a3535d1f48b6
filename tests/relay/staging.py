"""A subject on a real cluster behind a relay."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.relay.proxy.listener import Upstream
from rocketdiff.relay.proxy.process import Relay
from rocketdiff.relay.remoting.attempts import attempts_of
from rocketdiff.relay.remoting.exchanges import exchanges_of, past_the_relay
from rocketdiff.relay.remoting.record import read_wire
from rocketdiff.subjects.subject_process import SubjectProcess
from tests.live import PLENTY_MS
from tests.subjects.starting import start_ready

NUMBERS = count(1)
MS = 1_000_000


def upstreams_of(cluster: Cluster) -> tuple[Upstream, ...]:
    name_servers = (Upstream(node.name, node.address, is_broker=False) for node in cluster.name_servers)
    return (*name_servers, *(Upstream(node.name, node.address, is_broker=True) for node in cluster.brokers))


@dataclass
class Stage:
    """A ready subject with relay, topic and plan."""

    cluster: Cluster
    subject: SubjectProcess
    relay: Relay
    topic: str
    plan: Plan
    timeout_ms: int

    def wire(self, transcript: Transcript) -> list[Attempt]:
        """End client and relay; return the attempts on the wire."""
        self.subject.close()
        self.relay.close()
        records = list(read_wire(self.relay.journal))
        assert past_the_relay(records) == []
        sends = {send.send: send for send in transcript.sends}
        threads = {send.send: send.thread for send in self.plan.sends}
        return attempts_of(exchanges_of(records), self.topic, sends, threads, self.timeout_ms)


@dataclass
class Staging:
    """Makes a subject ready behind its own relay."""

    cluster: Cluster
    folder: Path
    stack: ExitStack

    def __call__(self, name: str, plan: Plan, *, timeout_ms: int = PLENTY_MS) -> Stage:
        topic = f"relayed-{next(NUMBERS)}"
        for each in (topic, f"{topic}-warm"):
            self.cluster.create_topic(each, 4)
        folder = self.folder / topic
        folder.mkdir()
        relay = self.stack.enter_context(Relay(upstreams_of(self.cluster), folder / "wire.ndjson"))
        settings = ClientSettings(send_msg_timeout_ms=timeout_ms)
        setup = SubjectSetup(relay.name_servers, topic, f"{topic}-warm", f"{topic}-g", "run", settings)
        subject = start_ready(self.stack, name, folder / "subject", plan, setup)
        return Stage(self.cluster, subject, relay, topic, plan, timeout_ms)


def plan_of(sends: int, kinds: Sequence[SendKind] = (SendKind.PLAIN,), every_ms: int = 10) -> Plan:
    """One thread, kinds in turn."""
    planned = (PlannedSend(send, 0, send * every_ms * MS, kinds[send % len(kinds)], send, 64) for send in range(sends))
    return Plan(1, 1, tuple(planned))
