"""What no fault explains and no exception tells: answers and callbacks far later than the other client's, one-way messages that are nowhere."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records import Send
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
    """A client that returns, or calls back, so many ms after it had its answer."""

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
    """By more than a quarter of a second, one in ten or all of them."""
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
    """Less than a quarter of a second, one send in twenty, or all that are under way in one stop of the client."""
    assert ending_of(new_run([story], change=later(by_ms))).judgement.exit_code is ExitCode.CONFORMS


def test_what_holds_up_both_clients_alarms_nobody(new_run: NewRun, ending_of: EndingOf) -> None:
    """A slow broker is no client's doing."""
    run = new_run([SLOW_CALM], change=later(lambda _one: 400), change_baseline=later(lambda _one: 400))
    assert ending_of(run).judgement.exit_code is ExitCode.CONFORMS


def beside_a_pause(broker: str) -> Callable[[Told], None]:
    """What was sent to this broker in the pause of 2.5 to 5.5 s is nowhere."""

    def change(told: Told) -> None:
        from_ns, to_ns = ORIGIN_NS + 2_500 * MS, ORIGIN_NS + 5_500 * MS
        gone = {one.send for one in told.attempts if one.broker == broker and from_ns < one.start_ns < to_ns}
        told.stored = [one for one in told.stored if one.send not in gone]

    return change


def test_one_way_messages_are_missed_at_a_broker_that_was_never_paused(new_run: NewRun, ending_of: EndingOf) -> None:
    """Another broker's pause excuses none."""
    ended = ending_of(new_run([ONEWAY], change=beside_a_pause(HEALTHY)))
    assert ended.judgement.exit_code is ExitCode.DIVERGES
    assert "loss.one-way-not-stored" in signatures(ended)


def test_nothing_is_promised_of_one_way_messages_to_a_paused_broker(new_run: NewRun, ending_of: EndingOf) -> None:
    """Whoever closes the connection meanwhile loses what was buffered."""
    assert ending_of(new_run([ONEWAY], change=beside_a_pause(PAUSED))).judgement.exit_code is ExitCode.CONFORMS
