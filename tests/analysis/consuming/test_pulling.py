"""
Pulls as relays saw them, judged to the exit code: each kind of difference in three stories, each beside its faithful twin.

The faithful group pulls each queue from -1 s on: 20 answers with one message each, one every second, then pulls that are held.
"""

from collections.abc import Callable
from typing import Any

import pytest

from rocketdiff.core.errors import ExitCode
from rocketdiff.core.run_info import Guard
from tests.analysis.consuming.group_story import BROKERS, LEAVE_MS, Group, Row, Story, faithful, fault_row, ns

A, B = BROKERS
SLAVE = "broker-a-slave-1"
SECONDS = 20
NOTHING = {"next_offset": None, "count": None, "suggested": None}
Change = Callable[[Group], object]


def pulling() -> Group:
    """A faithful group with what its relay saw."""
    group = faithful()
    for broker in BROKERS:
        group.pull(-1_000, broker, 0, 0, next_offset=1)
        for second in range(1, SECONDS):
            group.pull(second * 1_000 - 990, broker, second, second * 1_000, next_offset=second + 1)
        group.pull(SECONDS * 1_000 - 990, broker, SECONDS, SECONDS * 1_000 + 5_000)
        group.pull(SECONDS * 1_000 + 5_001, broker, SECONDS)
        group.pull(21_000, broker, 8, 23_900, kind="retry")
    for broker in BROKERS:
        group.lose(LEAVE_MS + 15, broker)
    return group


def story(change: Change, **other: Any) -> Story:
    """The candidate's pulls are changed; rows are numbered in the order of arrival."""
    made = Story(pulling(), pulling(), checks=("pulling",), **other)
    change(made.candidate)
    made.candidate.wire.sort(key=lambda row: (row["in_ns"], row["number"]))
    for number, row in enumerate(made.candidate.wire):
        row["number"] = number
    return made


def nothing(_group: Group) -> None:
    """Leave everything as it is."""


def of(group: Group, second: int) -> Row:
    """The pull of the first broker's queue that is answered at this second."""
    pulls = [row for row in group.wire if (row["broker"], row["what"], row.get("kind")) == (A, "pull", "fed")]
    return sorted(pulls, key=lambda row: row["in_ns"])[second]


def change(second: int, **other: Any) -> Change:
    return lambda group: of(group, second).update(other)


def add(at_ms: float, broker: str, offset: int, *answered_ms: float, **other: Any) -> Change:
    return lambda group: group.pull(at_ms, broker, offset, *answered_ms, **other)


def fails(code: int | None, again_ms: float, offset: int = 5) -> Change:
    """The pull of second 5 is refused with a code, or lost, after 20 ms, and made again after that."""

    def changed(group: Group) -> None:
        row, following = of(group, 5), of(group, 6)
        over_ns = row["in_ns"] + 20_000_000
        row.update(NOTHING, code=code, answered_ns=None if code is None else over_ns)
        if code is None:
            row["connection"] = 7
            group.wire.append({"member": 0, "number": 0, "connection": 7, "node": A, "what": "end", "in_ns": over_ns, "broker": A})  # fmt: skip
        group.pull(4_030 + again_ms, A, offset, 5_900, next_offset=6)
        following["in_ns"] = ns(5_901)

    return changed


def at_the_slave(*suggestions: int, **other: Any) -> Change:
    """The pulls of seconds 4 and 5 go to the slave; suggestions: of the answers of seconds 3 and 4."""

    def changed(group: Group) -> None:
        for second, suggested in zip((3, 4), suggestions, strict=False):
            of(group, second)["suggested"] = suggested
        for second in (4, 5):
            of(group, second).update({"node": SLAVE, "connection": 5} | other)

    return changed


def stays_at_the_slave(*seconds: int) -> Change:
    def changed(group: Group) -> None:
        for second in seconds:
            of(group, second).update({"node": SLAVE, "connection": 5})

    return changed


MASTER_WAS_KILLED = {
    "faults": [fault_row(A, 1_000, 1_000, is_kill=True)],
    "settings": {"poll_name_server_interval_ms": 1_000},
}
MASTER_WAS_PAUSED = {"faults": [fault_row(A, 1_000, 1_000)]}

