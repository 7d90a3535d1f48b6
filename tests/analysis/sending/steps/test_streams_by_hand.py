"""The steps as streams, on literal sends: context, judgement, copies."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketdiff.analysis.sending.send_view import Copy, Fate, FaultContext, Phase, SendView
from rocketdiff.analysis.sending.steps.attempts_in_context import FaultTimes, attempts_in_context
from rocketdiff.analysis.sending.steps.excuses import Excuses, HeldConnections
from rocketdiff.analysis.sending.steps.reconciled import StoredCopies, reconciled
from rocketdiff.analysis.sending.steps.replayed import forgiven, replayed
from rocketdiff.analysis.sending.steps.rulebook import ArmRules
from rocketdiff.analysis.sending.steps.torn_connections import TornConnections
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Send
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.signatures import GAVE_UP_BEFORE_TIMEOUT, OUTLASTED_TIMEOUT, WAITED_FOR_AN_ANSWER
from rocketdiff.oracle.producer.durations import Tearing
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference, SendJudgement
from tests.analysis.builders import MS, S, fault, made, tried

PAUSE = fault(10 * S, 12 * S)
NO_EXCUSE = Excuses(HeldConnections(None, ()))


@pytest.mark.parametrize(
    ("row", "attempts", "phase"),
    [
        ({"start_ns": 11 * S}, (), Phase.PAUSED),
        ({"start_ns": 13 * S}, (), Phase.AFTER),
        ({"start_ns": 9 * S}, (tried(11 * S, 12 * S),), Phase.PAUSED),
        (None, (), Phase.CALM),
        (None, (tried(11 * S, 12 * S),), Phase.PAUSED),
    ],
)
def test_the_phase_of_a_send(row: dict[str, Any] | None, attempts: tuple[Any, ...], phase: Phase) -> None:
    """A send has the phase of its first attempt, or of its start if it returned without one."""
    whole = None if row is None else made(Arm.CANDIDATE, 0, *attempts, **row).row
    (one,) = attempts_in_context([SendView(Arm.CANDIDATE, 0, 0, whole, attempts)], FaultTimes([PAUSE]))
    assert (one.phase, len(one.contexts)) == (phase, len(attempts))


def test_pauses_are_one_spell_from_one_to_the_next() -> None:
    """Overlapping pauses are one outage with the lowest episode; a pause that begins at its end is the next."""
    pauses = [
        fault(20 * S, 22 * S, episode=4),
        fault(10 * S, 12 * S, episode=2),
        fault(11 * S, 15 * S, node="broker-a", episode=3),
        fault(14 * S, 20 * S, episode=1),
    ]
    spells = FaultTimes(pauses).outages
    assert [(one.episode, one.start_ns, one.end_ns, len(one.pauses)) for one in spells] == [
        (1, 10 * S, 20 * S, 3),
        (4, 20 * S, 22 * S, 1),
    ]


def test_a_pause_without_an_end_takes_all_that_follow() -> None:
    """A pause without an end takes in all later pauses; a kill belongs to no outage."""
    kill = fault(11 * S, None, FaultKind.KILL)
    times = FaultTimes([fault(10 * S, None), fault(50 * S, 52 * S, episode=2), kill])
    (spell,) = times.outages
    assert (spell.end_ns, len(spell.pauses)) == (None, 2)
    assert times.outage_of(kill) is None


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


@pytest.mark.parametrize("how", [{"shared": True}, {"asynchronous": True}])
def test_threads_that_share_state_are_judged_together(how: dict[str, bool]) -> None:
    """Threads with shared state are judged together; each judgement finds its send."""
    judged = list(replayed(in_context(0, 0, 1), cast(ArmRules, rules(**how))))
    assert signatures_of(judged) == ["together", "together", None]
    assert [one.judgement and one.judgement.send for one in judged] == [0, 1, None]


def found_so(signature: str, *further: str, attempt: int | None = 0) -> SendJudgement:
    each = [RuleDifference(DifferenceKind.ATTEMPTS, one, attempt, "500 ms", "60 ms") for one in (signature, *further)]
    return SendJudgement(0, 0, (), each[0], 1, further=tuple(each[1:]))


def left(judgement: SendJudgement | None, *, torn: bool = False, hit: Any = None) -> str | None:
    """The remaining difference of a send whose second attempt is at broker-b."""
    attempts = tried(0, MS, broker="broker-a"), tried(10 * S, 10 * S + 60 * MS, attempt=1)
    side = made(Arm.CANDIDATE, 0, *attempts)
    view = replace(side, contexts=(FaultContext(Phase.CALM), FaultContext(Phase.CALM, hit)), judgement=judgement)
    kills = [fault(10 * S, None, FaultKind.KILL)] if torn else []
    (one,) = forgiven([view], TornConnections(None, kills, Tearing(True, True)), NO_EXCUSE)
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
    """A long wait is excused unless a fault held back answers on an open connection."""
    assert left(found_so(WAITED_FOR_AN_ANSWER.name, attempt=1), torn=torn, hit=hit) == kept


@pytest.mark.parametrize(("took_ms", "kept"), [(1_500, None), (1_501, OUTLASTED_TIMEOUT.name)])
def test_a_second_too_long_is_a_busy_machines_doing(took_ms: int, kept: str | None) -> None:
    """With a timeout of 500 ms an attempt may take 1 s longer on a busy machine."""
    detail: dict[str, object] = {"took_ms": took_ms, "timeout_ms": [400, 500], "may_connect": False}
    found = RuleDifference(DifferenceKind.ATTEMPTS, OUTLASTED_TIMEOUT.name, 1, "", "", detail)
    assert left(SendJudgement(0, 0, (), found, 1)) == kept


def stored(**copies: list[Copy]) -> StoredCopies:
    return cast(StoredCopies, SimpleNamespace(of=lambda send: tuple(copies.get(f"send{send}", ()))))


HERE = Copy("broker-a", 0, 7, 0, True)


@pytest.mark.parametrize(
    ("side", "copies", "kept", "fate"),
    [
        (made(Arm.CANDIDATE, 0, tried(0, 1)), [HERE], [], Fate.STORED),
        (made(Arm.CANDIDATE, 0, tried(0, 1)), [], [HERE], Fate.STORED),
        (made(Arm.CANDIDATE, 0, tried(0, 1)), [], [], Fate.LOST),
        (made(Arm.CANDIDATE, 0, tried(0, 1, "RemotingTimeoutException")), [HERE], [], Fate.GHOST),
        (made(Arm.CANDIDATE, 0, tried(0, 1, "RemotingConnectException")), [], [], Fate.ABSENT),
        (made(Arm.CANDIDATE, 0, tried(0, 1, "MQBrokerException")), [], [HERE], Fate.GHOST),
    ],
)
def test_stored_copies_make_the_fate(side: SendView, copies: list[Copy], kept: list[Copy], fate: Fate) -> None:
    """Copies in the topic or held back decide the fate; without reading back there is none."""
    (one,) = reconciled([replace(side, copies=None, fate=None)], stored(send0=copies), stored(send0=kept))
    assert (one.copies, one.kept, one.fate) == (tuple(copies), tuple(kept), fate)
    (one,) = reconciled([replace(side, copies=None, fate=None)], stored(send0=copies))
    assert (one.copies, one.kept) == (tuple(copies), ())
    (one,) = reconciled([replace(side, copies=None, fate=None)], None, stored(send0=kept))
    assert (one.copies, one.kept, one.fate) == (None, (), None)


def test_a_call_that_never_returned_cannot_be_lost() -> None:
    """A send that never returned is a ghost, not lost."""
    contexts = (FaultContext(Phase.PAUSED), FaultContext(Phase.AFTER))
    attempts = (tried(5, 6), tried(7, 8, attempt=1))
    traced = SendView(Arm.CANDIDATE, 3, 4, None, attempts, contexts=contexts)
    (one,) = reconciled([traced], stored(send4=[HERE]))
    assert (one.fate, one.began_ns, one.arm, one.thread, one.send) == (Fate.GHOST, 5, Arm.CANDIDATE, 3, 4)
    assert [one.phase_of(n) for n in (None, 0, 1, 2)] == [Phase.CALM, Phase.PAUSED, Phase.AFTER, Phase.CALM]
    assert made(Arm.CANDIDATE, 0, tried(5, 6), start_ns=1).began_ns == 1
