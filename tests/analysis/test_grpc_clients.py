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
from tests.analysis.synthetic import MS, ORIGIN_NS, Pause, Stored, Story, Told

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

    def play(self, _release: str, seed: int) -> Told:
        """A faithful client makes up to three attempts; a paused broker stores its messages when resumed."""
        told, turn, now_ns = Told(), seed, ORIGIN_NS
        late: list[tuple[tuple[str, int], int, int]] = []
        ends: dict[tuple[str, int], int] = {}
        (pause,) = self.pauses
        paused_ns, resumed_ns = ORIGIN_NS + pause.at_ms * MS, ORIGIN_NS + (pause.at_ms + pause.for_ms) * MS
        for planned in self.plan().sends:
            start_ns = now_ns = max(now_ns + 50_000, ORIGIN_NS + planned.due_ns)
            if now_ns >= resumed_ns:
                for place, send, born_ns in late:
                    _store(told, ends, place, send, born_ns, resumed_ns)
                late.clear()
            error: str | None = "timeout"
            for number in range(ATTEMPTS):
                turn += 1
                place = self.queues[planned.argument if self.kind is SendKind.GROUP else turn % len(self.queues)]
                is_silent = place[0] == pause.broker and paused_ns <= now_ns < resumed_ns
                began_ns, now_ns = now_ns, now_ns + (TIMEOUT_MS if is_silent else 2) * MS
                told.attempts.append(attempt_of(planned.send, number, began_ns, now_ns, is_failed=is_silent))
                if is_silent:
                    late.append((place, planned.send, began_ns))
                else:
                    _store(told, ends, place, planned.send, began_ns, now_ns)
                    error = None
                    break
            now_ns += 20_000
            told.sends.append(send_of(planned.send, start_ns, now_ns, error))
        for place, send, born_ns in late:
            _store(told, ends, place, send, born_ns, resumed_ns)
        return told


def attempt_of(
    send: int, number: int, began_ns: int, end_ns: int, *, is_failed: bool, proxy: str = "proxy-1"
) -> Attempt:
    error, status = ("RemotingTimeoutException", None) if is_failed else (None, "SEND_OK")
    return Attempt(send, 0, number, proxy, 0, began_ns, end_ns, error, status=status)


def send_of(send: int, start_ns: int, end_ns: int, error: str | None) -> Send:
    return Send(send, 0, start_ns, end_ns, error=error, status=None if error else "SEND_OK")


