"""Clients behind a proxy: faithful ones conform, each defect is found by its check."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.knowable import PROXY_CHOOSES
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.synthetic import MS, ORIGIN_NS, ArmRecords, Pause, Stored, Story
from tests.analysis.trace_builders import SLOW

NewRun = Callable[..., RunDirectory]
EndingOf = Callable[..., Ended]
EvidenceOf = Callable[[RunDirectory], dict[tuple[str, str], Evidence]]


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


PLAIN = GrpcStory()
GROUPED = replace(
    PLAIN,
    name="grpc/message-groups",
    kind=SendKind.GROUP,
    checks=("order", "loss", "duplication", "content"),
    pauses=(Pause("broker-b", 1_000, 1_200),),
)


def _every_tenth(records: ArmRecords) -> set[int]:
    """Every tenth send, if its first attempt succeeded."""
    failed = {attempt.send for attempt in records.attempts if attempt.error is not None}
    return {send.send for send in records.sends if send.send % 10 == 7 and send.send not in failed}


def never_sends(records: ArmRecords) -> None:
    """Sends succeed without a request or a stored message."""
    gone = _every_tenth(records)
    records.stored = [copy for copy in records.stored if copy.send not in gone]
    records.attempts = [attempt for attempt in records.attempts if attempt.send not in gone]


def gives_up(records: ArmRecords) -> None:
    """A failed first attempt is not retried."""
    first = {attempt.send: attempt for attempt in records.attempts if attempt.attempt == 0}
    records.attempts = list(first.values())
    records.sends = [
        replace(send, error="timeout", status=None) if first[send.send].error is not None else send
        for send in records.sends
    ]


def forgets_groups(records: ArmRecords) -> None:
    """Some messages are sent without their group, to other queues."""
    astray = _every_tenth(records)
    records.stored = [
        replace(copy, queue_id=3 - copy.queue_id, queue_offset=copy.queue_offset + 1_000)
        if copy.send in astray
        else copy
        for copy in records.stored
    ]


@pytest.mark.parametrize("story", [PLAIN, GROUPED], ids=["plain", "groups"])
def test_a_faithful_client_conforms(story: Story, new_run: NewRun, ending_of: EndingOf) -> None:
    """A faithful client conforms although its proxy starts at another queue, so the pause hits other sends."""
    ended = ending_of(new_run([story], **SUBJECTS))
    assert ended.judgement.exit_code is ExitCode.CONFORMS, ended.text


@pytest.mark.parametrize(
    ("story", "defect", "signature"),
    [
        (PLAIN, never_sends, "attempts.none-for-a-message-said-to-be-sent"),
        (PLAIN, gives_up, "attempts.gave-up-early"),
        (GROUPED, forgets_groups, "order.group-in-two-queues"),
    ],
)
def test_a_defect_is_found_and_ends_the_run_with_1(
    story: Story, defect: Callable[[ArmRecords], None], signature: str, new_run: NewRun, ending_of: EndingOf
) -> None:
    """Each defect is found under its signature, with exit code 1."""
    ended = ending_of(new_run([story], **SUBJECTS, change=defect))
    diverging = [result for result in ended.judgement.results if result.verdict is Verdict.DIVERGES]
    assert signature in {found.signature for result in diverging for found in result.divergences}
    assert ended.judgement.exit_code is ExitCode.DIVERGES


def test_questions_about_queues_do_not_apply(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Checks of queue choice do not apply: the proxy chooses the queue."""
    evidence = evidence_of(new_run([PLAIN], **SUBJECTS))
    for check in ("queue-choice", "avoidance"):
        answer = evidence[PLAIN.name, check]
        assert (answer.standing, answer.reason) == (Standing.NOT_APPLICABLE, PROXY_CHOOSES)
