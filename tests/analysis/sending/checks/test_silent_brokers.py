"""Clients that wait too long for silent brokers, regularly or longer each time, and what a busy machine does instead."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.facts import Tally
from rocketdiff.analysis.sending.checks.context import CaseContext
from rocketdiff.analysis.sending.checks.durations.silent_brokers import BLOCKED, RETRIED, SilentBrokers, retried_shares
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.steps.rulebook import rulebook_for
from rocketdiff.core.answers.evidence import ComparedShares
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.signatures import OUTLASTED_TIMEOUT
from rocketdiff.traces.manifest import LONGEST_STALL, CaseEntry
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.builders import ENTRY, MS, SUBJECTS, S
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.sending.bank_acting import CAPPED, REPEATED, acting, notices_late
from tests.analysis.sending.bank_spoils import Spoil
from tests.analysis.sending.checks.builders import tallied
from tests.analysis.synthetic import ArmRecords
from tests.analysis.synthetic_modes import ModeStory
from tests.analysis.trace_builders import SLOW, SMALL, trace

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
    [
        ((9, 9), (9, 0), 1), ((9, 9), (9, 5), 0), ((2, 2), (2, 1), 0), ((9, 0), (9, 0), 0), ((9, 9), (0, 9), 1),
        ((4, 9), (4, 4), 1),
    ],
)  # fmt: skip
def test_shares_of_retried_sends(met: tuple[int, int], ended: tuple[int, int], found: int) -> None:
    """Blocked attempts that one arm alone tries again are compared, in both directions."""
    tallies = tallied(*met, BLOCKED, BLOCKED) | tallied(*ended, RETRIED, RETRIED)
    situation = "where a broker stayed silent beyond the timeout of an attempt, with time left"
    shares = ComparedShares("retried/after-silence", situation, "tried again", met, ended)
    assert retried_shares(CaseFacts("r1", SUBJECTS, ENTRY, tallies=tallies)) == (shares,) * found


ALLOWED_MS = 200
TIMED = replace(SMALL, settings=ClientSettings(send_msg_timeout_ms=500, send_msg_max_timeout_per_request_ms=ALLOWED_MS))
OUTAGE: dict[str, Any] = {"injected_ns": 2 * S, "heal_ns": 60 * S}
ON_TIME = (5.0, 1.0, 4.0, 2.0, 3.0, 2.0, 5.0, 1.0, 4.0)


def timeouts(
    late_ms: tuple[float, ...], every_ms: int = 2_000, at_once: int = 1, calm_ms: int = 1, **others: Any
) -> dict[str, list[dict[str, Any]]]:
    """Sends from 2 s on whose first attempt is so late beyond its 200 ms; of two the first is retried. Three quick ones in calm."""
    sends: list[dict[str, Any]] = []
    attempts: list[dict[str, Any]] = []
    for number, each in enumerate(late_ms):
        start = 2 * S + number // at_once * every_ms * MS
        end = start + ALLOWED_MS * MS + round(each * MS)
        named = {"send": number, "thread": number % 3}
        failed: dict[str, Any] = {
            "broker": "broker-b",
            "error": SLOW,
            "status": None,
            "outcome": "unknown",
            "reason": "timeout",
        }
        sends.append(named | {"due_ns": start, "start_ns": start, "end_ns": end + MS} | others)
        attempts.append(named | failed | {"start_ns": start, "end_ns": end})
        if number % 2 == 0:
            attempts.append(named | {"attempt": 1, "start_ns": end, "end_ns": end + MS})
    for number in range(len(late_ms), len(late_ms) + 3):
        times = {"send": number, "start_ns": 100 * S + number * S, "end_ns": 100 * S + number * S + calm_ms * MS}
        sends.append(times | {"due_ns": times["start_ns"]})
        attempts.append(times)
    return {"sends": sends, "attempts": attempts}


def begun_later(arm: dict[str, list[dict[str, Any]]], by_ms: int, **others: Any) -> dict[str, list[dict[str, Any]]]:
    """The attempts of these sends, begun so long after their call."""
    sends = [row | {"start_ns": row["start_ns"] - by_ms * MS} for row in arm["sends"]]
    return {"sends": sends, "attempts": [row | others for row in arm["attempts"]]}


def observed(
    baseline: Any, candidate: Any, *outages: dict[str, Any], entry: CaseEntry = TIMED, outlasted: Arm | None = None
) -> tuple[list[Any], dict[str, tuple[int, int]]]:
    """Differences, and blocked and retried attempts of each arm. outlasted: one was noted before as far too long."""
    arms = {"baseline": baseline, "candidate": candidate}
    tables = {f"{name}_{arm}": rows for arm, each in arms.items() for name, rows in each.items()}
    case = trace(
        entry, **tables, routes=[{}], faults=[OUTAGE | {"inject_ns": S, "healed_ns": 61 * S} | one for one in outages]
    )
    collector = SendFacts("r1", 1, 0)
    if outlasted is not None:
        collector.differ_at(OUTLASTED_TIMEOUT, outlasted, at_ns=0, phase="paused", expected="", observed="")
    SilentBrokers(CaseContext(case, rulebook_for(case), collector)).finish()
    counts = {
        (fact.arm, fact.check): fact.n for fact in (each.fact for each in collector.facts()) if isinstance(fact, Tally)
    }
    return list(collector.differences()), {arm: (counts[arm, BLOCKED], counts[arm, RETRIED]) for arm in arms}


@pytest.mark.parametrize(
    ("late_ms", "found"),
    [
        (ON_TIME, None),
        (
            (300.0,) * 8 + (301.0,),
            (
                LATE,
                8,
                "at most 50 ms beyond their timeout: the baseline's 10 up to 5 ms",
                "9 by 300 ms in the median, up to 301 ms (p = 1.5e-07)",
            ),
        ),
        (
            (1.0, 300.0, 300.0, 301.0, 300.0, 300.0, 2.0, 300.0, 50.0),
            (
                LATE,
                3,
                "at most 50 ms beyond their timeout: the baseline's 10 up to 5 ms",
                "9 by 300 ms in the median, up to 301 ms (p = 1.5e-07)",
            ),
        ),
        (
            tuple(6.0 * n for n in range(9)),
            (
                LONGER,
                8,
                "waits for silent brokers that grow no more than the baseline's, from 1 to 5 ms beyond the timeout",
                "9 waits, the last third 36 ms longer than the first",
            ),
        ),
    ],
)
def test_late_and_growing_timeouts_of_literal_sends(
    late_ms: tuple[float, ...], found: tuple[str, int, str, str] | None
) -> None:
    """The example is the latest timeout, with the baseline's limits."""
    differences, _ = observed(timeouts((*ON_TIME, 2.0)), timeouts(late_ms), {})
    seen = [(each.signature, each.send, each.expected, each.observed) for each in differences]
    assert seen == ([] if found is None else [found])
    for each in differences:
        assert (each.arm, each.thread, each.attempt, each.phase) == ("candidate", each.send % 3, 0, "paused")
        assert each.at_ns == 2 * S + each.send * 2 * S + ALLOWED_MS * MS