PAIRS = [
    ("two-at-once", nothing, add(2_500, A, 3), {}),
    ("two-at-once", nothing, add(21_000, A, 20, 25_000), {}),
    ("two-at-once", nothing, add(26_000, A, 20), {}),
    ("other-offset", nothing, change(5, offset=4), {}),
    ("other-offset", nothing, change(5, offset=9), {}),
    ("other-offset", fails(1, 1_100), fails(1, 1_100, offset=6), {}),
    ("not-owned", add(-3_000, A, 0, -2_900), add(-4_000, A, 0, -3_900), {}),
    ("not-owned", nothing, add(LEAVE_MS + 5_000, A, 20), {}),
    ("not-owned", nothing, add(8_000, A, 0, 9_000, queue_id=1), {}),
    ("other-broker", at_the_slave(1, 1), at_the_slave(0, 0), {}),
    ("other-broker", at_the_slave(1, 1), at_the_slave(1, 0), {}),
    ("other-broker", nothing, change(5, node=B), {}),
    ("commit-at-a-slave", at_the_slave(1, 1), at_the_slave(1, 1, commit_offset=3), {}),
    ("commit-at-a-slave", change(5, commit_offset=5), at_the_slave(1, 1, commit_offset=0), {}),
    ("commit-at-a-slave", at_the_slave(), at_the_slave(commit_offset=4), MASTER_WAS_PAUSED),
    ("too-soon", fails(1, 1_000), fails(1, 20), {}),
    ("too-soon", fails(None, 1_000), fails(None, 400), {}),
    ("too-soon", fails(215, 25), fails(215, 1), {}),
    ("too-soon", nothing, change(6, in_ns=ns(5_003)), {"settings": {"pull_interval_ms": 9}}),
    ("other-broker", stays_at_the_slave(4, 5), stays_at_the_slave(4, 5, 12), MASTER_WAS_KILLED),
]


@pytest.mark.parametrize(
    ("name", "twin", "defect", "other"),
    [pytest.param(*pair, id=f"{pair[0]} {number}") for number, pair in enumerate(PAIRS)],
)
def test_each_difference_is_found(name: str, twin: Change, defect: Change, other: dict[str, Any]) -> None:
    """The verdict is 1, with this signature alone; the same story without the defect conforms."""
    conforming, ended = story(twin, **other).judge(), story(defect, **other).judge()
    assert conforming.document.clusters == ()
    assert conforming.judgement.exit_code is ExitCode.CONFORMS
    assert {cluster.signature for cluster in ended.document.clusters} == {f"pulling.{name}"}
    assert ended.judgement.exit_code is ExitCode.DIVERGES


@pytest.mark.parametrize(
    ("changed", "settings"),
    [
        pytest.param(fails(1500, 0), {}, id="a broker that goes away"),
        pytest.param(fails(1, 60), {"pull_time_delay_when_exception_ms": 100}, id="a shorter delay is set"),
        pytest.param(change(5, code=21, next_offset=9), {}, id="an offset that was moved"),
        pytest.param(fails(21, 1, offset=9), {}, id="goes on elsewhere after it was moved"),
    ],
)
def test_pulls_within_the_rules_are_no_difference(changed: Change, settings: dict[str, int | str]) -> None:
    """No signature of this check."""
    assert story(changed, settings=settings).signatures() == set()


def test_without_relays_nothing_is_known() -> None:
    """A scenario that asks, in a run that has no relays, is not answered."""
    ended = Story(checks=("pulling",)).judge()
    assert ended.judgement.exit_code is ExitCode.INCONCLUSIVE


def test_members_that_contradict_their_relay_are_not_judged() -> None:
    """One of the two witnesses is wrong."""
    guard = Guard("witness-candidate", held=False, expected="consistent reports", seen="1 records differ", case="c")
    assert story(nothing, guards=(guard,)).judge().judgement.exit_code is not ExitCode.CONFORMS


def test_idle_queues_have_their_rate() -> None:
    """How often an idle queue is asked, from how long its pulls are held: here 5.99 and 2.9 s."""
    evidence = [each for each in story(nothing).analysis().evidence if each.check == "pulling"]
    rates = {measure.name: (round(measure.value, 1), measure.n) for each in evidence for measure in each.measures}
    assert rates == {f"pulls an idle minute {arm}": (13.5, 4) for arm in ("baseline", "candidate")}
