"""A client for a user's test: it sends to a real cluster and reports every attempt."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.arm import CANDIDATE
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.run.subject_check.one_subject import carried_out, new_setup, unheard
from rocketdiff.subjects.program import SubjectProgram
from rocketdiff.subjects.registry import resolved
from rocketdiff.subjects.subject_process import SubjectProcess


@dataclass(frozen=True, slots=True)
class LiveSubject:
    """One client. Every call of ``send`` uses a new process and a new topic."""

    program: SubjectProgram
    cluster: Cluster
    folder: Path

    def __repr__(self) -> str:
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
        Send messages one after another, and return every send and attempt that the client reported.

        once_ready: called when the client is warm and knows its route, just before the first send; the place to pause or
        kill a broker. Raises SubjectBroken if the client dies, stalls or contradicts itself.
        """
        setup = new_setup(self.cluster, settings or ClientSettings(), queues_per_broker)
        plan = _plan(count, rate_per_s, body_bytes)
        with SubjectProcess(self.program, CANDIDATE, self.folder / setup.topic, on_line=unheard) as process:
            process.await_hello()
            return carried_out(process, plan, setup, once_ready)


def subject_maker(cluster: Cluster, folder: Path) -> Callable[[str], LiveSubject]:
    """The fixture's value: maps a ``--subject`` value to a client. UsageError for an unknown one."""
    return lambda name: LiveSubject(resolved(name).program, cluster, folder)


def _plan(count: int, rate_per_s: float, body_bytes: int) -> Plan:
    slot_ns = 1_000_000_000 / rate_per_s
    return Plan(0, 1, tuple(PlannedSend(n, 0, int(n * slot_ns), SendKind.PLAIN, 0, body_bytes) for n in range(count)))
