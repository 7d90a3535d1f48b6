"""One of two proxies is paused: how long sends are blocked, and how soon the other proxy is used."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.sending.grpc_stories import SUBJECTS, TIMEOUT_MS, GrpcStory, attempt_of, send_of
from tests.analysis.synthetic import MS, ORIGIN_NS, ArmRecords, Pause, Stored

NewRun = Callable[..., RunDirectory]
EndingOf = Callable[..., Ended]

PAUSED = tuple(Pause("proxy-1", 1_000 + 4_000 * number, 2_000, FaultKind.PAUSE_PROXY) for number in range(4))


@dataclass(frozen=True)
class PausedProxyStory(GrpcStory):
    """proxy-1 is paused four times; each pause's first send times out there and goes on with proxy-2."""

    name: str = "grpc/pause-one-of-two-proxies"
    topology: str = "two-masters-two-proxies"
    pauses: tuple[Pause, ...] = PAUSED
    sends: int = 850
    checks: tuple[str, ...] = ("attempts", "timing", "failover-time", "loss", "duplication")
    idle_ms: int = 0

    def play(self, _release: str, seed: int) -> ArmRecords:
        """
        Each pause blocks one send for 500 ms, then proxy-2 answers in 2 ms.

        idle_ms: delay between the two, 0 for a faithful client. seed: the first queue.
        """
        records, now_ns = ArmRecords(), ORIGIN_NS
        left: set[int] = set()
        for planned in self.plan().sends:
            start_ns = now_ns = max(now_ns + 50_000, ORIGIN_NS + planned.due_ns)
            place = self.queues[(seed + planned.send) % len(self.queues)]
            number, pause = 0, _pause_at(self.pauses, now_ns)
            if pause is not None and pause.at_ms not in left:
                left.add(pause.at_ms)
                now_ns += TIMEOUT_MS * MS
                records.attempts.append(attempt_of(planned.send, 0, start_ns, now_ns, is_failed=True, proxy="proxy-1"))
                now_ns, number = now_ns + self.idle_ms * MS, 1
            began_ns, now_ns = now_ns, now_ns + 2 * MS
            proxy = "proxy-1" if pause is None else "proxy-2"
            records.attempts.append(attempt_of(planned.send, number, began_ns, now_ns, is_failed=False, proxy=proxy))
            offset = planned.send
            records.stored.append(
                Stored(*place, offset, planned.send, now_ns // MS, began_ns // MS, sys_flag=0, properties="{}")
            )
            now_ns += 20_000
            records.sends.append(send_of(planned.send, start_ns, now_ns, None))
        return records


def _pause_at(pauses: Collection[Pause], now_ns: int) -> Pause | None:
    at_ms = (now_ns - ORIGIN_NS) / MS
    return next((pause for pause in pauses if pause.at_ms <= at_ms < pause.at_ms + pause.for_ms), None)


FAITHFUL = PausedProxyStory()
IDLE = replace(FAITHFUL, idle_ms=500)


def become_idle(records: ArmRecords) -> None:
    """Add 500 ms to each send that met the paused proxy."""
    other = IDLE.play("", 1)
    records.attempts, records.sends, records.stored = other.attempts, other.sends, other.stored


def test_the_same_time_in_both_conforms(new_run: NewRun, ending_of: EndingOf) -> None:
    """Four pauses suffice for two equal clients to be equivalent."""
    ended = ending_of(new_run([FAITHFUL], **SUBJECTS))
    pooled = {result.check: result.verdict for result in ended.judgement.results if "pooled" in result.case}
    assert pooled == {"timing": Verdict.EQUIVALENT, "failover-time": Verdict.EQUIVALENT}
    assert ended.judgement.exit_code is ExitCode.CONFORMS, ended.text


def test_a_client_that_is_held_up_for_longer_diverges(new_run: NewRun, ending_of: EndingOf) -> None:
    """A client blocked for 1 s instead of 0.5 s in four pauses diverges."""
    ended = ending_of(new_run([FAITHFUL], **SUBJECTS, change=become_idle))
    pooled = {result.check: result.verdict for result in ended.judgement.results if "pooled" in result.case}
    assert pooled == {"timing": Verdict.DIVERGES, "failover-time": Verdict.DIVERGES}
    assert ended.judgement.exit_code is ExitCode.DIVERGES
