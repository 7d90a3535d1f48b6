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
from tests.analysis.sending.grpc_stories import SUBJECTS, GrpcStory
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
