"""Calls that do not wait for an answer: how long, how many and how surely they are held up."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.sending.checks.by_rules import attempts
from rocketdiff.analysis.sending.checks.context import CalmBefore
from rocketdiff.analysis.sending.checks.durations.held_up import HeldUp, tail
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.sends.plan import SendMode
from tests.analysis.builders import ENTRY, MS, S, context_of, ended, facts_of, made, pair, signatures, tried

ONEWAY, ASYNC, SYNC = SendMode.ONEWAY, SendMode.ASYNC, SendMode.SYNC


def call(arm: Arm, send: int, took_ns: int, mode: SendMode = ONEWAY, **row: Any) -> Any:
    """A call that kept its thread for this time; an asynchronous send ends after 10 s."""
    start_ns = (send + 1) * S
    if mode is ASYNC:
        row = {"returned_ns": start_ns + took_ns, "end_ns": start_ns + 10 * S} | row
    return made(arm, send, tried(start_ns, start_ns + took_ns), **{"mode": mode} | row)


def calls(held: int, of: int, by_ns: int = 300 * MS, quicker: int = 0, mode: SendMode = ONEWAY) -> CaseFacts:
    """Calls of 1 ms; some take ``by_ns`` longer, the candidate's or (``quicker``) the baseline's."""
    sends = []
    for n in range(of):
        usual_ns = MS + (by_ns if n >= of - quicker else 0)
        sends.append(pair(call(Arm.BASELINE, n, usual_ns, mode), call(Arm.CANDIDATE, n, MS + by_ns * (n < held), mode)))
    return facts_of(sends, HeldUp)


@pytest.mark.parametrize("mode", [ONEWAY, ASYNC])
@pytest.mark.parametrize(
    ("held", "of", "by_ns", "quicker", "is_found"),
    [
        (20, 20, 14 * MS, 0, True),
        (20, 20, 13 * MS, 0, False),
        (20, 200, 300 * MS, 0, True),
        (20, 201, 300 * MS, 0, False),
        (19, 100, 300 * MS, 0, False),
        (20, 100, 300 * MS, 1, False),
        (25, 100, 300 * MS, 1, True),
        (20, 100, 100 * MS, 1, False),
        (0, 0, 0, 0, False),
        (0, 30, 300 * MS, 30, False),
    ],
)
def test_when_calls_are_held_up(held: int, of: int, by_ns: int, quicker: int, is_found: bool, mode: SendMode) -> None:
    """
    Calls diverge if over 13 ms longer where others take 1 ms, at least one in ten, and less likely than one in a million (2^-20, not 2^-19).

    20 against one are 22 in 2^21; 25 against one are 27 in 2^26, which is 4 in ten million.
    """
    found = calls(held, of, by_ns, quicker, mode)
    assert signatures(found) == ([f"attempts.call-held-up/{mode} 1"] if is_found else [])


def test_example_is_the_longest_call() -> None:
    """The example shows the first of the longest calls, with 500 ms."""
    sends = [
        pair(call(Arm.BASELINE, n, 2 * MS), call(Arm.CANDIDATE, n, (500 if n in (7, 9) else 300) * MS))
        for n in range(30)
    ]
    found = facts_of(sends, HeldUp)
    ((one,),) = found.divergences.values()
    assert (one.example.where.number, one.subject) == (7, "python:5.3.3")
    assert one.example.observed == "30 of 30 calls took over 16 ms longer, this one 500 ms"
    assert one.example.expected == "calls that return as soon as baseline's, this one after 2 ms"
    assert ended(attempts.evaluate(found))[1] is ExitCode.DIVERGES


@pytest.mark.parametrize(("calm", "found"), [(180, ["attempts.call-held-up/oneway 1"]), (181, [])])
def test_calm_calls_count_too(calm: int, found: list[str]) -> None:
    """Twenty calls held up must be one in ten of all."""
    context = context_of()
    observer = HeldUp(context)
    for n in range(20):
        observer.observe(pair(call(Arm.BASELINE, n, MS), call(Arm.CANDIDATE, n, 300 * MS)))
    observer.calm_at_end(cast(CalmBefore, SimpleNamespace(calls_ms=lambda: ([1.0] * calm, [1.0] * calm))))
    observer.finish()
    assert [f"{one.signature} 1" for one in context.collector.differences()] == found


@pytest.mark.parametrize(
    "others",
    [
        {"mode": SYNC},
        {"mode": SYNC, "returned_ns": 400 * S},
        {"mode": ASYNC, "returned_ns": None},
        {"mode": ONEWAY, "error": "RemotingConnectException"},
    ],
)
@pytest.mark.parametrize("arm", Arm)
def test_calls_that_wait_or_threw_are_not_compared(others: dict[str, Any], arm: Arm) -> None:
    """Calls that wait for an answer, or threw in either arm, are not compared."""
    sends = []
    for n in range(30):
        sides = {one: call(one, n, 400 * MS * (one is Arm.CANDIDATE), **(others if one is arm else {})) for one in Arm}
        sends.append(pair(sides[Arm.BASELINE], sides[Arm.CANDIDATE]))
    assert signatures(facts_of(sends, HeldUp)) == []


def test_calls_of_one_arm_alone_are_not_compared() -> None:
    """Calls of one arm alone are not compared."""
    alone = [pair(None, call(Arm.CANDIDATE, n, 400 * MS)) for n in range(30)]
    assert signatures(facts_of(alone, HeldUp)) == []
    assert signatures(facts_of([pair(call(Arm.BASELINE, n, MS), None) for n in range(30)], HeldUp)) == []


@pytest.mark.parametrize(
    ("threads", "duration_s", "planned", "more_ms", "is_found"),
    [
        (1, 1.0, 100, 13.1, True),
        (1, 1.0, 100, 13.0, False),
        (2, 1.0, 400, 8.1, True),
        (2, 1.0, 400, 8.0, False),
        (1, 1.0, 0, 13.1, True),
        (1, 2.0, 200, 13.0, False),
        (1, 0.01, 1, 13.0, False),
    ],
)
def test_a_thread_that_is_held_up_for_its_period_falls_behind(
    threads: int, duration_s: float, planned: int, more_ms: float, is_found: bool
) -> None:
    """The least delay is the time from send to send of a thread, 10 ms at most, and three times what calls take besides."""
    entry = replace(ENTRY, threads=threads, duration_s=duration_s, sends_planned=planned)
    sends = [pair(call(Arm.BASELINE, n, MS), call(Arm.CANDIDATE, n, MS + round(more_ms * MS))) for n in range(30)]
    assert bool(signatures(facts_of(sends, HeldUp, entry=entry))) is is_found


def test_a_sign_test_is_exact() -> None:
    """The sign test is exact: three heads of three have probability 1/8, no toss has 1."""
    assert (tail(3, 3), tail(2, 3), tail(0, 0)) == (0.125, 0.5, 1.0)
