"""Defects in a message's key, birth and flags are found."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.errors import ExitCode
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.planting import ASYNC, DELAYED, ONEWAY, PLAIN, TO_QUEUE
from tests.analysis.synthetic import Stored, Told
from tests.analysis.synthetic_modes import ModeStory, carrying
from tests.analysis.verdicts import judged

NewRun = Callable[..., RunDirectory]
Spoil = Callable[[Stored], Stored]

CALM = ModeStory(name="calm", pauses=(), sends=60, checks=("loss", "content"), keys="k")


def with_key(one: Stored, key: str) -> Stored:
    assert one.properties is not None
    return carrying(one, "k", UNIQ_KEY=key)


def same_key(one: Stored) -> Stored:
    """A client that makes one key for every message."""
    return with_key(one, "0A0000010001")


def key_again(one: Stored) -> Stored:
    """A client whose counter of keys has 32 values."""
    return with_key(one, f"0A{(one.send or 0) % 32:02}")


def key_of_the_one_before(one: Stored) -> Stored:
    """A client that once makes no new key."""
    send = one.send or 0
    return with_key(one, f"0A{send - (send == 40):02}")


def born_at_start(one: Stored) -> Stored:
    """A client that reads the clock only at its start."""
    return replace(one, born_timestamp_ms=CALM_BEGINS_MS - 3_000)


def born_in_seconds(one: Stored) -> Stored:
    """A client that counts seconds instead of milliseconds."""
    return replace(one, born_timestamp_ms=one.born_timestamp_ms // 1_000)


def born_elsewhere(one: Stored) -> Stored:
    """A client that adds its time zone."""
    return replace(one, born_timestamp_ms=one.born_timestamp_ms + 3_600_000)


def flagged(one: Stored) -> Stored:
    """A client that marks every body as compressed."""
    return replace(one, sys_flag=1)


CALM_BEGINS_MS = 5_000_000
"""The synthetic origin on the wall clock."""

KEY = "content.key-used-before/UNIQ_KEY"
DEFECTS: list[tuple[Spoil, str, int]] = [
    (same_key, KEY, 59),
    (key_again, KEY, 28),
    (key_of_the_one_before, KEY, 1),
    (born_at_start, "content.born-before-its-call", 60),
    (born_in_seconds, "content.born-before-its-call", 60),
    (born_elsewhere, "content.born-after-its-call", 60),
    (flagged, "content.sys-flag-differs", 60),
]


@pytest.mark.parametrize(("spoil", "signature", "count"), DEFECTS, ids=lambda value: getattr(value, "__name__", None))
def test_a_client_that_spoils_what_identifies_a_message_diverges(
    spoil: Spoil, signature: str, count: int, new_run: NewRun
) -> None:
    """Each message with the defect is counted, and nothing else found."""

    def change(told: Told) -> None:
        told.stored = [spoil(one) for one in told.stored]

    judgement = judged(new_run([CALM], change=change))
    found = [(one.signature, one.count) for result in judgement.results for one in result.divergences]
    assert (judgement.exit_code, found) == (ExitCode.DIVERGES, [(signature, count)])


@pytest.mark.parametrize(
    "story", [PLAIN, TO_QUEUE, DELAYED, ASYNC, ONEWAY], ids=lambda story: f"{story.mode}-{story.kind}"
)
def test_faithful_clients_keep_their_births_and_keys_beside_a_paused_broker(story: ModeStory, new_run: NewRun) -> None:
    """Late copies and retries are born in their call, and copies share their key."""
    checks = ("loss", "content", *(("callbacks",) if story.mode is SendMode.ASYNC else ()))
    judgement = judged(new_run([replace(story, checks=checks)]))
    assert not [one.signature for result in judgement.results for one in result.divergences]
    assert judgement.exit_code is ExitCode.CONFORMS


def test_a_few_milliseconds_outside_the_call_are_the_clocks(new_run: NewRun) -> None:
    """Two clocks and three roundings excuse 8 ms before the call, not 12."""

    def change(told: Told) -> None:
        told.stored = [replace(one, born_timestamp_ms=one.born_timestamp_ms - early_ms) for one in told.stored]

    early_ms = 8
    assert judged(new_run([CALM], change=change, run="a")).exit_code is ExitCode.CONFORMS
    early_ms = 12
    assert judged(new_run([CALM], change=change, run="b")).exit_code is ExitCode.DIVERGES
