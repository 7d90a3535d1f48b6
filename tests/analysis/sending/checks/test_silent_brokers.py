"""Clients that wait too long for silent brokers, regularly or longer each time, and what a busy machine does instead."""

from collections.abc import Callable
from dataclasses import fields, replace

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.sending.checks.durations.silent_brokers import BLOCKED, RETRIED, retried_shares
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.manifest import LONGEST_STALL
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.builders import ENTRY, MS, SUBJECTS
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.sending.bank_acting import CAPPED, REPEATED, acting, notices_late
from tests.analysis.sending.bank_spoils import Spoil
from tests.analysis.sending.checks.builders import tallied
from tests.analysis.synthetic import ArmRecords
from tests.analysis.synthetic_modes import ModeStory

LATE, LONGER = "attempts.late-timeouts", "attempts.waits-longer-each-time"
OUTLASTED = "attempts.outlasted-timeout"

DEFECTS: dict[str, tuple[ModeStory, Spoil, set[str]]] = {
    "has no limit for an attempt": (CAPPED, acting(send_msg_max_timeout_per_request_ms=-1), {OUTLASTED}),
    "ignores the limit of one attempt": (CAPPED, notices_late(lambda n: 400 if n == 4 else 0), {OUTLASTED}),
    "has twice the limit": (CAPPED, acting(send_msg_max_timeout_per_request_ms=300), {OUTLASTED}),
    "checks its timeouts every 100 ms": (CAPPED, notices_late(lambda n: 60 + n % 3 * 20), {LATE}),
    "is late for two timeouts in three": (CAPPED, notices_late(lambda n: 0 if n % 3 == 0 else 120), {LATE}),
    "adds a quarter of a long timeout": (REPEATED, notices_late(lambda _: 125), {LATE}),
    "waits 10 ms longer each time": (REPEATED, notices_late(lambda n: 10 * n), {LONGER}),
    "waits 4 ms longer each time": (REPEATED, notices_late(lambda n: 4 * n), {LONGER}),
}
"""Story, defect, and signatures that it must have; others may be found besides."""

BUSY: dict[str, tuple[ModeStory, Spoil, int]] = {
    "one stall of 400 ms": (CAPPED, notices_late(lambda n: 400 if n == 4 else 0), 400),
    "two stalls of 300 ms": (CAPPED, notices_late(lambda n: 300 if n in (2, 7) else 0), 210),
    "a slow first timeout": (CAPPED, notices_late(lambda n: 140 if n == 1 else 0), 0),
    "every timeout late by a time slice": (CAPPED, notices_late(lambda n: 15 + n * 7 % 20), 0),
    "the load rises and falls": (REPEATED, notices_late(lambda n: 10 * min(n, 12 - n)), 0),
    "a little longer each time": (REPEATED, notices_late(lambda n: n), 0),
}
"""What a busy machine does to a faithful client alone, and the longest stall in ms that was measured beside the clients."""


class Stalled(ModeStory):
    """A story in which the baseline notices its third timeout 60 ms late."""

    def play(self, release: str, seed: int) -> ArmRecords:
        records = super().play(release, seed)
        notices_late(lambda n: 60 if n == 3 else 0)(records, self)
        return records


def _ended(
    new_run: Callable[..., RunDirectory],
    ending_of: Callable[..., Ended],
    story: ModeStory,
    spoil: Spoil,
    stall_ms: int = 0,
) -> Ended:
    change = {"change": lambda records: spoil(records, story)}
    run = new_run([story], baseline="java:5.3.3", candidate="python:5.3.3", **change)
    run.change(1, lambda entry: replace(entry, measured={LONGEST_STALL: stall_ms * MS}))
    return ending_of(run)


def _signatures(ended: Ended) -> set[str]:
    return {one.signature for result in ended.judgement.results for one in result.divergences}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_client_that_waits_too_long_diverges(defect: str, new_run: Callable, ending_of: Callable) -> None:  # type: ignore[type-arg]  # fixtures
    """Attempts regularly outlast their timeout at a silent broker, or longer each time: exit code 1."""
    story, spoil, signatures = DEFECTS[defect]
    ended = _ended(new_run, ending_of, story, spoil)
    assert _signatures(ended) >= signatures, ended.judgement.results
    assert ended.judgement.exit_code is ExitCode.DIVERGES


@pytest.mark.parametrize("story", BUSY)
def test_a_busy_machine_conforms(story: str, new_run: Callable, ending_of: Callable) -> None:  # type: ignore[type-arg]  # fixtures
    """Single stalls, time slices and a changing load conform."""
    ended = _ended(new_run, ending_of, *BUSY[story])
    assert (_signatures(ended), ended.judgement.exit_code) == (set(), ExitCode.CONFORMS)


def test_a_machine_that_is_late_for_both_conforms(new_run: Callable, ending_of: Callable) -> None:  # type: ignore[type-arg]  # fixtures
    """What the baseline's timeouts suffered once is the measure: 60 ms once, and 100 ms each time."""
    story = Stalled(**{one.name: getattr(CAPPED, one.name) for one in fields(CAPPED)})
    assert _ended(new_run, ending_of, story, notices_late(lambda _: 100)).judgement.exit_code is ExitCode.CONFORMS


@pytest.mark.parametrize(
    ("met", "ended", "found"),
    [((9, 9), (9, 0), 1), ((9, 9), (9, 5), 0), ((9, 0), (9, 0), 0), ((9, 9), (0, 9), 1)],
)
def test_shares_of_retried_sends(met: tuple[int, int], ended: tuple[int, int], found: int) -> None:
    """Blocked attempts that one arm alone tries again are compared, in both directions."""
    tallies = tallied(*met, BLOCKED, BLOCKED) | tallied(*ended, RETRIED, RETRIED)
    assert len(retried_shares(CaseFacts("r1", SUBJECTS, ENTRY, tallies=tallies))) == found
