"""The replay of each thread, and the differences that torn connections and busy machines excuse, on literal sends."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketdiff.analysis.sending.send_view import FaultContext, Phase, SendView
from rocketdiff.analysis.sending.steps.excuses import Excuses, HeldConnections
from rocketdiff.analysis.sending.steps.replayed import called, forgiven, replayed
from rocketdiff.analysis.sending.steps.rulebook import ArmRules
from rocketdiff.analysis.sending.steps.torn_connections import TornConnections
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Send
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.signatures import GAVE_UP_BEFORE_TIMEOUT, OUTLASTED_TIMEOUT, WAITED_FOR_AN_ANSWER
from rocketdiff.oracle.producer.durations import Tearing
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference, SendJudgement
from tests.analysis.builders import MS, S, fault, made, tried

PAUSE = fault(10 * S, 12 * S)
NO_EXCUSE = Excuses(HeldConnections(None, ()))


def rules(*, shared: bool = False, asynchronous: bool = False) -> Any:
    """Rules whose difference names the judging replay."""

    def judged(by: str, trace: Send) -> SendJudgement:
        found = RuleDifference(DifferenceKind.ATTEMPTS, by, 0, "", "")
        return SendJudgement(trace.send, trace.thread, (), found, 1)

    numbers = count(1)

    def fresh() -> Any:
        number = next(numbers)
        return SimpleNamespace(judge=lambda trace: judged(f"replay {number}", trace))

    return SimpleNamespace(
        shared=shared,
        asynchronous=asynchronous,
        fresh=fresh,
        judge_together=lambda traces: [judged("together", trace) for trace in reversed(list(traces))],
        torn_connections=lambda: TornConnections(None, (), Tearing(True, True)),
        excuses=lambda: NO_EXCUSE,
    )


def in_context(*threads: int) -> list[SendView]:
    """Sends 0, 1, 2 … of these threads; the last never returned."""
    sides = [made(Arm.CANDIDATE, n, tried(n, n + 1), thread=thread) for n, thread in enumerate(threads)]
    return [*sides[:-1], replace(sides[-1], row=None)]


def signatures_of(sends: Iterable[SendView]) -> list[str | None]:
    return [
        None if send.judgement is None or send.judgement.difference is None else send.judgement.difference.signature
        for send in sends
    ]


def test_every_thread_is_judged_by_a_replay_of_its_own() -> None:
    """Each thread has its own replay; a send that never returned is not judged."""
    threads = 0, 0, 1, 1, 1
    assert signatures_of(replayed(in_context(*threads), cast(ArmRules, rules()))) == [
        "replay 1",
        "replay 1",
        "replay 2",
        "replay 2",
        None,
    ]
    assert signatures_of(replayed(in_context(*threads), None)) == [None] * 5


def test_calls_of_a_grpc_client_are_judged_without_a_replay() -> None:
    """Each call has a judgement; a send that never returned has none."""
    judged = list(called(in_context(0, 1, 1), ClientSettings()))
    assert [one.judgement and one.judgement.send for one in judged] == [0, 1, None]


@pytest.mark.parametrize("how", [{"shared": True}, {"asynchronous": True}])
def test_threads_that_share_state_are_judged_together(how: dict[str, bool]) -> None:
    """Threads with shared state are judged together; each judgement finds its send."""
    judged = list(replayed(in_context(0, 0, 1), cast(ArmRules, rules(**how))))
    assert signatures_of(judged) == ["together", "together", None]
    assert [one.judgement and one.judgement.send for one in judged] == [0, 1, None]


def found_so(signature: str, *further: str, attempt: int | None = 0) -> SendJudgement:
    detail: dict[str, object] = {"waited_ms": 900}
    each = [RuleDifference(DifferenceKind.ATTEMPTS, one, attempt, "", "", detail) for one in (signature, *further)]
    return SendJudgement(0, 0, (), each[0], 1, further=tuple(each[1:]))


def left(judgement: SendJudgement | None, *, torn: bool = False, hit: Any = None, late_ms: int = 0) -> str | None:
    """The remaining difference of a send whose second attempt is at broker-b."""
    attempts = tried(0, MS, broker="broker-a"), tried(10 * S, 10 * S + 60 * MS, attempt=1)
    side = made(Arm.CANDIDATE, 0, *attempts)
    view = replace(side, contexts=(FaultContext(Phase.CALM), FaultContext(Phase.CALM, hit)), judgement=judgement)
    kills = [fault(10 * S, None, FaultKind.KILL)] if torn else []
    (one,) = forgiven([view], TornConnections(None, kills, Tearing(True, True)), replace(NO_EXCUSE, late_ms=late_ms))
    assert (one.judgement is None) == (judgement is None)
    return signatures_of([one])[0]


@pytest.mark.parametrize(
    ("judgement", "torn", "kept"),
    [
        (None, True, None),
        (SendJudgement(0, 0, (), None, 1), True, None),
        (found_so("other", attempt=1), True, "other"),
        (found_so(GAVE_UP_BEFORE_TIMEOUT.name, attempt=1), False, GAVE_UP_BEFORE_TIMEOUT.name),
        (found_so(GAVE_UP_BEFORE_TIMEOUT.name, attempt=1), True, None),
        (found_so(GAVE_UP_BEFORE_TIMEOUT.name, attempt=0), True, GAVE_UP_BEFORE_TIMEOUT.name),
        (found_so(GAVE_UP_BEFORE_TIMEOUT.name, attempt=None), True, GAVE_UP_BEFORE_TIMEOUT.name),
        (found_so(GAVE_UP_BEFORE_TIMEOUT.name, GAVE_UP_BEFORE_TIMEOUT.name, "other", "last", attempt=1), True, "other"),
        (found_so("other", GAVE_UP_BEFORE_TIMEOUT.name, attempt=1), True, "other"),
    ],
)
def test_differences_that_a_torn_connection_forgives(
    judgement: SendJudgement | None, torn: bool, kept: str | None
) -> None:
    """A torn connection excuses the early end of its own attempt; the next difference remains."""
    assert left(judgement, torn=torn) == kept


@pytest.mark.parametrize(
    ("hit", "torn", "kept"),
    [
        (None, False, None),
        (PAUSE, False, WAITED_FOR_AN_ANSWER.name),
        (fault(10 * S, 12 * S, FaultKind.WIRE_DELAY), False, WAITED_FOR_AN_ANSWER.name),
        (fault(10 * S, 12 * S, FaultKind.WIRE_SWALLOW), False, WAITED_FOR_AN_ANSWER.name),
        (fault(10 * S, 12 * S, FaultKind.KILL), False, None),
        (fault(10 * S, 12 * S, FaultKind.FLOW_CONTROL), False, None),
        (PAUSE, True, None),
    ],
)
def test_a_call_may_wait_where_its_broker_was_well_or_cut_off(hit: Any, torn: bool, kept: str | None) -> None:
    """A long wait is excused unless a fault held back answers on an open connection; none met the first attempt."""
    assert left(found_so(WAITED_FOR_AN_ANSWER.name, attempt=1), torn=torn, hit=hit) == kept
    assert left(found_so(WAITED_FOR_AN_ANSWER.name, attempt=None), torn=torn, hit=hit) is None


@pytest.mark.parametrize(("late_ms", "kept"), [(299, WAITED_FOR_AN_ANSWER.name), (300, None)])
def test_a_machine_that_delayed_the_other_arm_excuses_a_wait(late_ms: int, kept: str | None) -> None:
    """A one-way call of 900 ms is excused by a send of 300 ms that the other arm made in calm."""
    assert left(found_so(WAITED_FOR_AN_ANSWER.name, attempt=1), hit=PAUSE, late_ms=late_ms) == kept


@pytest.mark.parametrize(("took_ms", "kept"), [(750, None), (751, OUTLASTED_TIMEOUT.name)])
def test_half_as_long_again_is_a_busy_machines_doing(took_ms: int, kept: str | None) -> None:
    """With a timeout of 500 ms an attempt may take 750 ms on a busy machine."""
    detail: dict[str, object] = {"took_ms": took_ms, "timeout_ms": [400, 500], "may_connect": False}
    found = RuleDifference(DifferenceKind.ATTEMPTS, OUTLASTED_TIMEOUT.name, 1, "", "", detail)
    assert left(SendJudgement(0, 0, (), found, 1)) == kept
