"""Every limit between a decisive and an open answer, from both sides."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts, TallyKey
from rocketdiff.analysis.checks.pairing import margin_of, pooled_evidence
from rocketdiff.analysis.checks.sending.by_rules import queue_choice
from rocketdiff.analysis.checks.sending.by_rules.replay_checks import JUDGED, RULES
from rocketdiff.analysis.checks.sending.durations.timing import BLOCKED_SEND
from rocketdiff.analysis.facts import EpisodeValue
from rocketdiff.core.answers.evidence import Ending, Evidence, Standing
from rocketdiff.core.answers.verdict import CheckResult, Severity, Verdict
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.manifest import CaseEntry, CaseStatus, Tolerance
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judge import answers, judge
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.planting import PLAIN, TO_QUEUE, Found, change_copies, signatures
from tests.analysis.synthetic import Pause, Story, Told, _entry
from tests.verdict.builders import COMPLETE, RUN

NewRun = Callable[..., RunDirectory]
EvidenceOf = Callable[[RunDirectory], dict[tuple[str, str], Evidence]]

SUBJECTS = {Arm.BASELINE: "java:5.3.3", Arm.CANDIDATE: "python:5.3.3"}
ENTRY: CaseEntry = replace(_entry(1, Story(), SUBJECTS), status=CaseStatus.COMPLETE)


def facts(tallies: dict[TallyKey, tuple[int, float]], episodes: tuple[EpisodeValue, ...] = ()) -> CaseFacts:
    """A sound case with these counts and attempts of both arms."""
    attempts: dict[TallyKey, tuple[int, float]] = {("attempt", arm, "calm", "broker-a"): (100, 0.0) for arm in Arm}
    return CaseFacts("r1", SUBJECTS, ENTRY, tallies=attempts | tallies, episodes=episodes)


def choices(undecided: int = 0, legal: float = 0.125) -> CaseFacts:
    """A hundred sends per arm, each with one choice of this legal share. undecided: the candidate's open ones."""
    tallies: dict[TallyKey, tuple[int, float]] = {}
    for arm in Arm:
        left = undecided if arm is Arm.CANDIDATE else 0
        tallies[RULES, arm, "", JUDGED] = (100 - left, 0.0)
        tallies[RULES, arm, "", "too many hidden states"] = (left, 0.0)
        tallies["queue-choice", arm, "calm", "decision"] = (100, 0.0)
        tallies["queue-choice.legal", arm, "calm", "decision"] = (100, 100 * legal)
    return facts(tallies)


def code_of(evidence: Evidence) -> tuple[CheckResult, ExitCode]:
    """The result, and the exit code of a run with it and three that conform."""
    judgement = judge([*COMPLETE, evidence], RUN)
    return answers([evidence], RUN)[0], judgement.exit_code


@pytest.mark.parametrize(
    ("undecided", "verdict", "code"),
    [(5, Verdict.CONFORMS, ExitCode.CONFORMS), (6, Verdict.INCONCLUSIVE, ExitCode.INCONCLUSIVE)],
)
def test_one_send_in_twenty_may_be_left_open(undecided: int, verdict: Verdict, code: ExitCode) -> None:
    """Five undecided sends of a hundred are accepted; six leave a question that gates."""
    result, exit_code = code_of(queue_choice.evaluate(choices(undecided=undecided)))
    assert (result.verdict, result.severity, exit_code) == (verdict, Severity.MUST, code)
    if verdict is Verdict.INCONCLUSIVE:
        assert result.reason == "6 of 100 sends of python:5.3.3 could not be judged: too many hidden states"


@pytest.mark.parametrize(
    ("legal", "verdict", "code"),
    [
        (0.9, Verdict.CONFORMS, ExitCode.CONFORMS),
        (0.91, Verdict.INCONCLUSIVE, ExitCode.INCONCLUSIVE),
        (1.0, Verdict.INCONCLUSIVE, ExitCode.INCONCLUSIVE),
    ],
)
def test_rules_that_exclude_hardly_anything_decide_nothing(legal: float, verdict: Verdict, code: ExitCode) -> None:
    """If over nine queues in ten are legal on average, the check is inconclusive."""
    result, exit_code = code_of(queue_choice.evaluate(choices(legal=legal)))
    assert (result.verdict, result.severity, exit_code) == (verdict, Severity.MUST, code)
    if verdict is Verdict.INCONCLUSIVE:
        assert "nearly any choice would have passed" in result.reason


def spells(count: int, ratio: float = 1.0) -> CaseFacts:
    """Outages of half a second; the candidate's last ``ratio`` times as long."""
    values = tuple(
        EpisodeValue("timing", BLOCKED_SEND.sample, arm, n, 5e8 * (scale + 0.001 * (n % 2)), 1, Ending.FAILOVER)
        for n in range(count)
        for arm, scale in ((Arm.BASELINE, 1.0), (Arm.CANDIDATE, ratio))
    )
    return facts({}, values)


