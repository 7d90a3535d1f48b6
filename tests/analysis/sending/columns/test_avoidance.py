"""Which queues quick calls take while brokers are avoided, from lists and times by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rocketdiff.analysis.sending.columns.arm_columns import WordDictionary, place_of
from rocketdiff.analysis.sending.columns.avoidance import explained_views
from rocketdiff.analysis.sending.columns.choices import Choices
from rocketdiff.oracle.producer.states.stationary import NEVER_MS, Stationary
from rocketmq_reference.rules.client.publish import Queue
from tests.analysis.synthetic import MS

LIST = "a0 a1 b0 b1 c0 c1"
FREE_B, FREE_C = {"b": (20, 22)}, {"b": (90, 90), "c": (90, 90)}
ALL = {"a": (90, 90), "b": (90, 90), "c": (90, 90)}
FOREVER = {"b": (NEVER_MS, NEVER_MS)}


def explained(
    calls: str, tick: int, avoided_ms: Any, *, per_queue: bool = True, unreachable: bool = False
) -> list[int]:
    """Brokers avoided at each explained call; calls: ``19.5 a0`` chose a0 between 19.4 and 19.5 ms."""
    brokers = WordDictionary()
    words = [call.split() for call in f"0.5 a1 | {calls}".split(" | ")]
    tried_ns = np.array([int(float(at) * MS) for at, _ in words], dtype=np.int64)
    codes = np.array([brokers.code(name[0]) for _, name in words], dtype=np.int64)
    places = place_of(codes, np.array([int(name[1]) for _, name in words], dtype=np.int64))
    queues = tuple(Queue(name[0], int(name[1])) for name in LIST.split())
    belief = Stationary(queues, tick, per_queue, avoided_ms, unreachable)
    columns: Any = SimpleNamespace(start_ns=tried_ns - 100_000, tried_ns=tried_ns, place=places)
    return list(explained_views(belief, columns, brokers, 1, len(words)).tolist())


@pytest.mark.parametrize(
    ("calls", "tick", "avoided_ms", "found"),
    [
        ("1.5 b0 | 2.5 b1 | 3.5 c0 | 4.5 c1 | 5.5 a0", 1, {}, [0, 0, 0, 0, 0]),
        ("1.5 c0 | 2.5 c1 | 3.5 a0", 1, FREE_B, [1, 1, 1]),
        ("1.5 c0 | 2.5 a0", 1, FREE_B, [1]),
        ("1.5 a0 | 2.5 a1 | 3.5 a0", 1, FREE_C, [2, 2, 2]),
        ("18.9 c0", 1, FREE_B, [1]),
        ("19.5 c0", 1, FREE_B, []),
        ("20.5 c0", 1, FREE_B, []),
        ("21.9 b0", 1, FREE_B, []),
        ("22.05 b0", 1, FREE_B, []),
        ("22.5 b0", 1, FREE_B, [0]),
        ("1.5 b0 | 2.5 b1", 1, ALL, [3, 3]),
        ("9000.5 c0", 1, FOREVER, [1]),
        ("1.5 c0 | 2.5 c1", 3, {}, [0, 0]),
        ("0.9 b0", 1, {}, [0]),
        (
            " | ".join(f"{number}.5 {['b0', 'b1', 'c0', 'c1', 'a0', 'a1'][number % 6]}" for number in range(400)),
            1,
            {},
            [0] * 400,
        ),
        (
            " | ".join(
                f"{number}.5 {['b0', 'b1', 'b1' if number < 6 else 'c0', 'c1', 'a0', 'a1'][number % 6]}"
                for number in range(100)
            ),
            1,
            {},
            [0, 0],
        ),
    ],
)
def test_a_counter_that_stops_at_queues(calls: str, tick: int, avoided_ms: Any, found: list[int]) -> None:
    """Queues of avoided brokers are passed; a clock that reads a ms more may show 20, and b is certainly back from 22 on."""
    assert explained(calls, tick, avoided_ms) == found


@pytest.mark.parametrize(
    ("calls", "tick", "avoided_ms", "found"),
    [
        ("1.5 c0 | 2.5 c0 | 3.5 c0 | 4.5 c1 | 5.5 a0", 1, FREE_B, [1, 1, 1, 1, 1]),
        ("1.5 c0 | 2.5 c1", 1, FREE_B, [1]),
        ("1.5 b0", 1, ALL, []),
    ],
)
def test_a_counter_that_moves_by_one(calls: str, tick: int, avoided_ms: Any, found: list[int]) -> None:
    """The walk begins one further at each call, so c0 follows b0 and b1; with all avoided it falls back."""
    assert explained(calls, tick, avoided_ms, per_queue=False) == found


def test_nothing_is_explained_if_the_only_brokers_may_be_unreachable() -> None:
    """With all avoided the reachable ones are taken, of which calls tell more; with one available it has no effect."""
    assert explained("1.5 b0", 1, ALL, unreachable=True) == []
    assert explained("1.5 c0", 1, FREE_B, unreachable=True) == [1]


def test_choices_that_follow_each_other() -> None:
    """
    Of a thread's choices the one after a retry keeps no turn, nor does the retry, nor the first, nor one of another list.

    Nor does one that passes a queue, nor one after a queue that is not in the list.
    """
    views = np.arange(11)
    is_retry = views == 2
    choices = Choices(views, np.zeros(11, dtype=np.int64), views, is_retry, views > 0)
    position, route = np.array([0, 1, 2, 3, 4, 5, 6, 0, 1, -1, 0]), np.array([1] * 5 + [2] * 6)
    keeps = choices.keeping(np.ones(11, dtype=np.bool_), position, np.where(position < 0, 0, 8), route)
    assert np.flatnonzero(keeps).tolist() == [1, 4, 6, 8]
