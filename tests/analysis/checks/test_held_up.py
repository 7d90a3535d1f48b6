"""How long calls that do not wait for an answer may keep their thread."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.analysis.checks.sending.durations.held_up import tail
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Send
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.planting import ASYNC, ONEWAY
from tests.analysis.synthetic import MS, Told
from tests.analysis.synthetic_modes import ModeStory
from tests.analysis.verdicts import judged

NewRun = Callable[..., RunDirectory]
Hold = Callable[[Send], int]

ONEWAY_CALM = replace(ONEWAY, pauses=(), every_ms=700, sends=100, checks=("attempts", "loss"))
ASYNC_CALM = replace(ASYNC, pauses=(), every_ms=700, sends=100, checks=("attempts", "loss", "callbacks"))
STORIES = pytest.mark.parametrize("story", [ONEWAY_CALM, ASYNC_CALM], ids=["oneway", "async"])


def held(by_ms: Hold) -> Callable[[Told], None]:
    """Calls return later; nothing else changes."""

    def longer(one: Send) -> Send:
        more_ns = by_ms(one) * MS
        if one.returned_ns is None:
            return replace(one, end_ns=one.end_ns + more_ns)
        return replace(one, returned_ns=one.returned_ns + more_ns)

    def change(told: Told) -> None:
        told.sends = [longer(one) for one in told.sends]

    return change


def waits_for_every_second(one: Send) -> int:
    return 517 * (one.send % 2)


def waits_for_an_answer(_one: Send) -> int:
    return 150


def waits_for_every_eighth(one: Send) -> int:
    """A client that flushes a buffer of eight."""
    return 300 * (one.send % 8 == 7)


@STORIES
@pytest.mark.parametrize("by_ms", [waits_for_every_second, waits_for_an_answer])
def test_calls_that_are_held_up_diverge(story: ModeStory, by_ms: Hold, new_run: NewRun) -> None:
    """A client that holds up its calls, half of them or all, diverges."""
    judgement = judged(new_run([story], change=held(by_ms)))
    found = [one.signature for result in judgement.results for one in result.divergences]
    assert (judgement.exit_code, found) == (ExitCode.DIVERGES, [f"attempts.call-held-up/{story.mode}"])


def test_one_call_in_eight_takes_more_calls_to_be_sure_of(new_run: NewRun) -> None:
    """12 held-up calls of 100 are no proof at one in a million, 25 of 200 are: 2^-25 is one in 33 million."""
    few, many = ONEWAY_CALM, replace(ONEWAY_CALM, sends=200)
    assert judged(new_run([few], change=held(waits_for_every_eighth), run="few")).exit_code is ExitCode.CONFORMS
    assert judged(new_run([many], change=held(waits_for_every_eighth), run="many")).exit_code is ExitCode.DIVERGES


@STORIES
@pytest.mark.parametrize(("every", "by_ms"), [(1, 90), (12, 600)])
def test_what_a_crowded_machine_does_is_no_difference(
    story: ModeStory, every: int, by_ms: int, new_run: NewRun
) -> None:
    """All calls 90 ms late, or one in twelve 600 ms late, conform: a crowded machine does that."""
    run = new_run([story], change=held(lambda one: by_ms * (one.send % every == 0)))
    assert judged(run).exit_code is ExitCode.CONFORMS


def test_a_sign_test_is_exact() -> None:
    """The sign test is exact: three heads of three have probability 1/8, no toss has 1."""
    assert (tail(3, 3), tail(2, 3), tail(0, 0)) == (0.125, 0.5, 1.0)
