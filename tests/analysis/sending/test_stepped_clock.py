"""A wall clock that is stepped or slewed during a case changes no verdict: wall times are converted by its sampled offset."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.clock import ClockAnchor
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.sending.bank import BANK
from tests.analysis.stories import ASYNC, BESIDE_A_PAUSE, CALM, DELAYED
from tests.analysis.synthetic import MS, ORIGIN_NS, STEADY, Story


def stepped(by_ms: int, *, at_ms: int = 500) -> ClockAnchor:
    """A clock set between two samples a tenth of a second apart."""
    last_ns = ORIGIN_NS + at_ms * MS
    return replace(STEADY, offsets=((ORIGIN_NS, 0), (last_ns, 0), (last_ns + 100 * MS, by_ms * MS)))


CLOCKS = {
    "31 ms ahead": stepped(31),
    "5 s ahead": stepped(5_000),
    "5 s back": stepped(-5_000),
    "slewed": replace(STEADY, offsets=tuple((ORIGIN_NS + n * 100 * MS, n * MS) for n in range(60))),
}

STORIES = {
    "calm": CALM,
    "beside a pause": BESIDE_A_PAUSE,
    "asynchronous": ASYNC,
    "delayed": DELAYED,
}


def verdicts(ended: Ended) -> dict[str, Verdict]:
    return {result.check: result.verdict for result in ended.judgement.results}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_faithful_client_conforms_as_by_a_steady_clock(
    story: Story, new_run: Callable[..., object], ending_of: Callable[..., Ended]
) -> None:
    """Every check of the case has the verdict that it has without the step, at each clock."""
    steady, *stepped_ones = (
        ending_of(new_run([story], clock=clock, run=f"run-{n}")) for n, clock in enumerate((STEADY, *CLOCKS.values()))
    )
    for name, ended in zip(CLOCKS, stepped_ones, strict=True):
        assert verdicts(ended) == verdicts(steady), name
        assert ended.judgement.exit_code is steady.judgement.exit_code, name


DEFECTS = [name for name in BANK if not BANK[name].story.settings.send_latency_fault_enable]


@pytest.mark.parametrize("name", DEFECTS[::6])
def test_a_defective_client_diverges_as_by_a_steady_clock(
    name: str, new_run: Callable[..., object], ending_of: Callable[..., Ended]
) -> None:
    """Defects of many kinds are found although the clock was stepped by 5 s between two of the sends."""
    defect = BANK[name]
    ended = ending_of(
        new_run(
            [defect.story],
            change=lambda reported: defect.spoil(reported, defect.story),
            baseline=f"java:{defect.release}",
            candidate=f"python:{defect.release}",
            clock=stepped(5_000, at_ms=510),
        )
    )
    found = {check for check, verdict in verdicts(ended).items() if verdict is Verdict.DIVERGES}
    assert found & set(defect.checks)


def test_an_unsampled_step_is_taken_for_messages_born_outside_their_calls(
    new_run: Callable[..., object], ending_of: Callable[..., Ended]
) -> None:
    """So the offset is needed: the same messages without it are a difference in ``content``."""
    ended = ending_of(new_run([CALM], clock=stepped(5_000), is_sampled=False))
    assert verdicts(ended)["content"] is Verdict.DIVERGES


def test_only_checks_of_rules_that_read_the_clock_are_undecided(
    new_run: Callable[..., object], ending_of: Callable[..., Ended]
) -> None:
    """Many asynchronous sends wait for a paused broker while the clock is stepped."""
    found = verdicts(ending_of(new_run([ASYNC], clock=stepped(31, at_ms=2_000))))
    assert found["queue-choice"] is Verdict.INCONCLUSIVE
    assert found["loss"] is found["duplication"] is found["content"] is Verdict.CONFORMS
