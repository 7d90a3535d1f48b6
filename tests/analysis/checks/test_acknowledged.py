"""Messages acknowledged before they are stored are found, even if a broker's clock is ahead."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.synthetic import Told
from tests.analysis.synthetic_modes import ModeStory

NewRun = Callable[..., RunDirectory]
EndingOf = Callable[..., Ended]
CALM = ModeStory(name="calm", pauses=(), sends=60, checks=("loss",))
STRUCK = 40


def later(told: Told, by_ms: int, only: int | None = None) -> None:
    """Shift the store times. only: the one send to shift."""
    told.stored = [
        replace(one, store_timestamp_ms=one.store_timestamp_ms + by_ms) if only in (None, one.send) else one
        for one in told.stored
    ]


@pytest.mark.parametrize(("by_ms", "code"), [(100, ExitCode.CONFORMS), (102, ExitCode.DIVERGES)])
def test_a_hundred_milliseconds_are_let_pass(by_ms: int, code: ExitCode, new_run: NewRun, ending_of: EndingOf) -> None:
    """A message may be stored 100 ms after its acknowledgement, plus the 1 ms by which the clock may be ahead."""
    ended = ending_of(new_run([CALM], change=lambda told: later(told, by_ms, STRUCK)))
    found = [one.signature for result in ended.judgement.results for one in result.divergences]
    assert ended.judgement.exit_code is code
    assert set(found) == ({"loss.stored-after-its-acknowledgement"} if code is ExitCode.DIVERGES else set())


def test_brokers_whose_clock_is_ahead_are_no_difference(new_run: NewRun, ending_of: EndingOf) -> None:
    """Clocks 10 s ahead in both arms conform."""
    ended = ending_of(new_run([CALM], change_arms=lambda told, _: later(told, 10_000)))
    assert ended.judgement.exit_code is ExitCode.CONFORMS


def test_a_client_that_acknowledges_everything_early_is_found(new_run: NewRun, ending_of: EndingOf) -> None:
    """A client that acknowledges 800 ms early diverges: the baseline shows that the clocks are right."""
    ended = ending_of(new_run([CALM], change=lambda told: later(told, 800)))
    assert ended.judgement.exit_code is ExitCode.DIVERGES
    (divergence,) = [one for result in ended.judgement.results for one in result.divergences]
    # A broker's clock is unknown until the baseline's first message there, so some of the first eight are not judged.
    assert divergence.signature == "loss.stored-after-its-acknowledgement"
    assert 52 <= divergence.count <= 60
