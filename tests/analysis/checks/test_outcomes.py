"""The check ``outcomes`` finds every planted defect, and nothing that luck or a fault explains."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.analysis.run_analysis import analyze
from rocketdiff.core.answers.verdict import CheckResult, Severity, Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.run_info import CaseInfo, Machine, RunInfo, SubjectInfo
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judge import judge
from tests.analysis.planting import ASYNC, HEALTHY, PAUSED, PLAIN, Found, change_send, go_elsewhere, sends_to
from tests.analysis.synthetic import MS, Pause, Stored, Story, Told
from tests.analysis.synthetic_modes import ModeStory, carrying

NewRun = Callable[..., RunDirectory]
Ended = tuple[ExitCode, CheckResult]

CALM = Story(name="calm", pauses=(), sends=400, settings=ClientSettings(send_msg_timeout_ms=500), checks=("loss",))
LOST, BUSY, SLOW = "RemotingSendRequestException", "MQBrokerException", "RemotingTimeoutException"


@pytest.fixture
def ended(new_run: NewRun) -> Callable[..., Ended]:
    """Exit code by ``outcomes`` alone, and its first result."""

    def judged(*arguments: object, **named: object) -> Ended:
        run = new_run(*arguments, **named)
        evidence = [one for one in analyze([run.path], master=WITHOUT_SPARK).evidence if one.check == "outcomes"]
        subjects = [SubjectInfo(name, *name.split(":")) for name in run.manifest.subjects.values()]
        info = RunInfo(
            run=run.run,
            seed=1,
            suite="quick",
            baseline=subjects[0],
            candidate=subjects[1],
            server_release="5.3.3",
            backend="processes",
            started_at="2026-11-22T12:00:00+00:00",
            took_s=1.0,
            machine=Machine("Linux", "", 2, 0, "3.11.7", "17"),
            cases=tuple(CaseInfo(entry.number, entry.name, ("outcomes",)) for entry in run.manifest.cases),
            reproduce="",
            rocketdiff="0.1.0",
        )
        judgement = judge(evidence, info)
        return judgement.exit_code, judgement.results[0]

    return judged


def failing(told: Told, number: int, error: str, code: int | None = None) -> None:
    """A send fails with its only attempt and is stored nowhere."""

    def fail(one: Attempt) -> Attempt:
        return replace(one, error=error, code=code, status=None) if one.send == number else one

    told.attempts = [fail(one) for one in told.attempts]
    change_send(
        told,
        number,
        lambda one: replace(one, error=error, code=code, status=None, broker=None, queue_id=None, queue_offset=None),
    )
    told.stored = [one for one in told.stored if one.send != number]


def every(period: int, error: str, code: int | None = None, first: int = 0) -> Callable[[Told], None]:
    def change(told: Told) -> None:
        for send in [one.send for one in told.sends if one.send % period == first]:
            failing(told, send, error, code)

    return change


def names(result: CheckResult) -> set[str]:
    return {one.signature for one in result.divergences}


def all_but_one(told: Told) -> None:
    for number in range(1, len(told.sends)):
        failing(told, number, LOST)


@pytest.mark.parametrize(
    "change", [all_but_one, every(2, LOST), every(50, LOST), every(200, "RemotingConnectException")]
)
def test_sends_that_lose_their_connection_in_calm_diverge(ended: Callable[..., Ended], change: object) -> None:
    """Lost connections in calm diverge, whether in all but one of 400 sends or in two: healthy brokers close none."""
    exit_code, result = ended([CALM], change=change)
    assert (exit_code, result.verdict) == (ExitCode.DIVERGES, Verdict.DIVERGES)
    assert any(one.startswith("outcomes.failed-without-cause/Remoting") for one in names(result))


@pytest.mark.parametrize("code", [14, 16, 17])
def test_an_answer_that_no_broker_in_calm_gives_diverges(ended: Callable[..., Ended], code: int) -> None:
    """One SERVICE_NOT_AVAILABLE, NO_PERMISSION or TOPIC_NOT_EXIST without a fault diverges."""
    exit_code, result = ended([CALM], change=every(400, BUSY, code))
    assert exit_code is ExitCode.DIVERGES
    assert names(result) == {f"outcomes.failed-without-cause/{BUSY}/code={code}"}


def lose_answers(told: Told) -> None:
    """Discard one answer in twenty; send the message again elsewhere."""
    for number in range(9, len(told.sends), 20):
        place = next(n for n, one in enumerate(told.attempts) if one.send == number)
        if told.attempts[place].broker == PAUSED:
            go_elsewhere(told, number)
            told.stored[-1] = replace(told.stored[-1], queue_offset=9_000 + number)
            told.attempts[place] = replace(told.attempts[place], error=LOST, status=None)


def test_answers_thrown_away_diverge(ended: Callable[..., Ended]) -> None:
    """A discarded answer is reported as a lost connection, which has no cause."""
    exit_code, result = ended([replace(CALM, sends=400)], change=lose_answers)
    assert exit_code is ExitCode.DIVERGES
    assert f"outcomes.failed-without-cause/{LOST}" in names(result)


@pytest.mark.parametrize(("error", "code"), [(BUSY, 2), (BUSY, 1), (SLOW, None)])
def test_what_a_machine_may_do_diverges_by_its_number(
    ended: Callable[..., Ended], error: str, code: int | None
) -> None:
    """20 separate busy or slow sends of 400 in calm diverge if the baseline has none."""
    exit_code, result = ended([CALM], change=every(20, error, code))
    assert exit_code is ExitCode.DIVERGES
    assert "outcomes.more-often/failed/calm" in names(result)


@pytest.mark.parametrize("period", [1, 2, 3])
def test_what_a_machine_may_do_to_a_few_diverges_where_it_befalls_most(
    ended: Callable[..., Ended], period: int
) -> None:
    """All, half or a third of 100 sends busy, in four moments of two seconds, diverge if the baseline has none."""
    exit_code, result = ended([replace(CALM, sends=100)], change=every(period, BUSY, 2))
    assert exit_code is ExitCode.DIVERGES
    assert "outcomes.more-often/failed/most-of-calm" in names(result)


@pytest.mark.parametrize(("error", "code"), [(BUSY, 2), (SLOW, None)])
def test_what_a_machine_may_do_alarms_nobody_a_few_times(
    ended: Callable[..., Ended], error: str, code: int | None
) -> None:
    """Five single failures of 400 conform (p = 0.06); twenty at once are one moment."""
    assert ended([CALM], change=every(80, error, code))[1].verdict is Verdict.CONFORMS

    def at_once(told: Told) -> None:
        for number in range(100, 120):
            failing(told, number, error, code)

    assert ended([CALM], change=at_once, run="run-2")[1].verdict is Verdict.CONFORMS


def test_a_few_in_each_of_many_cases_are_many(ended: Callable[..., Ended]) -> None:
    """Two failures in each of eight cases are sixteen moments, which diverge."""
    stories = [replace(CALM, name=f"calm-{number}", sends=100) for number in range(8)]
    assert ended(stories, change=every(50, BUSY, 2))[0] is ExitCode.DIVERGES


def test_a_baseline_that_fails_where_the_candidate_does_not_differs_too(ended: Callable[..., Ended]) -> None:
    """A baseline that fails alone diverges too; here its failures have no cause either."""
    exit_code, result = ended([CALM], change_baseline=every(20, LOST))
    assert exit_code is ExitCode.DIVERGES
    assert names(result) == {f"rules/outcomes.failed-without-cause/{LOST}", "outcomes.less-often/failed/calm"}


def test_a_calm_that_was_none_for_the_baseline_shows_nothing(ended: Callable[..., Ended]) -> None:
    """SYSTEM_BUSY for one baseline send in twenty is INVALID and never passes; three of 400 are luck."""
    crowded = every(20, BUSY, 2)
    exit_code, result = ended([CALM], change=every(20, BUSY, 2, first=7), change_baseline=crowded)
    assert (exit_code, result.verdict) == (ExitCode.INCONCLUSIVE, Verdict.INVALID)
    assert "the machine failed 20 of 400 sends of java:5.3.3" in result.reason
    assert ended([CALM], change_baseline=every(150, BUSY, 2), run="run-2")[1].verdict is Verdict.CONFORMS


def test_timeouts_that_only_a_fast_machine_keeps_are_not_compared(ended: Callable[..., Ended]) -> None:
    """Timeouts of 50 ms are not compared; a connection lost without a cause still diverges."""
    hasty = replace(CALM, settings=ClientSettings(send_msg_timeout_ms=50))
    assert ended([hasty], change=every(20, SLOW))[1].verdict is Verdict.CONFORMS
    assert ended([hasty], change=every(20, LOST), run="run-2")[0] is ExitCode.DIVERGES


def test_a_message_that_is_refused_for_its_own_sake_is_refused_to_both(ended: Callable[..., Ended]) -> None:
    """MESSAGE_ILLEGAL for the same send of both arms is the message's fault; for one arm alone it diverges."""
    refused = every(100, BUSY, 13)
    assert ended([CALM], change=refused, change_baseline=refused)[1].verdict is Verdict.CONFORMS
    assert ended([CALM], change=refused, run="run-2")[1].verdict is Verdict.DIVERGES