@pytest.mark.parametrize(
    ("count", "ratio", "verdict", "severity"),
    [
        (3, 1.0, Verdict.INCONCLUSIVE, Severity.SHOULD),
        (4, 1.0, Verdict.EQUIVALENT, Severity.MUST),
        (1, 2.0, Verdict.INCONCLUSIVE, Severity.SHOULD),
        (3, 2.0, Verdict.INCONCLUSIVE, Severity.MUST),
        (4, 2.0, Verdict.DIVERGES, Severity.MUST),
        (4, 0.5, Verdict.DIVERGES, Severity.MUST),
    ],
)
def test_four_spells_decide_and_three_do_not(count: int, ratio: float, verdict: Verdict, severity: Severity) -> None:
    """Four outages decide; three of double length leave a question that gates, one does not."""
    result, _ = code_of(pooled_evidence("pooled", [spells(count, ratio)], BLOCKED_SEND))
    assert (result.verdict, result.severity) == (verdict, severity)


def test_of_several_tolerances_the_narrowest_holds() -> None:
    """A pool has its cases' narrowest margin, so none widens another's."""
    wide, narrow = (
        replace(choices(), entry=replace(ENTRY, tolerances=(Tolerance("timing", ratio, f"{ratio}"),)))
        for ratio in (1.5, 1.1)
    )
    for pool in ([wide, narrow], [narrow, wide]):
        assert margin_of(pool, BLOCKED_SEND).ratio == 1.1
    assert margin_of([choices()], BLOCKED_SEND).ratio == 1.2


def test_a_success_on_a_broker_that_was_just_resumed_is_no_failover(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A success on a just resumed broker is no failover, while the other is paused."""
    pauses = (Pause("broker-a", 1_000, 700), Pause("broker-b", 1_000, 3_000))
    plain = Story(name="plain", settings=ClientSettings(send_msg_timeout_ms=500), pauses=pauses, sends=300)
    (sample,) = evidence_of(new_run([plain]))["pooled/pause/fault-latency-off", "failover-time"].samples
    assert {(pair.baseline_ended, pair.candidate_ended) for pair in sample.pairs} == {(Ending.RESUMED, Ending.RESUMED)}


def test_a_send_of_four_attempts_is_read_whole(new_run: NewRun, ending_of: Callable[[RunDirectory], Ended]) -> None:
    """4.2.0 has a timeout per attempt, so three retries make four attempts, and conform."""
    settings = ClientSettings(send_msg_timeout_ms=300, retry_times_when_send_failed=3)
    pauses = (Pause("broker-a", 1_000, 3_000), Pause("broker-b", 1_000, 3_000))
    story = Story(name="four", settings=settings, pauses=pauses, sends=300, checks=("attempts", "error-kind"))
    ended = ending_of(new_run([story], baseline="java:4.2.0", candidate="python:4.2.0"))
    assert ended.judgement.exit_code is ExitCode.CONFORMS, ended.judgement.results
    (attempts,) = [one for one in ended.judgement.results if one.check == "attempts"]
    figures = {one.name: one.value for one in attempts.measures}
    assert figures["failed-attempts candidate"] >= 4
    assert figures["retries candidate"] >= 3


@pytest.mark.parametrize("paused", ["broker-a", "broker-b"])
def test_a_body_that_only_one_of_two_copies_lost_is_damage(paused: str, found: Found) -> None:
    """One damaged body of two copies is found on either broker."""
    story = replace(PLAIN, pauses=(Pause(paused, 1_000, 3_000),))

    def spoil(told: Told) -> None:
        number = next(one.send for one in told.attempts if one.attempt == 1)
        change_copies(told, number, lambda one: replace(one, body_ok=one.broker == paused))

    assert "loss loss.body-damaged" in signatures(found(story, spoil, "4.2.0"))


def test_a_message_out_of_order_does_not_lower_the_bar(found: Found) -> None:
    """The third and fourth message of a key are stored before the second: both are wrong, in whatever order."""

    def shuffle(told: Told) -> None:
        keyed: dict[tuple[str | None, int | None], list[int]] = {}
        for send in told.sends:
            if send.send % 3 == 0 and send.error is None:
                keyed.setdefault((send.broker, send.queue_id), []).append(send.send)
        first, second, third, fourth = max(keyed.values(), key=len)[:4]
        offsets = {one.send: one.queue_offset or 0 for one in told.sends}
        moved = {
            first: offsets[first],
            second: offsets[fourth],
            third: offsets[second],
            fourth: offsets[third],
        }
        told.stored = [replace(one, queue_offset=moved.get(one.send or 0, one.queue_offset)) for one in told.stored]
        told.sends = [replace(one, queue_offset=moved.get(one.send, one.queue_offset)) for one in told.sends]

    (divergence,) = found(TO_QUEUE, shuffle)["order"].divergences
    assert divergence.count == 2


def test_an_indecisive_pool_is_told_with_what_it_lacks() -> None:
    """An indecisive pool's reason names how many outages it had, and needs."""
    evidence = pooled_evidence("pooled", [spells(3)], BLOCKED_SEND)
    assert (evidence.standing, evidence.reason) == (
        Standing.INDECISIVE,
        "3 informative spells of pauses in total, at least 4 are needed",
    )