@pytest.mark.parametrize(
    ("candidate", "outages", "counts"),
    [
        (timeouts(ON_TIME), [{}], (9, 5)),
        (timeouts(ON_TIME), [{"heal_ns": None, "healed_ns": None}], (9, 5)),
        (timeouts(ON_TIME), [{"injected_ns": 2 * S + 1}], (8, 4)),
        (timeouts(ON_TIME), [{"heal_ns": 18 * S + (ALLOWED_MS + 50) * MS}], (8, 4)),
        (timeouts(ON_TIME), [{"heal_ns": 18 * S + (ALLOWED_MS + 50) * MS + 1}], (9, 5)),
        (timeouts(ON_TIME), [{"heal_ns": 8 * S + 250 * MS}, {"injected_ns": 10 * S, "episode": 2}], (8, 5)),
        (timeouts(ON_TIME), [{"node": "broker-a"}], (0, 0)),
        (timeouts(ON_TIME), [{"kind": "kill"}], (0, 0)),
        (timeouts(ON_TIME, mode="async"), [{}], (0, 0)),
        (timeouts(ON_TIME, mode="oneway"), [{}], (0, 0)),
        (timeouts(ON_TIME, mode="sync"), [{}], (9, 5)),
        (timeouts(ON_TIME, kind="batch"), [{}], (9, 5)),
        (timeouts(ON_TIME, kind="queue"), [{}], (0, 0)),
        (timeouts((-5.0,) * 9), [{}], (9, 5)),
        (timeouts((-5.1,) * 9), [{}], (0, 0)),
        (timeouts((5.0, 1.0), every_ms=4), [{}], (1, 1)),
        (timeouts((5.0, 1.0), every_ms=5), [{}], (2, 1)),
        (timeouts((1.0, 5.0, 1.0, 1.0), every_ms=2), [{}], (2, 1)),
        (begun_later(timeouts(ON_TIME), 1), [{}], (9, 5)),
        (begun_later(timeouts(ON_TIME), 0, attempt=1), [{}], (0, 0)),
    ],
)
def test_which_attempts_a_silent_broker_blocked(
    candidate: dict[str, Any], outages: list[dict[str, Any]], counts: tuple[int, int]
) -> None:
    """Its broker was silent until well after the timeout of a call that waits; timeouts that one stall may delay count once."""
    _, seen = observed(timeouts(ON_TIME), candidate, *outages)
    assert seen["candidate"] == counts


