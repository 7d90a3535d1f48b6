"""Sends to a healthy broker wait for another thread, blocked by a paused one."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Attempt
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.planting import BESIDE_A_PAUSE, HEALTHY, PAUSED
from tests.analysis.synthetic import MS, ORIGIN_NS, Change, Pause, Told

NewRun = Callable[..., RunDirectory]
EndingOf = Callable[[RunDirectory], Ended]
Late = Callable[[Attempt], int]

ONE_PAUSE = replace(
    BESIDE_A_PAUSE, name="round-robin/pause-and-threads", pauses=(Pause(PAUSED, 1_500, 1_300),), threads=4, every_ms=130
)
"""Four threads, each sending every 520 ms, so a timeout of 500 ms delays no later send."""

PAUSES = replace(
    ONE_PAUSE,
    name="round-robin/pauses-and-threads",
    pauses=tuple(Pause(PAUSED, 1_500 + 3_000 * number, 1_300) for number in range(14)),
    sends=360,
)
HELD_UP = "outcomes.more-often/held-up/faults"


def late(by_ns: Callable[[Told], Late]) -> Change:
    def change(told: Told) -> None:
        of = by_ns(told)
        more = {one.send: of(one) for one in told.attempts if one.error is None}
        told.attempts = [replace(one, end_ns=one.end_ns + more.get(one.send, 0)) for one in told.attempts]
        told.sends = [replace(one, end_ns=one.end_ns + more.get(one.send, 0)) for one in told.sends]

    return change


def locked(told: Told) -> Late:
    """Wait until another thread's attempt has timed out."""
    blocked = [one for one in told.attempts if one.error is not None]

    def ends(mine: Attempt) -> Iterator[int]:
        for one in blocked:
            if one.thread != mine.thread and one.start_ns < mine.start_ns < one.end_ns:
                yield one.end_ns

    return lambda mine: max((end_ns - mine.start_ns for end_ns in ends(mine)), default=0)


def by_400_ms(broker: str, from_ms: int, to_ms: int) -> Callable[[Told], Late]:
    from_ns, to_ns = ORIGIN_NS + from_ms * MS, ORIGIN_NS + to_ms * MS
    return lambda _told: lambda one: 400 * MS * (one.broker == broker and from_ns < one.start_ns < to_ns)


LOCK = late(locked)


def signatures(ended: Ended) -> set[str]:
    return {one.signature for result in ended.judgement.results for one in result.divergences}


def test_a_thread_that_waits_for_another_threads_broker_diverges(new_run: NewRun, ending_of: EndingOf) -> None:
    """A client held up at the healthy broker in each of fourteen pauses diverges."""
    ended = ending_of(new_run([PAUSES], change=LOCK))
    assert ended.judgement.exit_code is ExitCode.DIVERGES
    assert signatures(ended) == {HELD_UP}


def test_pauses_of_several_cases_count_together(new_run: NewRun, ending_of: EndingOf) -> None:
    """Fourteen cases with one pause each count together."""
    ended = ending_of(
        new_run([replace(ONE_PAUSE, name=f"pause/{number}", sends=60) for number in range(14)], change=LOCK)
    )
    assert ended.judgement.exit_code is ExitCode.DIVERGES
    assert signatures(ended) == {HELD_UP}


def test_a_client_that_lets_go_of_a_lock_differs_too(new_run: NewRun, ending_of: EndingOf) -> None:
    """A candidate held up less often than the baseline diverges too."""
    ended = ending_of(new_run([PAUSES], change_baseline=LOCK))
    assert signatures(ended) == {"outcomes.less-often/held-up/faults"}


def test_the_sends_of_one_pause_are_one_cause(new_run: NewRun, ending_of: EndingOf) -> None:
    """Sends held up by one pause share a cause, so they decide nothing, however many."""
    many = replace(ONE_PAUSE, every_ms=20, sends=400)
    assert (
        ending_of(new_run([many], change=late(by_400_ms(HEALTHY, 1_500, 2_400)))).judgement.exit_code
        is ExitCode.CONFORMS
    )


def test_what_holds_up_both_clients_beside_a_fault_alarms_nobody(new_run: NewRun, ending_of: EndingOf) -> None:
    """Sends held up in both arms conform: in some releases threads wait for each other."""
    run = new_run([PAUSES], change=LOCK, change_baseline=LOCK)
    assert ending_of(run).judgement.exit_code is ExitCode.CONFORMS


def test_a_stop_of_the_client_in_a_few_pauses_alarms_nobody(new_run: NewRun, ending_of: EndingOf) -> None:
    """A long garbage collection in one of fourteen pauses conforms."""
    run = new_run([PAUSES], change=late(by_400_ms(HEALTHY, 4_500, 5_800)))
    assert ending_of(run).judgement.exit_code is ExitCode.CONFORMS


def test_sends_to_the_broker_that_was_paused_are_not_asked(new_run: NewRun, ending_of: EndingOf) -> None:
    """Late sends to the resumed broker do not count."""
    after = [by_400_ms(PAUSED, 2_800 + 3_000 * number, 3_800 + 3_000 * number) for number in range(14)]
    run = new_run([PAUSES], change=late(lambda told: lambda one: max(each(told)(one) for each in after)))
    assert HELD_UP not in signatures(ending_of(run))
