"""Clients behind a proxy: faithful ones conform, each defect is found by its check."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.sends.knowable import PROXY_CHOOSES
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.sending.grpc_stories import GROUPS, SUBJECTS, GrpcStory
from tests.analysis.synthetic import ArmRecords, Pause, Story

NewRun = Callable[..., RunDirectory]
EndingOf = Callable[..., Ended]
EvidenceOf = Callable[[RunDirectory], dict[tuple[str, str], Evidence]]


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


def loses(records: ArmRecords) -> None:
    """Acknowledged messages are not stored."""
    gone = _every_tenth(records)
    records.stored = [copy for copy in records.stored if copy.send not in gone]


def never_sends(records: ArmRecords) -> None:
    """Sends succeed without a request or a stored message."""
    loses(records)
    records.attempts = [attempt for attempt in records.attempts if attempt.send not in _every_tenth(records)]


def stores_twice(records: ArmRecords) -> None:
    """One request stores two messages."""
    twice = _every_tenth(records)
    records.stored += [
        replace(copy, queue_offset=copy.queue_offset + 1_000) for copy in records.stored if copy.send in twice
    ]


def sends_again(records: ArmRecords) -> None:
    """A further attempt follows a success."""
    again = _every_tenth(records)
    made = [attempt for attempt in records.attempts if attempt.send in again]
    records.attempts += [replace(one, attempt=1, start_ns=one.end_ns, end_ns=one.end_ns + 10_000) for one in made]
    records.attempts.sort(key=lambda attempt: (attempt.send, attempt.attempt))
    stores_twice(records)


def spoils_bodies(records: ArmRecords) -> None:
    """The stored body differs from the planned one."""
    spoilt = _every_tenth(records)
    records.stored = [replace(copy, body_ok=copy.send not in spoilt) for copy in records.stored]


def gives_up(records: ArmRecords) -> None:
    """A failed first attempt is not retried."""
    first = {attempt.send: attempt for attempt in records.attempts if attempt.attempt == 0}
    records.attempts = list(first.values())
    records.sends = [
        replace(send, error="timeout", status=None) if first[send.send].error is not None else send
        for send in records.sends
    ]


def swaps(records: ArmRecords) -> None:
    """A message of a group is stored before its predecessor."""
    place = {copy.send: copy for copy in records.stored}
    for send in sorted(_every_tenth(records)):
        other = place.get(send + GROUPS)
        if other is not None and other.send in place and place[send].broker == "broker-a":
            mine = place[send]
            records.stored.remove(mine)
            records.stored.remove(other)
            records.stored += [replace(mine, send=other.send), replace(other, send=mine.send)]


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
