"""Without fault or exception: late sends and lost one-way messages."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.subjects.reported_defects import REPORTED_DEFECTS, reported
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.planting import ASYNC, CALM, HEALTHY, ONEWAY, PAUSED
from tests.analysis.synthetic import MS, ORIGIN_NS, Told
from tests.analysis.synthetic_modes import ModeStory

NewRun = Callable[..., RunDirectory]
EndingOf = Callable[[RunDirectory], Ended]
By = Callable[[Send], int]

ASYNC_CALM = replace(ASYNC, name="async/calm", pauses=(), sends=300, every_ms=20)
SLOW_CALM = replace(CALM, name="round-robin/slow-calm", sends=300, every_ms=700)
HELD_UP = "outcomes.more-often/held-up/calm"


def later(by_ms: By) -> Callable[[Told], None]:
    def change(told: Told) -> None:
        told.sends = [replace(one, end_ns=one.end_ns + by_ms(one) * MS) for one in told.sends]

    return change


def every_tenth(by_ms: int) -> By:
    return lambda one: by_ms * (one.send % 10 == 9)


def signatures(ended: Ended) -> set[str]:
    return {one.signature for result in ended.judgement.results for one in result.divergences}


@pytest.mark.parametrize("story", [SLOW_CALM, ASYNC_CALM], ids=["sync", "async"])
@pytest.mark.parametrize("by_ms", [every_tenth(300), lambda _one: 400], ids=["one in ten", "all"])
def test_sends_that_are_held_up_in_calm_diverge(
    story: ModeStory, by_ms: By, new_run: NewRun, ending_of: EndingOf
) -> None:
    """Sends held up in calm by over 250 ms diverge, whether one in ten or all."""
    ended = ending_of(new_run([story], change=later(by_ms)))
    assert ended.judgement.exit_code is ExitCode.DIVERGES
    assert HELD_UP in signatures(ended)


@pytest.mark.parametrize("story", [SLOW_CALM, ASYNC_CALM], ids=["sync", "async"])
@pytest.mark.parametrize(
    "by_ms",
    [every_tenth(240), lambda one: 600 * (one.send % 20 == 19), lambda one: 450 * (100 <= one.send < 122)],
    ids=["less than a quarter of a second", "one in twenty", "one stop"],
)
def test_what_garbage_and_a_busy_machine_hold_up_alarms_nobody(
    story: ModeStory, by_ms: By, new_run: NewRun, ending_of: EndingOf
) -> None:
    """Delays under 250 ms, of one send in twenty, or during one stop of the client conform."""
    assert ending_of(new_run([story], change=later(by_ms))).judgement.exit_code is ExitCode.CONFORMS


def test_what_holds_up_both_clients_alarms_nobody(new_run: NewRun, ending_of: EndingOf) -> None:
    """Sends held up in both arms conform: the broker is slow."""
    run = new_run([SLOW_CALM], change=later(lambda _one: 400), change_baseline=later(lambda _one: 400))
    assert ending_of(run).judgement.exit_code is ExitCode.CONFORMS


BASELINES = {
    "all": lambda _one: 400,
    "35 of 60": lambda one: 400 * (one.send % 60 < 35),
    "one in ten": every_tenth(300),
}


@pytest.mark.parametrize("story", [SLOW_CALM, ASYNC_CALM], ids=["sync", "async"])
@pytest.mark.parametrize("by_ms", BASELINES.values(), ids=BASELINES)
def test_a_baseline_that_is_held_up_in_calm_shows_nothing_of_the_candidate(
    story: ModeStory, by_ms: By, new_run: NewRun, ending_of: EndingOf
) -> None:
    """A baseline held up by a crowded machine is no divergence and no pass."""
    ended = ending_of(new_run([story], change_baseline=later(by_ms)))
    assert (ended.judgement.exit_code, signatures(ended)) == (ExitCode.INCONCLUSIVE, set())
    (reason,) = (result.reason for result in ended.judgement.results if result.check == "outcomes")
    assert reason.startswith("no calm baseline: ")
    assert reason.endswith(" of 300 sends of java:5.3.3 were held up")


@pytest.mark.parametrize("share", [11, 20], ids=["one in eleven", "one in twenty"])
def test_a_baseline_that_is_held_up_now_and_then_stays_a_baseline(
    share: int, new_run: NewRun, ending_of: EndingOf
) -> None:
    """A baseline with one send in eleven held up still decides, also in a pool."""
    stories = [replace(SLOW_CALM, name=f"round-robin/slow-{number}") for number in range(2)]
    run = new_run(stories, change_baseline=later(lambda one: 400 * (one.send % share == 0)))
    assert ending_of(run).judgement.exit_code is ExitCode.CONFORMS


@pytest.mark.parametrize(
    "baseline", [every_tenth(300), lambda one: 400 * (one.send % 4 == 3)], ids=["a tenth", "a quarter"]
)
def test_a_candidate_that_is_held_up_more_is_found_beside_a_slow_baseline(
    baseline: By, new_run: NewRun, ending_of: EndingOf
) -> None:
    """A candidate with half its sends late diverges beside a slow baseline."""
    run = new_run(
        [SLOW_CALM],
        change=later(lambda one: 400 * (one.send % 2 == 0)),
        change_baseline=later(baseline),
    )
    ended = ending_of(run)
    assert (ended.judgement.exit_code, signatures(ended)) == (ExitCode.DIVERGES, {HELD_UP})


def test_one_stop_beside_a_baseline_that_is_held_up_often_alarms_nobody(new_run: NewRun, ending_of: EndingOf) -> None:
    """36 held-up sends in two moments conform if the baseline has 25 in as many moments."""
    run = new_run(
        [ASYNC_CALM],
        change=later(lambda one: 500 * (100 <= one.send < 136)),
        change_baseline=later(lambda one: 500 * (one.send % 12 == 0)),
    )
    assert ending_of(run).judgement.exit_code is ExitCode.CONFORMS


def test_what_is_certain_is_told_beside_a_slow_baseline_too(new_run: NewRun, ending_of: EndingOf) -> None:
    """A connection lost without a cause diverges beside a slow baseline too."""
    defect = REPORTED_DEFECTS["loses-connections"]

    def lose(told: Told) -> None:
        told.attempts = [one for each in told.attempts if isinstance(one := reported(defect, each), Attempt)]
        told.sends = [one for each in told.sends if isinstance(one := reported(defect, each), Send)]

    ended = ending_of(new_run([SLOW_CALM], change=lose, change_baseline=later(lambda _one: 400)))
    assert ended.judgement.exit_code is ExitCode.DIVERGES
    assert any(one.startswith("outcomes.failed-without-cause/") for one in signatures(ended))
    assert not any(one.startswith("outcomes.less-often/held-up") for one in signatures(ended))


def beside_a_pause(broker: str) -> Callable[[Told], None]:
    """Remove the messages sent to this broker from 2.5 to 5.5 s."""

    def change(told: Told) -> None:
        from_ns, to_ns = ORIGIN_NS + 2_500 * MS, ORIGIN_NS + 5_500 * MS
        gone = {one.send for one in told.attempts if one.broker == broker and from_ns < one.start_ns < to_ns}
        told.stored = [one for one in told.stored if one.send not in gone]

    return change


def test_one_way_messages_are_missed_at_a_broker_that_was_never_paused(new_run: NewRun, ending_of: EndingOf) -> None:
    """Another broker's pause excuses no lost one-way message."""
    ended = ending_of(new_run([ONEWAY], change=beside_a_pause(HEALTHY)))
    assert ended.judgement.exit_code is ExitCode.DIVERGES
    assert "loss.one-way-not-stored" in signatures(ended)


def test_nothing_is_promised_of_one_way_messages_to_a_paused_broker(new_run: NewRun, ending_of: EndingOf) -> None:
    """One-way messages to a paused broker may be lost: closing its connection drops what is buffered."""
    assert ending_of(new_run([ONEWAY], change=beside_a_pause(PAUSED))).judgement.exit_code is ExitCode.CONFORMS