def test_a_send_that_fails_without_having_tried_diverges(ended: Callable[..., Ended]) -> None:
    """A send with a route must not fail without an attempt."""

    def never_try(told: Told) -> None:
        failing(told, 50, "MQClientException")
        told.attempts = [one for one in told.attempts if one.send != 50]

    exit_code, result = ended([CALM], change=never_try)
    assert exit_code is ExitCode.DIVERGES
    assert names(result) == {"outcomes.failed-without-cause/MQClientException"}


def say_ok(told: Told, send: Send, after_ms: int = 200) -> None:
    """Report a send's first attempt, at a stopped broker, as answered."""
    place, one = next((n, each) for n, each in enumerate(told.attempts) if each.send == send.send)
    end_ns = one.start_ns + after_ms * MS
    told.attempts = [each for each in told.attempts if each.send != send.send]
    told.attempts.insert(place, replace(one, end_ns=end_ns, error=None, status="SEND_OK"))
    copy = next(each for each in told.stored if (each.send, each.broker) == (send.send, one.broker))
    told.stored = [each for each in told.stored if each.send != send.send] + [copy]
    answered = replace(send, end_ns=end_ns + 20_000, error=None, code=None, status="SEND_OK")
    placed = replace(answered, broker=one.broker, queue_id=one.queue_id, queue_offset=copy.queue_offset)
    change_send(told, send.send, lambda _: placed)


