"""A situation that only one arm met: luck at one to none, open at fifty to none."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.analysis.checks.sending.by_rules.replay_checks import chance_of_one_arm_only
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.answers.verdict import Severity, Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judge import judge
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.synthetic import Pause, Story, Told
from tests.verdict.builders import COMPLETE, RUN

NewRun = Callable[..., RunDirectory]
EvidenceOf = Callable[[RunDirectory], dict[tuple[str, str], Evidence]]
EndingOf = Callable[[RunDirectory], Ended]

RESERVE = "FLUSH_SLAVE_TIMEOUT"
CALM = Story(name="calm", settings=ClientSettings(send_msg_timeout_ms=500), pauses=(), sends=100)


def test_the_chance_is_fishers() -> None:
    """
    Fisher's probability: 1 of 10 to none is one half per tail, 3 of 3 to none 2 / 20.

    Unequal arms count one tail.
    """
    assert chance_of_one_arm_only(1, 10, 10) == pytest.approx(1.0)
    assert chance_of_one_arm_only(3, 3, 3) == pytest.approx(2 / 20)
    assert chance_of_one_arm_only(1, 1, 9) == pytest.approx(1 / 10)
    assert chance_of_one_arm_only(2, 10, 0) == 1.0


def stored_with_reserve(baseline: int, candidate_says: str) -> Callable[[Told, str], None]:
    """Both arms' first sends are answered FLUSH_SLAVE_TIMEOUT; the candidate reports another status."""

    def change(told: Told, arm: str) -> None:
        def say(one: Attempt | Send) -> Attempt | Send:
            status = RESERVE if arm == "baseline" else candidate_says
            return replace(one, status=status) if one.send < baseline else one

        told.attempts = [one for each in told.attempts if isinstance(one := say(each), Attempt)]
        told.sends = [one for each in told.sends if isinstance(one := say(each), Send)]

    return change


@pytest.mark.parametrize(
    ("times", "verdict", "severity", "code"),
    [
        (1, Verdict.INCONCLUSIVE, Severity.SHOULD, ExitCode.CONFORMS),
        (10, Verdict.INCONCLUSIVE, Severity.SHOULD, ExitCode.CONFORMS),
        (12, Verdict.INCONCLUSIVE, Severity.MUST, ExitCode.INCONCLUSIVE),
        (50, Verdict.INCONCLUSIVE, Severity.MUST, ExitCode.INCONCLUSIVE),
    ],
)
def test_a_client_that_calls_every_store_a_success(
    times: int, verdict: Verdict, severity: Severity, code: ExitCode, new_run: NewRun, evidence_of: EvidenceOf
) -> None:
    """A client that reports SEND_OK for FLUSH_SLAVE_TIMEOUT twelve times does not pass; ten may be luck."""
    evidence = evidence_of(new_run([CALM], change_arms=stored_with_reserve(times, "SEND_OK")))
    judgement = judge([*COMPLETE, evidence["calm", "attempts"], evidence["calm", "error-kind"]], RUN)
    assert [(one.verdict, one.severity) for one in judgement.results[3:]] == [(verdict, severity)] * 2
    assert judgement.exit_code is code


def test_the_same_in_both_arms_conforms(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Fifty FLUSH_SLAVE_TIMEOUT reported by both arms conform."""
    evidence = evidence_of(new_run([CALM], change_arms=stored_with_reserve(50, RESERVE)))
    judgement = judge([*COMPLETE, evidence["calm", "attempts"], evidence["calm", "error-kind"]], RUN)
    assert judgement.exit_code is ExitCode.CONFORMS


def test_one_situation_of_several_is_enough(new_run: NewRun, ending_of: EndingOf) -> None:
    """Fifty missing statuses prevent a pass, although both arms met another situation, the pause."""
    story = replace(CALM, pauses=(Pause("broker-b", 2_500, 1_200),), sends=200)
    ended = ending_of(new_run([story], change_arms=stored_with_reserve(50, "SEND_OK")))
    (found,) = [one for one in ended.judgement.results if one.check == "error-kind"]
    assert (found.verdict, found.severity) == (Verdict.INCONCLUSIVE, Severity.MUST)
    assert f"'{RESERVE}', none of" in found.reason
    assert ended.judgement.exit_code is not ExitCode.CONFORMS


def test_a_client_that_never_chooses_a_queue(new_run: NewRun, ending_of: EndingOf) -> None:
    """A publish list of one queue leaves nothing to choose, so the list itself diverges."""

    def one_queue(told: Told, arm: str) -> None:
        if arm == "candidate":
            place = {"broker": "broker-a", "queue_id": 0}
            told.routes = [replace(one, queues=(("broker-a", 0),)) for one in told.routes]
            told.attempts = [replace(one, **place) for one in told.attempts]  # type: ignore[arg-type]  # names of fields
            told.sends = [replace(one, **place, queue_offset=n) for n, one in enumerate(told.sends)]  # type: ignore[arg-type]  # names of fields
            told.stored = [replace(one, **place, queue_offset=n) for n, one in enumerate(told.stored)]  # type: ignore[arg-type]  # names of fields

    ended = ending_of(new_run([CALM], change_arms=one_queue))
    assert ended.judgement.exit_code is ExitCode.DIVERGES
    assert [one.signature for each in ended.judgement.results for one in each.divergences] == [
        "queue.other-publish-list"
    ]
