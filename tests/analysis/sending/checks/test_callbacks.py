"""The check ``callbacks`` on manually built sends and counts."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.sending.checks.by_rules import callbacks
from rocketdiff.analysis.sending.checks.by_rules.callbacks import Callbacks
from rocketdiff.core.records.sending import NEVER_CALLED_BACK
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.signatures import CALLED_MORE_THAN_ONCE, NEVER_CALLED
from rocketdiff.oracle.producer.asynchronous.habits import NO_HABITS, AsyncHabits
from rocketmq_reference.dialects import dialect_of
from tests.analysis.builders import ENTRY, S, fault, made, signatures, tried
from tests.analysis.sending.checks.builders import (
    CANDIDATE,
    OPEN,
    PASSES,
    SLOW,
    Ended,
    Tallies,
    end_of,
    examples,
    facts_alone,
    sound_case,
)

TOO_LATE = "RemotingTooMuchRequestException"
LATE = {"error": "MQClientException", "cause": TOO_LATE}
TWO_OF_FAILED = AsyncHabits(loses_callbacks=False, most_callbacks=2)


@pytest.mark.parametrize(
    ("row", "habits", "key", "noted"),
    [
        ({"callbacks": 0}, NO_HABITS, "never", [NEVER_CALLED.name]),
        ({"callbacks": 1}, NO_HABITS, "once", []),
        ({"callbacks": 2}, NO_HABITS, "more", [CALLED_MORE_THAN_ONCE.name]),
        ({}, NO_HABITS, None, []),
        ({"callbacks": 2, **LATE}, TWO_OF_FAILED, "more", []),
        ({"callbacks": 2}, TWO_OF_FAILED, "more", [CALLED_MORE_THAN_ONCE.name]),
        ({"callbacks": 2, **LATE, "cause": "CompletionException"}, TWO_OF_FAILED, "more", [CALLED_MORE_THAN_ONCE.name]),
        ({"callbacks": 3, **LATE}, TWO_OF_FAILED, "more", [CALLED_MORE_THAN_ONCE.name]),
        ({"callbacks": 0, "error": NEVER_CALLED_BACK}, NO_HABITS, "never", [NEVER_CALLED.name]),
        ({"callbacks": 1, "error": NEVER_CALLED_BACK}, NO_HABITS, "never", [NEVER_CALLED.name]),
        ({"callbacks": 3, "error": NEVER_CALLED_BACK}, NO_HABITS, "never", [NEVER_CALLED.name]),
    ],
)
def test_a_callback_is_called_once(row: dict[str, Any], habits: AsyncHabits, key: str | None, noted: list[str]) -> None:
    """
    A callback that is never called in time, or twice, diverges.

    5.3.0 to 5.3.3 may call a send back twice if it failed because its connection came too late.
    """
    facts = facts_alone(Callbacks, made(CANDIDATE, 0, tried(0, 1), mode=SendMode.ASYNC, **row), habits=habits)
    assert signatures(facts) == [f"{signature} 1" for signature in noted]
    assert facts.keys("callbacks", "candidate") == (() if key is None else (key,))


@pytest.mark.parametrize(
    ("row", "observed"),
    [
        ({"callbacks": 2}, "the callback was called 2 times"),
        ({"callbacks": 0, "error": NEVER_CALLED_BACK}, "the callback was not called within the limit"),
        (
            {"callbacks": 3, "error": NEVER_CALLED_BACK},
            "the callback was not called within the limit, and 3 times after it",
        ),
    ],
)
def test_the_number_of_calls_is_in_the_example(row: dict[str, Any], observed: str) -> None:
    """Calls after the limit are told, too."""
    facts = facts_alone(Callbacks, made(CANDIDATE, 0, tried(0, 1), mode=SendMode.ASYNC, **row))
    assert list(examples(facts).values()) == [("one call of the callback", observed)]


@pytest.mark.parametrize(
    ("release", "retries", "most"),
    [("5.1.4", 2, 1), ("5.3.0", 0, 2), ("5.3.0", 2, 3), ("5.3.0", 3, 3), ("5.3.2", 2, 2), ("5.4.0", 2, 1)],
)
def test_how_often_a_release_calls_back(release: str, retries: int, most: int) -> None:
    """Each connection that comes too late adds a callback; in 5.3.0 and 5.3.1 a retry can be late too."""
    assert AsyncHabits.of(dialect_of(release), retries).most_callbacks == most


PAUSE = fault(100 * S, 104 * S, node="broker-a")
PATIENT = replace(ENTRY, settings=ClientSettings(send_msg_timeout_ms=1_000, retry_times_when_send_async_failed=2))


def lost(habits: AsyncHabits, start_s: float, broker: str, **row: Any) -> list[str]:
    """Signatures of a send of 60 s without a callback; broker-a is paused from second 100 to 104."""
    start_ns = round(start_s * S)
    side = made(
        CANDIDATE,
        0,
        tried(start_ns, start_ns + 60 * S, broker=broker),
        mode=SendMode.ASYNC,
        **{"callbacks": 0, "error": NEVER_CALLED_BACK, **row},
    )
    facts = facts_alone(Callbacks, side, faults=(PAUSE,), habits=habits, entry=PATIENT)
    assert facts.n(callbacks.EXCUSED, "never", arm=CANDIDATE) == (not facts.divergences)
    return signatures(facts)


@pytest.mark.parametrize(
    ("start_s", "is_noted"), [(10, True), (99.9, False), (102, False), (110, False), (117, True), (200, True)]
)
def test_callbacks_are_lost_to_confusion_near_a_fault_only(start_s: float, is_noted: bool) -> None:
    """A lost callback is excused only under a fault and as long after it as a send lasts."""
    habits = AsyncHabits(loses_callbacks=False, confuses_answers=True)
    assert lost(habits, start_s, "broker-b") == [f"{NEVER_CALLED.name} 1"] * is_noted


@pytest.mark.parametrize(
    ("kind", "broker", "start_s", "is_noted"),
    [
        (SendKind.QUEUE, "broker-a", 102, False),
        (SendKind.SELECTOR, "broker-a", 102, False),
        (SendKind.PLAIN, "broker-a", 102, True),
        (SendKind.QUEUE, "broker-b", 102, True),
        (SendKind.QUEUE, "broker-a", 10, True),
    ],
)
def test_4_0_0_loses_callbacks_of_failed_attempts(kind: SendKind, broker: str, start_s: float, is_noted: bool) -> None:
    """4.0.0 may lose callbacks of given queues, but only if their broker had a fault; later releases lose none."""
    habits = AsyncHabits(loses_callbacks=True)
    assert lost(habits, start_s, broker, kind=kind) == [f"{NEVER_CALLED.name} 1"] * is_noted
    assert lost(AsyncHabits(loses_callbacks=False), start_s, broker, kind=kind) == [f"{NEVER_CALLED.name} 1"]


def test_4_0_0_may_lose_the_callback_if_one_of_two_attempts_met_a_fault() -> None:
    """A given queue whose broker was paused between the first attempt and the second."""
    earlier, later = (
        tried(at_s * S, (at_s + 3) * S, SLOW, broker="broker-a", attempt=n) for n, at_s in enumerate((90, 101))
    )
    given: dict[str, Any] = {"mode": SendMode.ASYNC, "kind": SendKind.QUEUE, "callbacks": 0, "error": NEVER_CALLED_BACK}
    facts = facts_alone(
        Callbacks,
        made(CANDIDATE, 0, earlier, later, **given),
        faults=(PAUSE,),
        habits=AsyncHabits(loses_callbacks=True),
        entry=PATIENT,
    )
    assert signatures(facts) == []


@pytest.mark.parametrize(
    ("ours", "theirs", "end"),
    [(0, 5, PASSES), (0, 6, OPEN), (3, 6, PASSES), (3, 7, OPEN), (10, 20, PASSES), (10, 21, OPEN)],
)
def test_one_callback_in_twenty_may_be_lost_by_rule(ours: int, theirs: int, end: Ended) -> None:
    """Five of 100 callbacks, or twice the baseline's share of its 200, may be lost by rule."""
    tallies: Tallies = {}
    for arm, count, sent in (("baseline", 2 * ours, 200), ("candidate", theirs, 100)):
        tallies[callbacks.NAME, arm, "paused", "once"] = (sent - count, 0.0)
        tallies[callbacks.NAME, arm, "paused", "never"] = (count, 0.0)
        tallies[callbacks.EXCUSED, arm, "paused", "never"] = (count, 0.0)
    evidence = callbacks.evaluate(sound_case(tallies))
    assert end_of(evidence) == end
    by_rule = f"{theirs} of 100 callbacks of python:5.3.3 may or may not be lost by rule"
    assert evidence.reason == (by_rule if end == OPEN else "")
    shown = {measure.name: measure.value for measure in evidence.measures}
    assert shown.get("never-called-back-by-rule candidate", 0) == theirs