def test_a_stall_of_the_baseline_counts_with_its_longest_delay() -> None:
    """Of two timeouts that a stall delayed together the longer one is the measure of the machine."""
    late = timeouts((300.0,) * 9)
    assert observed(timeouts((300.0, 1.0) * 9, at_once=2), late, {})[0] == []
    assert observed(timeouts((30.0, *ON_TIME), every_ms=300), late, {})[0] != []


def test_a_stall_of_the_candidate_counts_with_its_shortest_delay() -> None:
    """Of two timeouts that a stall delayed together the shorter one tells most of the client."""
    assert observed(timeouts(ON_TIME), timeouts((300.0, 1.0) * 9, at_once=2), {})[0] == []
    assert observed(timeouts(ON_TIME), timeouts((300.0, 300.0) * 9, at_once=2), {})[0] != []


@pytest.mark.parametrize(
    ("calm_ms", "is_late"), [((1, 1), True), ((100, 1), True), ((1, 100), True), ((100, 100), False)]
)
def test_timeouts_are_as_late_as_the_slowest_sends_in_calm(calm_ms: tuple[int, int], is_late: bool) -> None:
    """Beside sends of 100 ms in calm of both timeouts may be 300 ms late, three times as much."""
    arms = [timeouts(late, calm_ms=each) for late, each in zip((ON_TIME, (300.0,) * 9), calm_ms, strict=True)]
    assert [each.signature for each in observed(*arms, {})[0]] == [LATE] * is_late


def test_calm_sends_raise_no_limit_where_one_arm_met_no_silence() -> None:
    """The other's attempts count if their broker was silent for 51 ms more."""
    alone = timeouts((), calm_ms=100), timeouts(ON_TIME, calm_ms=100)
    assert observed(*alone, {"heal_ns": 18 * S + (ALLOWED_MS + 51) * MS})[1]["candidate"] == (9, 5)


@pytest.mark.parametrize(("silent_us", "limit_ms"), [(0, 50), (500, 900)])
def test_only_timeouts_at_silent_brokers_raise_the_limit(silent_us: int, limit_ms: int) -> None:
    """The baseline's last one, 300 ms late, only if its broker was silent beyond its timeout."""
    heal_ns = 18 * S + ALLOWED_MS * MS + silent_us * 1_000
    ((one,), _) = observed(timeouts((*ON_TIME[:8], 300.0)), timeouts((300.0,) * 9), {"heal_ns": heal_ns})
    assert one.expected.startswith(f"at most {limit_ms} ms beyond their timeout: the baseline's 8")


def test_a_delay_is_never_negative() -> None:
    """A client may round its timeout down."""
    ((one,), _) = observed(timeouts((-3.0,) * 9), timeouts((300.0,) * 9), {})
    assert one.expected == "at most 50 ms beyond their timeout: the baseline's 9 up to 0 ms"


@pytest.mark.parametrize(("outlasted", "found"), [(Arm.CANDIDATE, []), (Arm.BASELINE, [LATE])])
def test_a_timeout_outlasted_by_far_is_noted_once(outlasted: Arm, found: list[str]) -> None:
    """The candidate's exact difference already shows it."""
    differences, _ = observed(timeouts(ON_TIME), timeouts((300.0,) * 9), {}, outlasted=outlasted)
    assert [each.signature for each in differences if each.signature != OUTLASTED] == found


def test_attempts_that_use_up_the_time_of_their_call_are_not_tried_again() -> None:
    """With a timeout of 200 ms and no limit for one attempt."""
    entry = replace(SMALL, settings=ClientSettings(send_msg_timeout_ms=ALLOWED_MS))
    assert observed(timeouts(ON_TIME), timeouts(ON_TIME), {}, entry=entry)[1]["candidate"] == (0, 0)
