"""How the replay is led past calm views, on literal columns and a replay that only notes what it is asked."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rocketdiff.analysis.sending.columns.arm_columns import WordDictionary
from rocketdiff.analysis.sending.columns.choices import Choices
from rocketdiff.analysis.sending.columns.judged_choices import JudgedChoices
from rocketdiff.analysis.sending.columns.judged_views import FEW, JudgedViews
from rocketdiff.analysis.sending.columns.observed import ColumnPass
from rocketdiff.core.arm import Arm
from rocketdiff.oracle.producer.judgement import Decision, SendJudgement
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
        ("aababa", 0, 5, 1.9999999, [1, 2, 3, 4]),
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


def others(words: str, **given: Any) -> Any:
    """Views of which 2 and 5 miss their turn, each as an object that is its own row; lists have 1 to 6 queues."""
    made = views(words, at=0, **given)
    made._rotates, made._thread = True, 7
    made._turns.keeps = np.array([False, True, False, True, True, False])
    made._turns.total = np.array([1, 2, 3, 4, 1, 6])
    made._turns.avoided = np.zeros(6, dtype=np.int64)
    made._out_of_turn = np.array([0, 2, 5, 6])
    made._columns.route = np.arange(6) * 100
    made.of = lambda chosen: [SimpleNamespace(row=view) for view in chosen.tolist()]
    return made


@pytest.mark.parametrize(
    ("views_to_judge", "rotates", "remembers", "near"),
    [
        ([5], True, True, [4]),
        ([2], True, True, [1]),
        ([0, 1, 3, 4], True, True, []),
        ([0, 2, 5], True, True, [1, 4]),
        ([5], False, True, []),
        ([5], True, False, []),
    ],
)
def test_calm_views_made_with_those_after_them(
    views_to_judge: list[int], rotates: bool, remembers: bool, near: list[int]
) -> None:
    """The last at each broker of as many as the list has queues, before each view that misses its turn after one that keeps it."""
    made = others("aababa", remembers=remembers)
    made._rotates = rotates
    found = made._last_before(np.array(views_to_judge))
    assert sorted(found.tolist()) == near


@pytest.mark.parametrize(
    ("view", "on", "rotates", "stands", "lost", "asked"),
    [
        (1, False, True, True, None, []),
        (2, False, True, True, None, [(7, 200, 20)]),
        (2, False, True, False, 3, [(7, 200, 20)]),
        (2, False, False, False, 3, [(7, 200, None)]),
        (2, True, False, True, None, [(7, 200, None)]),
        (4, True, False, False, None, []),
        (3, True, True, None, 4, [(7, 300)]),
        (2, True, True, 1, 4, [(7, 200)]),
        (2, True, True, 2, None, [(7, 200)]),
    ],
)
def test_the_next_view_whose_state_is_unknown(
    monkeypatch: pytest.MonkeyPatch,
    view: int,
    on: bool,
    rotates: bool,
    stands: Any,
    lost: int | None,
    asked: list[tuple[Any, ...]],
) -> None:
    """Where the counter is known, or the state explains all views up to the next that misses its turn, none is left."""
    made, calls = others("aababa", on=on), []
    made._rotates = rotates

    def explained(belief: int, columns: object, brokers: object, first: int, end: int) -> Any:
        assert (columns, brokers, first, end) == (made._columns, BROKERS, view + 1, 5)
        return np.array([8, 9])[:belief]

    def note(*arguments: object) -> Any:
        calls.append(arguments)
        return stands

    monkeypatch.setattr("rocketdiff.analysis.sending.columns.judged_views.explained_views", explained)
    made._replay.stands_at = made._replay.stationary = note
    assert (made._lost_after(view), calls) == (lost, asked)
    count = stands if on and rotates and stands else 0
    assert made._turns.avoided.tolist() == [*[0] * (view + 1), *[8, 9][:count], *[0] * (5 - view - count)]


def test_a_view_that_keeps_its_turn_is_judged_by_it() -> None:
    """One legal queue of the list, and as many brokers avoided as its stretch showed."""
    made = others("aababa")
    made._replay.belief = SimpleNamespace(states=range(3))
    made._turns.avoided[4] = 2
    send: Any = SimpleNamespace(send=40, thread=7)
    assert made._expected(4, send) is send
    assert send.judgement == SendJudgement(40, 7, (Decision(0, 1, 1, 2),), None, 3)


@pytest.mark.parametrize(
    ("differences", "is_forgiven"), [([], False), ([None, None], False), ([None, 5], True), ([5, None], True)]
)
def test_excuses_are_sought_for_differences_alone(
    monkeypatch: pytest.MonkeyPatch, differences: list[Any], is_forgiven: bool
) -> None:
    """They need the connections of the whole arm; a view without a judgement differs in nothing."""
    made = others("aababa")
    vars(made).update(_torn=1, _excuses=2)
    found: Any = {4: SimpleNamespace(judgement=None)}
    found |= {view: SimpleNamespace(judgement=SimpleNamespace(difference=one)) for view, one in enumerate(differences)}

    def forgiven(sends: Iterable[Any], torn: int, excuses: int) -> list[Any]:
        assert (list(sends), torn, excuses) == (list(found.values()), 1, 2)
        return [f"forgiven {view}" for view in found]

    monkeypatch.setattr("rocketdiff.analysis.sending.columns.judged_views.forgiven", forgiven)
    assert made._excused(found) == ({view: f"forgiven {view}" for view in found} if is_forgiven else found)


def test_connections_and_excuses_are_those_of_the_arm() -> None:
    """They are made when they are first needed."""
    made = others("aababa")
    made._rules = SimpleNamespace(
        torn_connections=lambda: "torn", excuses=lambda: "excuses", troubled=lambda: "troubled"
    )
    assert (made._torn, made._excuses, made._troubled) == ("torn", "excuses", "troubled")


def test_many_views_are_made_one_after_another() -> None:
    """Batches of them end with the last view, and the same one is made once."""
    made = others("aababa")
    made._ahead, made._many, made._columns.keys = {}, FEW, np.arange(40)
    assert [made._made(view).row for view in (*range(3, 40), 20, 21)] == [*range(3, 40), 20, 21]
    assert made._made(21) is made._made(21)
    assert max(made._ahead) < 40


def test_each_thread_has_a_replay_of_its_own() -> None:
    """It begins before the first view of the thread; later ones of the thread are led past what lies between."""
    made, noted = others("aababa"), []
    made._rules = SimpleNamespace(fresh=lambda: SimpleNamespace(judge=lambda row: f"fresh {row}"))
    made._catch_up = lambda thread, view: noted.append((thread, made._at, view))
    sends: Any = [
        SimpleNamespace(thread=thread, row=row, judgement=None) for thread, row in ((7, 2), (8, None), (8, 5))
    ]
    found = [made._replayed(view, send).judgement for view, send in zip((2, 3, 5), sends, strict=True)]
    assert (found, noted) == ([None, None, "fresh 5"], [(7, 0, 2), (8, 2, 3), (8, 3, 5)])
    assert made._replay.judge(1) == "fresh 1"


def chosen(known: set[int]) -> tuple[Any, list[Any]]:
    """
    Sends 0 to 5, chosen for by thread 7 (0 to 3) from 100 ms on and by 9 (4, 5, and 4 again) from 10 ms on; 0, 2 and 4 miss their turn.

    known: views after whose choice the counter is known.
    """
    made: Any = JudgedChoices.__new__(JudgedChoices)
    calls: list[Any] = []
    views = np.array([0, 1, 2, 3, 4, 5, 4])
    threads, at_ns = np.array([7] * 4 + [9] * 3), np.array([100, 120, 140, 160, 10, 130, 150])
    choices = Choices(views, threads, at_ns, np.arange(7) == 6, np.arange(7) % 4 > 0)
    made._turns = SimpleNamespace(choices=choices, keeps=np.arange(6) % 2 > 0, position=np.arange(6) * 10)
    made._columns = SimpleNamespace(sends=np.arange(6) + 50, route=np.arange(6) * 100)

    def stands_at(thread: int, route: int, position: int) -> bool:
        view = position // 10
        assert (thread, route) == (9 if view > 3 else 7, view * 100)
        return view in known

    made._replay = SimpleNamespace(
        stands_at=stands_at, pass_over=lambda thread, count: calls.append(("over", thread, count))
    )
    made._troubled = "troubled"
    made.of = lambda some: [SimpleNamespace(row=view, judgement=None) for view in some.tolist()]
    made._made = lambda view: SimpleNamespace(row=view, judgement=None)
    made._excused = lambda found: found
    made.as_expected = lambda some: dict.fromkeys(some.tolist(), "expected")
    return made, calls


@pytest.mark.parametrize(
    ("known", "calls"),
    [
        ({0, 1, 2, 3, 4}, [(9, 10, 4), (7, 100, 0), ("over", 7, 1), (7, 140, 2), ("over", 9, 1), (9, 150, 4, "again")]),
        ({1, 2, 4}, [(9, 10, 4), (7, 100, 0), (7, 120, 1), (7, 140, 2), ("over", 9, 1), (9, 150, 4, "again")]),
        (set(), [(9, 10, 4), (7, 100, 0), (7, 120, 1), (9, 130, 5), (7, 140, 2), (9, 150, 4, "again"), (7, 160, 3)]),
    ],
)
def test_choices_are_judged_in_the_order_of_their_time(
    monkeypatch: pytest.MonkeyPatch, known: set[int], calls: list[Any]
) -> None:
    """Calm ones of a thread are passed over once its counter is known; later only what was not judged at first is expected."""
    made, noted = chosen(known)

    def judge(replay: object, choice: Any, troubled: str) -> str | None:
        assert (replay, troubled) == (made._replay, "troubled")
        noted.append((choice.thread, choice.at_ns, choice.send, *["again"] * choice.is_retry))
        return None if choice.is_retry else f"judged {choice.send}"

    monkeypatch.setattr("rocketdiff.analysis.sending.columns.judged_choices.judge_choice", judge)
    found = made.judged(np.array([0, 3]))
    assert noted == calls
    judged = sorted({call[2] for call in calls if call[0] != "over"})
    assert list(found) == [*judged, *{3} - {*judged}]
    assert [found[view].judgement for view in judged] == [f"judged {view}" for view in judged]
    assert made.judged(np.array([0, 5])) == ({} if 5 in judged else {5: "expected"})
    assert noted == calls


@pytest.mark.parametrize(
    ("is_replayed", "end", "slow", "found", "asked"),
    [
        (True, 7, [1, 3, 4, 5, 6], {"baseline": [1, 3, 4, 5], "candidate": [1, 3, 4, 5, 6]},
         {"baseline": [[1, 3], [], []], "candidate": [[1, 3], [4, 5], []]}),
        (False, 4, [1, 3], {"baseline": [], "candidate": []}, {"baseline": [], "candidate": []}),
    ],
)  # fmt: skip
def test_a_stretch_ends_after_the_last_view_that_was_replayed(
    is_replayed: bool, end: int, slow: list[int], found: dict[str, list[int]], asked: dict[str, list[list[int]]]
) -> None:
    """Sends 0 to 3 of eight: the baseline's replay goes on to 5, the candidate's then to 6, which the baseline never began."""
    further = {Arm.BASELINE: {3: [4, 5]}, Arm.CANDIDATE: {5: [6]}}
    calls: dict[str, list[list[int]]] = {arm: [] for arm in Arm}

    def judging(arm: Arm) -> Any:
        def judged(some: Any) -> dict[int, str]:
            calls[arm].append(some.tolist())
            return {view: "judged" for one in some.tolist() for view in [one, *further[arm].get(one, [])]}

        return SimpleNamespace(judged=judged)

    made: Any = ColumnPass.__new__(ColumnPass)
    keys = np.arange(8)
    views = {Arm.BASELINE: np.where(keys < 6, keys, -1), Arm.CANDIDATE: keys}
    arms = {arm: SimpleNamespace(columns=SimpleNamespace(keys=keys)) for arm in Arm}
    made._case = SimpleNamespace(slow=(keys == 1) | (keys == 3), views=views, arms=arms, keys=keys)
    made._judged, made._is_replayed = {arm: judging(arm) for arm in Arm}, is_replayed
    assert made._found(0, 4) == ({Arm(arm): dict.fromkeys(each, "judged") for arm, each in found.items()}, end)
    assert (np.flatnonzero(made._case.slow).tolist(), calls) == (slow, asked)


def test_observers_see_each_send_at_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a stretch from 2 to 6, sends 3 and 5; an observer with state learns of the calm ones before each."""
    made: Any = ColumnPass.__new__(ColumnPass)
    noted: list[Any] = []
    made._case = SimpleNamespace(slow=np.array([True, False, False, True, False, True, True]))
    made._collector = SimpleNamespace(at=-1)
    made._calm = SimpleNamespace(
        begin=lambda places: noted.append(places.tolist()), go_to=lambda place: noted.append(("go to", place))
    )
    made._found = lambda begin, end: ({arm: f"{arm} {begin}-{end}" for arm in Arm}, 6)
    made._reconciled = lambda arm, found, places: (arm, found, places.tolist())
    monkeypatch.setattr("rocketdiff.analysis.sending.columns.observed.aligned", lambda *sides: [sides, "second"])
    observer = SimpleNamespace(
        observe=lambda send: noted.append((made._collector.at, send)),
        calm_before=lambda send, calm: noted.append((send, calm is made._calm)),
    )
    made._observers, made._with_state = [observer], [observer]
    assert made._observe(2, 5) == 6
    sides = tuple((arm, f"{arm} 2-5", [3, 5]) for arm in Arm)
    assert noted == [
        [3, 5], ("go to", 3), (sides, True), (3, sides), ("go to", 5), ("second", True), (5, "second"),
    ]  # fmt: skip
