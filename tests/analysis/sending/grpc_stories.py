"""Scenarios of clients behind a proxy."""

from dataclasses import dataclass, field

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind
from rocketdiff.core.tables.settings import ClientSettings
from tests.analysis.synthetic import MS, ORIGIN_NS, ArmRecords, Stored, Story
from tests.analysis.trace_builders import SLOW

SUBJECTS = {"baseline": "grpc-java:5.2.0", "candidate": "grpc-acme:1.0.0"}

TIMEOUT_MS, ATTEMPTS, GROUPS = 500, 3, 4


@dataclass(frozen=True)
class GrpcStory(Story):
    """Sends through one proxy to two brokers, in turn or by message group; one broker is paused for a while."""

    name: str = "grpc/pause-one-of-two"
    settings: ClientSettings = field(default_factory=lambda: ClientSettings(send_msg_timeout_ms=TIMEOUT_MS))
    topology: str = "two-masters-proxy"
    checks: tuple[str, ...] = ("attempts", "timing", "loss", "duplication", "content", "queue-choice", "avoidance")

    def plan(self) -> Plan:
        """The message groups take turns."""
        sends = (PlannedSend(n, 0, n * self.every_ms * MS, self.kind, n % GROUPS, 64) for n in range(self.sends))
        return Plan(seed=1, threads=1, sends=tuple(sends))

    def play(self, _release: str, seed: int) -> ArmRecords:
        """A faithful client makes up to three attempts; a paused broker stores its messages when resumed."""
        records, turn, now_ns = ArmRecords(), seed, ORIGIN_NS
        late: list[tuple[tuple[str, int], int, int]] = []
        ends: dict[tuple[str, int], int] = {}
        (pause,) = self.pauses
        paused_ns, resumed_ns = ORIGIN_NS + pause.at_ms * MS, ORIGIN_NS + (pause.at_ms + pause.for_ms) * MS
        for planned in self.plan().sends:
            start_ns = now_ns = max(now_ns + 50_000, ORIGIN_NS + planned.due_ns)
            if now_ns >= resumed_ns:
                for place, send, born_ns in late:
                    _store(records, ends, place, send, born_ns, resumed_ns)
                late.clear()
            error: str | None = "timeout"
            for number in range(ATTEMPTS):
                turn += 1
                place = self.queues[planned.argument if self.kind is SendKind.GROUP else turn % len(self.queues)]
                is_silent = place[0] == pause.broker and paused_ns <= now_ns < resumed_ns
                began_ns, now_ns = now_ns, now_ns + (TIMEOUT_MS if is_silent else 2) * MS
                failure, status = (SLOW, None) if is_silent else (None, "SEND_OK")
                times = (began_ns, now_ns)
                records.attempts.append(Attempt(planned.send, 0, number, "proxy-1", 0, *times, failure, status=status))
                if is_silent:
                    late.append((place, planned.send, began_ns))
                else:
                    _store(records, ends, place, planned.send, began_ns, now_ns)
                    error = None
                    break
            now_ns += 20_000
            status = None if error else "SEND_OK"
            records.sends.append(Send(planned.send, 0, start_ns, now_ns, error=error, status=status))
        for place, send, born_ns in late:
            _store(records, ends, place, send, born_ns, resumed_ns)
        return records


def _store(
    records: ArmRecords, ends: dict[tuple[str, int], int], place: tuple[str, int], send: int, born_ns: int, at_ns: int
) -> None:
    offset = ends[place] = ends.get(place, -1) + 1
    records.stored.append(Stored(*place, offset, send, at_ns // MS, born_ns // MS, sys_flag=0, properties="{}"))