def _store(
    told: Told, ends: dict[tuple[str, int], int], place: tuple[str, int], send: int, born_ns: int, at_ns: int
) -> None:
    offset = ends[place] = ends.get(place, -1) + 1
    told.stored.append(Stored(*place, offset, send, at_ns // MS, born_ns // MS, sys_flag=0, properties="{}"))


PLAIN = GrpcStory()
GROUPED = replace(
    PLAIN,
    name="grpc/message-groups",
    kind=SendKind.GROUP,
    checks=("order", "loss", "duplication", "content"),
    pauses=(Pause("broker-b", 1_000, 1_200),),
)


def _every_tenth(told: Told) -> set[int]:
    """Every tenth send, if its first attempt succeeded."""
    failed = {attempt.send for attempt in told.attempts if attempt.error is not None}
    return {send.send for send in told.sends if send.send % 10 == 7 and send.send not in failed}


def loses(told: Told) -> None:
    """Acknowledged messages are not stored."""
    gone = _every_tenth(told)
    told.stored = [copy for copy in told.stored if copy.send not in gone]


def never_sends(told: Told) -> None:
    """Sends succeed without a request or a stored message."""
    loses(told)
    told.attempts = [attempt for attempt in told.attempts if attempt.send not in _every_tenth(told)]


def stores_twice(told: Told) -> None:
    """One request stores two messages."""
    twice = _every_tenth(told)
    told.stored += [replace(copy, queue_offset=copy.queue_offset + 1_000) for copy in told.stored if copy.send in twice]


def sends_again(told: Told) -> None:
    """A further attempt follows a success."""
    again = _every_tenth(told)
    made = [attempt for attempt in told.attempts if attempt.send in again]
    told.attempts += [replace(one, attempt=1, start_ns=one.end_ns, end_ns=one.end_ns + 10_000) for one in made]
    told.attempts.sort(key=lambda attempt: (attempt.send, attempt.attempt))
    stores_twice(told)


def spoils_bodies(told: Told) -> None:
    """The stored body differs from the planned one."""
    spoilt = _every_tenth(told)
    told.stored = [replace(copy, body_ok=copy.send not in spoilt) for copy in told.stored]


def gives_up(told: Told) -> None:
    """A failed first attempt is not retried."""
    first = {attempt.send: attempt for attempt in told.attempts if attempt.attempt == 0}
    told.attempts = list(first.values())
    told.sends = [
        replace(send, error="timeout", status=None) if first[send.send].error is not None else send
        for send in told.sends
    ]


def swaps(told: Told) -> None:
    """A message of a group is stored before its predecessor."""
    place = {copy.send: copy for copy in told.stored}
    for send in sorted(_every_tenth(told)):
        other = place.get(send + GROUPS)
        if other is not None and other.send in place and place[send].broker == "broker-a":
            mine = place[send]
            told.stored.remove(mine)
            told.stored.remove(other)
            told.stored += [replace(mine, send=other.send), replace(other, send=mine.send)]


def forgets_groups(told: Told) -> None:
    """Some messages are sent without their group, to other queues."""
    astray = _every_tenth(told)
    told.stored = [
        replace(copy, queue_id=3 - copy.queue_id, queue_offset=copy.queue_offset + 1_000)
        if copy.send in astray
        else copy
        for copy in told.stored
    ]


@pytest.mark.parametrize("story", [PLAIN, GROUPED], ids=["plain", "groups"])
def test_a_faithful_client_conforms(story: Story, new_run: NewRun, ending_of: EndingOf) -> None:
    """A faithful client conforms although its proxy starts at another queue, so the pause hits other sends."""
    ended = ending_of(new_run([story], **SUBJECTS))
    assert ended.judgement.exit_code is ExitCode.CONFORMS, ended.text


@pytest.mark.parametrize(
    ("story", "defect", "signature"),
    [
        (PLAIN, loses, "loss.acknowledged-not-stored"),
        (PLAIN, never_sends, "attempts.none-for-a-message-said-to-be-sent"),
        (PLAIN, stores_twice, "duplication.stored-more-than-attempted"),
        (PLAIN, sends_again, "attempts.went-on-after-success"),
        (PLAIN, spoils_bodies, "loss.body-damaged"),
        (PLAIN, gives_up, "attempts.gave-up-early"),
        (GROUPED, swaps, "order.stored-before-an-earlier-message"),
        (GROUPED, forgets_groups, "order.group-in-two-queues"),
    ],
)
def test_a_defect_is_found_and_ends_the_run_with_1(
    story: Story, defect: Callable[[Told], None], signature: str, new_run: NewRun, ending_of: EndingOf
) -> None:
    """Each defect is found under its signature, with exit code 1."""
    ended = ending_of(new_run([story], **SUBJECTS, change=defect))
    diverging = [result for result in ended.judgement.results if result.verdict is Verdict.DIVERGES]
    assert signature in {found.signature for result in diverging for found in result.divergences}
    assert ended.judgement.exit_code is ExitCode.DIVERGES


def test_questions_about_queues_do_not_apply_and_say_so(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Checks of queue choice do not apply: the proxy chooses the queue."""
    evidence = evidence_of(new_run([PLAIN], **SUBJECTS))
    for check in ("queue-choice", "avoidance"):
        answer = evidence[PLAIN.name, check]
        assert (answer.standing, answer.reason) == (Standing.NOT_APPLICABLE, PROXY_CHOOSES)
