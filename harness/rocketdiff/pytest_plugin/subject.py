"""A client under test in somebody's own test: it sends to a real cluster, and tells about every attempt."""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.events import Arm
from rocketdiff.core.plan import Plan, PlannedSend, SendKind
from rocketdiff.core.settings import ClientSettings
from rocketdiff.core.subject import SubjectId
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.subjects.child import SubjectProcess
from rocketdiff.subjects.program import SubjectProgram
from rocketdiff.subjects.registry import program_of

_GO_AHEAD_NS = 50_000_000
"""From the word to the first send: the time it takes to wake a thread."""


@dataclass(frozen=True, slots=True)
class LiveSubject:
    """One client; every call of ``send`` is a process and a topic of its own."""

    program: SubjectProgram
    cluster: Cluster
    folder: Path

    def __repr__(self) -> str:
        """As a failed assertion shows it."""
        return f"<{self.program.subject}>"

    def send(
        self,
        count: int = 10,
        *,
        rate_per_s: float = 50.0,
        body_bytes: int = 128,
        queues_per_broker: int = 4,
        settings: ClientSettings | None = None,
        once_ready: Callable[[], object] | None = None,
    ) -> Transcript:
        """
        Send so many messages, one after another, and return every send and attempt as the client told of them.

        once_ready: called when the client is warm and knows its route, just before the first send; the place to pause or
        kill a broker. Raises SubjectBroken when the client dies, stalls or contradicts itself.
        """
        name = f"rocketdiff-{uuid.uuid4().hex[:12]}"
        setup = SubjectSetup(
            name_servers=self.cluster.name_server_addresses,
            topic=name,
            warm_topic=f"{name}-warm",
            group=name,
            run=name,
            settings=settings or ClientSettings(),
        )
        for topic in (setup.topic, setup.warm_topic):
            self.cluster.create_topic(topic, queues_per_broker)
        plan = _plan(count, rate_per_s, body_bytes)
        with SubjectProcess(self.program, Arm.CANDIDATE, self.folder / name, on_line=_unheard) as subject:
            subject.await_hello()
            subject.prepare(plan, setup)
            subject.await_ready()
            if once_ready is not None:
                once_ready()
            subject.go(time.monotonic_ns() + _GO_AHEAD_NS)
            return subject.await_done()


def subject_maker(cluster: Cluster, folder: Path) -> Callable[[str], LiveSubject]:
    """What the fixture gives: from ``client:release`` to a client; UsageError for one that is not known."""
    return lambda name: LiveSubject(program_of(SubjectId.parse(name)), cluster, folder)


def _plan(count: int, rate_per_s: float, body_bytes: int) -> Plan:
    slot_ns = 1_000_000_000 / rate_per_s
    return Plan(0, 1, tuple(PlannedSend(n, 0, int(n * slot_ns), SendKind.PLAIN, 0, body_bytes) for n in range(count)))


def _unheard(_line: bytes) -> None:
    """Nothing is journalled."""
