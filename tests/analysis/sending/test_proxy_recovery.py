"""Clients whose proxy is killed: how soon their sends succeed again, and duplicates on the way."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.sending.grpc_stories import SUBJECTS, GrpcStory, attempt_of, send_of
from tests.analysis.synthetic import MS, ORIGIN_NS, ArmRecords, Pause, Stored

NewRun = Callable[..., RunDirectory]
EndingOf = Callable[..., Ended]
EvidenceOf = Callable[[RunDirectory], dict[tuple[str, str], Evidence]]

KILLED_MS, AWAY_MS = 1_000, 4_000


@dataclass(frozen=True)
class KilledProxyStory(GrpcStory):
    """proxy-1 is killed and restarted; meanwhile each send fails at once without a request."""

    name: str = "grpc/kill-and-restart-proxy"
    pauses: tuple[Pause, ...] = (Pause("proxy-1", KILLED_MS, AWAY_MS, FaultKind.KILL_PROXY),)
    sends: int = 1_000
    checks: tuple[str, ...] = ("loss", "duplication", "content")
    later: str = "proxy-1"

    def play(self, _release: str, seed: int) -> ArmRecords:
        """A faithful client reconnects within 2 s after the restart."""
        return self.through(ORIGIN_NS + (KILLED_MS + AWAY_MS + seed % 2_000) * MS)

    def through(self, connected_ns: int) -> ArmRecords:
        """A client without a connection from the kill until ``connected_ns``."""
        records, killed_ns = ArmRecords(), ORIGIN_NS + KILLED_MS * MS
        for planned in self.plan().sends:
            start_ns = ORIGIN_NS + planned.due_ns + 50_000
            end_ns = start_ns + 2 * MS
            is_away = killed_ns <= start_ns < connected_ns
            if not is_away:
                proxy = "proxy-1" if start_ns < killed_ns else self.later
                attempt = attempt_of(planned.send, 0, start_ns, end_ns, is_failed=False)
                records.attempts.append(replace(attempt, broker=proxy))
                place = self.queues[planned.send % len(self.queues)]
                offset = planned.send // len(self.queues)
                records.stored.append(
                    Stored(*place, offset, planned.send, end_ns // MS, start_ns // MS, sys_flag=0, properties="{}")
                )
            records.sends.append(
                send_of(planned.send, start_ns, end_ns + 20_000, "connection-lost" if is_away else None)
            )
        return records


@dataclass(frozen=True)
class KilledBesideStory(KilledProxyStory):
    """Two proxies, one killed for good."""

    name: str = "grpc/kill-one-of-two-proxies"
    topology: str = "two-masters-two-proxies"
    pauses: tuple[Pause, ...] = (Pause("proxy-1", KILLED_MS, 0, FaultKind.KILL_PROXY),)
    sends: int = 1_300
    later: str = "proxy-2"

    def play(self, _release: str, seed: int) -> ArmRecords:
        """A faithful client uses the other proxy within 50 ms."""
        return self.through(ORIGIN_NS + (KILLED_MS + seed % 50) * MS)


BACK, BESIDE = KilledProxyStory(), KilledBesideStory()


def become(records: ArmRecords, other: ArmRecords) -> None:
    """Replace the records by another client's."""
    records.attempts, records.sends, records.stored = other.attempts, other.sends, other.stored


def never_comes_back(records: ArmRecords) -> None:
    """The client fails even after the restart."""
    become(records, BACK.through(2 * ORIGIN_NS))


def clings(records: ArmRecords) -> None:
    """The client uses the dead proxy for 20 s beside another one."""
    become(records, BESIDE.through(ORIGIN_NS + (KILLED_MS + 20_000) * MS))


def sends_twice(records: ArmRecords) -> None:
    """After failover each message is sent again after a success."""
    after_ns = ORIGIN_NS + (KILLED_MS + 100) * MS
    again = {attempt.send for attempt in records.attempts if attempt.start_ns > after_ns}
    copies = [
        replace(message, queue_offset=message.queue_offset + 10_000)
        for message in records.stored
        if message.send in again
    ]
    made = [attempt for attempt in records.attempts if attempt.send in again]
    records.attempts += [replace(one, attempt=1, start_ns=one.end_ns, end_ns=one.end_ns + 10_000) for one in made]
    records.attempts.sort(key=lambda attempt: (attempt.send, attempt.attempt))
    records.stored += copies


@pytest.mark.parametrize("story", [BACK, BESIDE], ids=["back", "beside"])
def test_a_client_that_keeps_to_the_backoff_conforms(
    story: KilledProxyStory, new_run: NewRun, ending_of: EndingOf
) -> None:
    """Clients within the gRPC backoff conform although one reconnects earlier."""
    ended = ending_of(new_run([story], **SUBJECTS))
    assert ended.judgement.exit_code is ExitCode.CONFORMS, ended.text


@pytest.mark.parametrize(
    ("story", "defect", "signature"),
    [
        (BACK, never_comes_back, "outcomes.recovered-late/kill-proxy"),
        (BESIDE, clings, "outcomes.recovered-late/kill-proxy"),
        (BESIDE, sends_twice, "attempts.went-on-after-success"),
    ],
)
def test_a_defect_is_found_and_ends_the_run_with_1(
    story: KilledProxyStory, defect: Callable[[ArmRecords], None], signature: str, new_run: NewRun, ending_of: EndingOf
) -> None:
    """Each defect is found under its signature, with exit code 1."""
    story = replace(story, checks=("attempts", *story.checks))
    ended = ending_of(new_run([story], **SUBJECTS, change=defect))
    diverging = [result for result in ended.judgement.results if result.verdict is Verdict.DIVERGES]
    assert signature in {found.signature for result in diverging for found in result.divergences}
    assert ended.judgement.exit_code is ExitCode.DIVERGES


@pytest.mark.parametrize(("late_ms", "is_found"), [(5_000, False), (9_000, True)])
def test_the_limit_follows_the_backoff(
    late_ms: int, *, is_found: bool, new_run: NewRun, evidence_of: EvidenceOf
) -> None:
    """
    After an absence of 4 s the limit is 5.3 to 7.3 s.

    One wait of 0.9 x 4 s + 1.2 s, the timeout of 0.5 s, and up to 2 s of the baseline.
    """
    connected_ns = ORIGIN_NS + (KILLED_MS + AWAY_MS + late_ms) * MS
    run = new_run([BACK], **SUBJECTS, change=lambda records: become(records, BACK.through(connected_ns)))
    answer = evidence_of(run)[BACK.name, "outcomes"]
    assert (
        "outcomes.recovered-late/kill-proxy" in {divergence.signature for divergence in answer.divergences}
    ) is is_found


def test_the_time_of_each_arm_is_a_measure(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """The measure is 3 s for a candidate connected 3 s after the restart; the next send was due within 20 ms."""
    connected_ns = ORIGIN_NS + (KILLED_MS + AWAY_MS + 3_000) * MS
    run = new_run([BACK], **SUBJECTS, change=lambda records: become(records, BACK.through(connected_ns)))
    measures = {measure.name: measure.value for measure in evidence_of(run)[BACK.name, "outcomes"].measures}
    assert 2_990 < measures["longest-without-success-after-kill-proxy candidate"] < 3_025
