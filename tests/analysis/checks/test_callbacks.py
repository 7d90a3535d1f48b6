"""The check ``callbacks`` on a manually built send."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.sending.by_rules.callbacks import EXCUSED, Callbacks, evaluate
from rocketdiff.analysis.checks.sending.by_rules.queue_choice import QueueChoice
from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import NEVER_CALLED_BACK, Attempt, Send
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.signatures import CALLED_MORE_THAN_ONCE, NEVER_CALLED, QUEUE_OR_OFFSET_WRONG
from rocketdiff.oracle.producer.asynchronous.habits import AsyncHabits
from rocketdiff.traces.manifest import CaseEntry, CaseStatus
from rocketmq_reference.dialects import dialect_of
from tests.analysis.by_hand import facts_of, made, pair, tried
from tests.analysis.checks.test_mode_checks import ROW, alone, copy, seen, side

TOO_LATE = "RemotingTooMuchRequestException"
S = 1_000_000_000


@pytest.mark.parametrize(("times", "noted"), [(0, [NEVER_CALLED.name]), (1, []), (2, [CALLED_MORE_THAN_ONCE.name])])
def test_a_callback_is_called_once(times: int, noted: list[str]) -> None:
    """A callback that is never called, or twice, diverges."""
    row = replace(ROW, mode=SendMode.ASYNC, callbacks=times)
    assert seen(Callbacks, alone(side(Arm.CANDIDATE, row))) == noted


def test_a_release_may_call_a_failed_send_back_twice() -> None:
    """5.3.0 to 5.3.3 may call back a failed send twice, but no successful one."""
    habits = AsyncHabits(loses_callbacks=False, most_callbacks=2)
    failed = replace(ROW, mode=SendMode.ASYNC, callbacks=2, error="MQClientException", cause=TOO_LATE)
    stored = replace(ROW, mode=SendMode.ASYNC, callbacks=2)
    assert seen(Callbacks, alone(side(Arm.CANDIDATE, failed)), habits=habits) == []
    assert seen(Callbacks, alone(side(Arm.CANDIDATE, stored)), habits=habits) == [CALLED_MORE_THAN_ONCE.name]


def test_a_connection_that_came_in_time_excuses_no_second_callback() -> None:
    """A second callback needs a connection that came too late; a third always diverges."""
    habits = AsyncHabits(loses_callbacks=False, most_callbacks=2)
    late = replace(ROW, mode=SendMode.ASYNC, callbacks=2, error="MQClientException", cause=TOO_LATE)
    for row in (replace(late, cause="CompletionException"), replace(late, callbacks=3)):
        assert seen(Callbacks, alone(side(Arm.CANDIDATE, row)), habits=habits) == [CALLED_MORE_THAN_ONCE.name]


@pytest.mark.parametrize(
    ("release", "retries", "most"),
    [("5.1.4", 2, 1), ("5.3.0", 0, 2), ("5.3.0", 2, 3), ("5.3.0", 3, 3), ("5.3.2", 2, 2), ("5.4.0", 2, 1)],
)
def test_how_often_a_release_calls_back(release: str, retries: int, most: int) -> None:
    """Each connection that comes too late adds a callback; in 5.3.0 and 5.3.1 a retry can be late too."""
    assert AsyncHabits.of(dialect_of(release), retries).most_callbacks == most


@pytest.mark.parametrize("times", [0, 1, 2])
def test_a_callback_after_the_limit_is_none(times: int) -> None:
    """A callback after the time limit counts as never called."""
    row = replace(ROW, mode=SendMode.ASYNC, callbacks=times, error=NEVER_CALLED_BACK)
    assert seen(Callbacks, alone(side(Arm.CANDIDATE, row))) == [NEVER_CALLED.name]


PAUSE = FaultRecord(1, FaultKind.PAUSE, "broker-a", 100 * S, 100 * S, None, 104 * S, 104 * S, None)


def unheard(make: Any, habits: AsyncHabits, row: Send, start_s: float, broker: str = "broker-a") -> list[str]:
    """Signatures of a send; broker-a is paused from second 100 to 104."""
    start_ns, end_ns = int(start_s * S), int(start_s * S) + 60 * S
    row = replace(row, mode=SendMode.ASYNC, start_ns=start_ns, end_ns=end_ns)
    attempt = Attempt(0, 0, 0, broker, 0, start_ns, end_ns)
    settings = ClientSettings(send_msg_timeout_ms=1_000, retry_times_when_send_async_failed=2)
    entry = cast(CaseEntry, SimpleNamespace(settings=settings))
    one = side(Arm.CANDIDATE, row, copy(Arm.CANDIDATE, 7))
    one = replace(one, attempts=(attempt,))
    return seen(make, alone(one), entry=entry, faults=(PAUSE,), habits=habits)


@pytest.mark.parametrize(
    ("start_s", "noted"),
    [
        (10, [NEVER_CALLED.name]),
        (99.9, []),
        (102, []),
        (110, []),
        (117, [NEVER_CALLED.name]),
        (200, [NEVER_CALLED.name]),
    ],
)
def test_callbacks_are_lost_to_confusion_near_a_fault_only(start_s: float, noted: list[str]) -> None:
    """A lost callback is excused only under a fault and as long after it as a send lasts."""
    habits = AsyncHabits(loses_callbacks=False, confuses_answers=True)
    given_up = replace(ROW, callbacks=0, error=NEVER_CALLED_BACK)
    assert unheard(Callbacks, habits, given_up, start_s, "broker-b") == noted


@pytest.mark.parametrize(
    ("kind", "broker", "start_s", "noted"),
    [
        (SendKind.QUEUE, "broker-a", 102, []),
        (SendKind.SELECTOR, "broker-a", 102, []),
        (SendKind.PLAIN, "broker-a", 102, [NEVER_CALLED.name]),
        (SendKind.QUEUE, "broker-b", 102, [NEVER_CALLED.name]),
        (SendKind.QUEUE, "broker-a", 10, [NEVER_CALLED.name]),
    ],
)
def test_4_0_0_loses_callbacks_of_failed_attempts(
    kind: SendKind, broker: str, start_s: float, noted: list[str]
) -> None:
    """4.0.0 may lose callbacks of given queues, but only if their broker had a fault."""
    habits = AsyncHabits(loses_callbacks=True)
    given_up = replace(ROW, kind=kind, callbacks=0, error=NEVER_CALLED_BACK)
    assert unheard(Callbacks, habits, given_up, start_s, broker) == noted


@pytest.mark.parametrize(("start_s", "noted"), [(102, []), (10, [QUEUE_OR_OFFSET_WRONG.name])])
def test_answers_are_confused_near_a_fault_only(start_s: float, noted: list[str]) -> None:
    """In calm a result must name its own message's place."""
    habits = AsyncHabits(loses_callbacks=False, confuses_answers=True)
    assert unheard(QueueChoice, habits, ROW, start_s) == noted


