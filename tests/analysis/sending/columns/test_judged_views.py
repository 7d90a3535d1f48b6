"""How the replay is led past calm views, on literal columns and a replay that only notes what it is asked."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rocketdiff.analysis.sending.columns.arm_columns import WordDictionary
from rocketdiff.analysis.sending.columns.judged_views import JudgedViews
from tests.analysis.synthetic import MS

BROKERS = WordDictionary()
for _name in "abc":
    BROKERS.code(_name)


class Noting:
    """A replay that notes how it is led."""

    def __init__(self, *, remembers_calls: bool) -> None:
        self.remembers_calls = remembers_calls
        self.calls: list[tuple[object, ...]] = []

    def pass_over(self, thread: int, calls: int) -> None:
        self.calls.append(("over", thread, calls))

    def pass_to(self, thread: int, position: int, brokers: list[str]) -> None:
        self.calls.append(("to", thread, position, brokers))

    def judge(self, row: int) -> None:
        self.calls.append(("judge", row))


def views(words: str, *, at: int, every_ms: float = 10, on: bool = True, remembers: bool = True) -> Any:
    """Views of calls of 1 ms, one broker each; the replay stands behind view ``at``, and three views are made already."""
    made: Any = JudgedViews.__new__(JudgedViews)
    count = len(words)
    start_ns = (np.arange(count) * every_ms * MS).astype(np.int64)
    made._columns = SimpleNamespace(
        broker=np.array([BROKERS.code(word) for word in words]), start_ns=start_ns, end_ns=start_ns + MS
    )
    made._turns = SimpleNamespace(position=np.arange(count) * 10)
    made._replay, made._at = Noting(remembers_calls=remembers), at
    made._is_latency_on, made._brokers = on, BROKERS
    made._near = {view: SimpleNamespace(row=view) for view in range(3)}
    made._ahead = {view: SimpleNamespace(row=view) for view in range(3, count)}
    return made


@pytest.mark.parametrize(
    ("words", "at", "view", "every_ms", "shown"),
    [
        ("aababa", 0, 5, 10, [3, 4]),
        ("aababa", 0, 5, 1, [1, 2, 3, 4]),
        ("aababa", 0, 5, 2, [3, 4]),
        ("aababa", 0, 5, 1.9, [1, 2, 3, 4]),
        ("acabab", 0, 5, 10, [1, 2, 3, 4]),
        ("acabab", 1, 5, 10, [3, 4]),
        ("aaaaaa", 2, 6, 10, [5]),
        ("aaaaaa", 4, 6, 10, [5]),
    ],
)
def test_calm_views_that_a_table_of_times_remembers(
    words: str, at: int, view: int, every_ms: float, shown: list[int]
) -> None:
    """The last at each broker; all of them if the first is such, or begins less than 5 ms after what was judged last."""
    assert views(words, at=at, every_ms=every_ms)._shown(view) == shown


@pytest.mark.parametrize(
    ("view", "given", "calls"),
    [
        (1, {}, []),
        (2, {"on": False}, [("over", 7, 1)]),
        (5, {"on": False}, [("over", 7, 4)]),
        (5, {"remembers": False}, [("to", 7, 40, ["a", "b"])]),
        (2, {"remembers": False}, [("to", 7, 10, ["a"])]),
        (5, {}, [("over", 7, 2), ("judge", 3), ("over", 7, 0), ("judge", 4), ("over", 7, 0)]),
        (2, {}, [("over", 7, 0), ("judge", 1), ("over", 7, 0)]),
    ],
)
def test_a_replay_is_led_past_calm_calls(view: int, given: dict[str, Any], calls: list[tuple[object, ...]]) -> None:
    """Counted; to the last position where a table only extends avoidances; else the remembered ones are judged."""
    made = views("aababa", at=0, **given)
    made._catch_up(7, view)
    assert made._replay.calls == calls