def test_an_acknowledgement_by_a_stopped_broker_diverges(ended: Callable[..., Ended]) -> None:
    """SEND_OK 200 ms after a request to a broker that was stopped before and resumed much later diverges."""

    def lie(told: Told) -> None:
        number = sends_to(told, PAUSED, PLAIN)[0]
        say_ok(told, next(one for one in told.sends if one.send == number))

    exit_code, result = ended([PLAIN], change=lie)
    assert exit_code is ExitCode.DIVERGES
    assert "outcomes.acknowledged-by-a-stopped-broker" in names(result)


def keep_to_the_failed_broker(told: Told) -> None:
    """An asynchronous client whose every retry goes to the broker that failed."""
    told.attempts = [replace(one, broker=PAUSED) if one.attempt else one for one in told.attempts]
    retried = {one.send for one in told.attempts if one.attempt}
    told.stored = [
        replace(one, broker=PAUSED, queue_offset=20_000 + place)
        if one.send in retried and one.broker == HEALTHY
        else one
        for place, one in enumerate(told.stored)
    ]
    for number in retried:
        change_send(told, number, lambda one: replace(one, broker=PAUSED, queue_offset=None))


def test_an_asynchronous_client_without_failover_diverges(found: Found) -> None:
    """In 4.6.1 a retry after a timeout must leave the broker that failed."""
    evidence = found(ASYNC, keep_to_the_failed_broker, "4.6.1")["queue-choice"]
    assert "retry.returned-to-failed-broker/retry" in {one.signature for one in evidence.divergences}
    assert evidence.severity is Severity.MUST


MANY_PAUSES = replace(
    PLAIN,
    name="many",
    settings=ClientSettings(send_msg_timeout_ms=500),
    pauses=tuple(Pause(PAUSED, 1_000 + 9_000 * number, 1_200) for number in range(12)),
    sends=5_600,
    every_ms=20,
)


def test_faults_that_cost_one_client_more_diverge_over_spells(ended: Callable[..., Ended]) -> None:
    """Twelve pauses, each with twenty timeouts more for the candidate alone, diverge."""

    def fail_more(told: Told) -> None:
        first = {one.send: one for one in told.attempts if one.attempt == 0}
        for pause in MANY_PAUSES.pauses:
            from_send = (pause.at_ms + pause.for_ms) // 20
            for number in range(from_send, from_send + 40):
                if number in first and first[number].broker == PAUSED:
                    failing(told, number, SLOW)

    exit_code, result = ended([MANY_PAUSES], change=fail_more)
    assert exit_code is ExitCode.DIVERGES
    assert "outcomes.more-often/failed/faults" in names(result)


@pytest.mark.parametrize("release", ["4.2.0", "4.6.1", "5.1.4", "5.3.3"])
@pytest.mark.parametrize("story", [CALM, PLAIN, ASYNC, replace(CALM, threads=4), Story()], ids=lambda one: one.name)
def test_faithful_clients_do_not_differ(ended: Callable[..., Ended], release: str, story: ModeStory) -> None:
    """Faithful clients conform in calm and beside a pause, with and without fault latency."""
    _, result = ended([story], baseline=f"java:{release}", candidate=f"python:{release}")
    assert result.verdict is Verdict.CONFORMS, result


def stored_again(told: Told) -> None:
    for number in range(0, len(told.sends), 20):
        told.stored.append(carrying(Stored(HEALTHY, 0, 9_000 + number, number), ""))


def test_messages_stored_twice_diverge_by_their_number(ended: Callable[..., Ended]) -> None:
    """Twenty of 400 messages stored twice diverge if the baseline has none."""
    assert "outcomes.more-often/stored-twice/calm" in names(ended([CALM], change=stored_again)[1])