@pytest.mark.parametrize(
    ("ours", "theirs", "standing"),
    [(0, 0, Standing.DECISIVE), (0, 4, Standing.DECISIVE), (0, 6, Standing.INDECISIVE), (10, 19, Standing.DECISIVE)],
)
def test_many_excused_callbacks_clear_nobody(ours: int, theirs: int, standing: Standing) -> None:
    """Over one excused callback in twenty, and over twice the baseline's share, is indecisive."""
    tallies = {}
    for arm, lost in ((Arm.BASELINE, ours), (Arm.CANDIDATE, theirs)):
        tallies["callbacks", str(arm), "paused", "once"] = (100 - lost, 0.0)
        tallies["callbacks", str(arm), "paused", "never"] = (lost, 0.0)
        tallies[EXCUSED, str(arm), "paused", "never"] = (lost, 0.0)
    entry = cast(CaseEntry, SimpleNamespace(name="toy", guards=(), breaches=(), status=CaseStatus.COMPLETE))
    subjects = {Arm.BASELINE: "java:4.6.1", Arm.CANDIDATE: "java:4.6.0"}
    evidence = evaluate(CaseFacts("run", subjects, entry, tallies=tallies))
    assert evidence.standing is standing
    shown = {measure.name: measure.value for measure in evidence.measures}
    assert shown.get("never-called-back-by-rule candidate", 0) == theirs


@pytest.mark.parametrize(
    ("row", "key"),
    [
        ({"callbacks": 1}, "once"),
        ({"callbacks": 2}, "more"),
        ({"callbacks": 0}, "never"),
        ({"callbacks": 3, "error": NEVER_CALLED_BACK}, "never"),
        ({}, None),
    ],
)
def test_sends_are_counted_by_their_callbacks(row: dict[str, Any], key: str | None) -> None:
    """Sends count as called back once, more often or never, unless they have no callback."""
    found = facts_of([pair(None, made(Arm.CANDIDATE, 0, tried(0, 1), mode=SendMode.ASYNC, **row))], Callbacks)
    assert found.keys("callbacks", "candidate") == (() if key is None else (key,))
