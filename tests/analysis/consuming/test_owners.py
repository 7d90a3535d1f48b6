"""Who worked on each queue, beside who had to, at each limit."""

from collections.abc import Callable
from typing import Any

import pytest

from rocketdiff.analysis.consuming.membership import Membership
from rocketdiff.analysis.consuming.owners import Owners, strategy_of, topics_of
from rocketdiff.analysis.consuming.story import CaseStory, story_of
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind
from tests.analysis.consuming.group_story import LEAVE_MS, Group, Story, client_id, ns
from tests.analysis.consuming.test_seeks import applied
from tests.analysis.synthetic import MS

Change = Callable[[Group], object]

SETTLED_MS = 199
"""Since then nothing is open."""


def pair(group: Group, members: int = 2) -> None:
    """Two members share two queues and two retry queues, or a third one has none."""
    for rows in (group.owned, group.allocations, group.listed, group.offsets):
        rows.clear()
    numbers = tuple(range(members))
    for member in numbers[1:]:
        group.members.append(group.members[0] | {"member": member, "client_id": client_id(member)})
    for broker in ("broker-a", "broker-b"):
        group.list_members(-2_800, broker, *numbers)
    for member, queue in zip(numbers, "ab ", strict=False):
        group.divide(-1_502, queue, member=member, among=numbers)
        group.divide(-1_502, queue.upper(), member=member, among=numbers, of="AB")
        group.own(-1_500, *f"{queue}{queue.upper()}".strip(), member=member)


def case_of(change: Change, members: int = 2, **story: Any) -> CaseStory:
    made = Story(**story)
    pair(made.candidate, members)
    change(made.candidate)
    return story_of(made.trace())


def owners_of(change: Change, members: int = 2, **story: Any) -> Owners:
    case = case_of(change, members, **story)
    group = case.groups[Arm.CANDIDATE]
    return Owners(case, group, Membership(case, group))


def ms(at_ns: float) -> float:
    return (at_ns - ns(0)) / MS


def nothing(_group: Group) -> None:
    """Leave everything as it is."""


def owned(*looks: tuple[float, int, str]) -> Change:
    """A look at each instant at the queues of a member."""

    def change(group: Group) -> None:
        for at_ms, member, queues in looks:
            group.own(at_ms, *queues, member=member)

    return change


def paused(from_ms: float, until_ms: float | None, *looks: tuple[float, int, str], member: int = 1) -> Change:
    def change(group: Group) -> None:
        until_ns = None if until_ms is None else ns(until_ms)
        group.members[member]["pauses"] = [{"from_ns": ns(from_ms), "until_ns": until_ns}]
        owned(*looks)(group)

    return change


def is_unknown_and_shares(group: Group) -> None:
    group.members[1]["client_id"] = None
    group.listed.clear()
    owned((5_000, 0, "aAb"), (6_000, 0, "aA"))(group)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(nothing, [], id="as the rules say"),
        pytest.param(owned((5_000, 0, "aAb"), (6_000, 0, "aA")), [("b", 5_000, 6_000, (0, 1), 1)], id="two"),
        pytest.param(owned((5_000, 0, "aAb"), (5_999, 0, "aA")), [], id="two for less than a second"),
        pytest.param(owned((5_000, 1, "B"), (6_000, 1, "bB")), [("b", 5_000, 6_000, (), 1)], id="none"),
        pytest.param(owned((5_000, 1, "b"), (6_000, 1, "bB")), [("B", 5_000, 6_000, (), 1)], id="none of a retry queue"),
        pytest.param(owned((5_000, 1, "B"), (5_999, 1, "bB")), [], id="none for less than a second"),
        pytest.param(
            owned((5_000, 0, "aAb"), (5_000, 1, "B"), (6_000, 0, "aA"), (6_000, 1, "bB")), [("b", 5_000, 6_000, (0,), 1)], id="another"
        ),
        pytest.param(
            owned((5_000, 1, "B"), (5_500, 1, "bB"), (5_500, 0, "A"), (6_500, 0, "aA")), [("a", 5_500, 6_500, (), 0)], id="none of either, in turn"
        ),
        pytest.param(owned((-500, 1, "B"), (SETTLED_MS + 1_000, 1, "bB")), [("b", 0, SETTLED_MS + 1_000, (), 1)], id="since settled"),
        pytest.param(owned((-500, 1, "B"), (SETTLED_MS + 999, 1, "bB")), [], id="less than a second since settled"),
        pytest.param(owned((LEAVE_MS - 1_000, 1, "B")), [("b", LEAVE_MS - 1_000, LEAVE_MS, (), 1)], id="a second to the leave"),
        pytest.param(owned((LEAVE_MS - 999, 1, "B")), [], id="less than a second to the leave"),
        pytest.param(paused(9_000, 12_000, (10_000, 1, "B")), [], id="its owner is paused"),
        pytest.param(
            paused(9_000, None, (10_000, 0, "aAb")), [], id="its owner is paused, and another works on it"
        ),
        pytest.param(
            paused(6_000, None, (5_000, 1, "B"), (7_000, 1, "bB"), member=0), [("b", 5_000, 7_000, (), 1)], id="none while another is paused"
        ),
        pytest.param(
            paused(20_000, 20_001, (5_000, 1, "B"), (6_000, 1, "bB"), member=0), [("b", 5_000, 6_000, (), 1)], id="none, long before a pause"
        ),
        pytest.param(paused(5_500, None, (5_000, 0, "aAb"), (5_000, 1, "B"), member=0), [], id="another, which is paused soon"),
        pytest.param(is_unknown_and_shares, [("b", 5_000, 6_000, (0, 1), 0)], id="two of which one has no known id"),
        pytest.param(paused(5_000, None, (1_000, 1, "B"), member=1), [("b", 1_000, 5_000, (), 1)], id="none until its owner is paused"),
        pytest.param(paused(9_000, None, (1_000, 0, "A"), (2_500, 0, "aA")), [("a", 1_000, 2_500, (), 0)], id="another is paused later"),
    ],
)  # fmt: skip
def test_a_queue_has_wrong_owners(change: Change, expected: list[tuple[Any, ...]]) -> None:
    """Which, from and until in ms, those that it had, and the one that it must have: for a second in settled time."""
    letters = {"broker-a": "a", "broker-b": "b"}
    found = [
        (
            letters[each.queue.broker].upper() if each.queue.kind is TopicKind.RETRY else letters[each.queue.broker],
            ms(each.from_ns),
            ms(each.until_ns),
            each.members,
            each.owner,
        )
        for each in owners_of(change).wrong()
    ]
    assert found == expected


def without_rounds(*, since_ms: float | None = None, ids: tuple[int, ...] = (0,)) -> Change:
    """Member 1's round had other ids, or there was none; from an instant on it has had the right ones."""

    def change(group: Group) -> None:
        group.allocations = [row for row in group.allocations if row["member"] != 1]
        if ids:
            group.divide(-1_000, "a", "b", member=1, among=ids)
        if since_ms is not None:
            group.divide(since_ms, "b", member=1, among=(0, 1))

    return change


def another_has_left(group: Group) -> None:
    group.members[1] |= {"leave_start_ns": ns(10_000), "leave_end_ns": ns(10_000)}
    group.listed.clear()
    group.divide(10_500, "a", "b", among=(0,))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(nothing, [], id="all are up to date"),
        pytest.param(without_rounds(ids=()), [(1, None, SETTLED_MS, LEAVE_MS)], id="no round"),
        pytest.param(without_rounds(), [(1, -1_000, SETTLED_MS, LEAVE_MS)], id="a round with other ids"),
        pytest.param(
            without_rounds(since_ms=SETTLED_MS + 1_000), [(1, -1_000, SETTLED_MS, SETTLED_MS + 1_000)], id="late"
        ),
        pytest.param(without_rounds(since_ms=SETTLED_MS + 999), [], id="late by less than a second"),
        pytest.param(without_rounds(ids=(1, 0)), [], id="in another order"),
        pytest.param(another_has_left, [], id="not after it has left"),
        pytest.param(without_rounds(ids=(0, 1, 1)), [(1, -1_000, SETTLED_MS, LEAVE_MS)], id="an id twice"),
    ],
)
def test_a_member_is_late_with_its_round(change: Change, expected: list[tuple[Any, ...]]) -> None:
    """Which, when its last round was, and since when it should have had another one."""
    found = [
        (life.member, None if last is None else ms(last.at_ns), ms(since_ns), ms(until_ns))
        for life, last, (since_ns, until_ns) in owners_of(change).late()
    ]
    assert found == expected


def is_unknown(member: int) -> Change:
    def change(group: Group) -> None:
        without_rounds()(group)
        group.members[member]["client_id"] = None
        group.listed.clear()

    return change


def stands_still(group: Group) -> None:
    without_rounds()(group)
    paused(-2_000, None)(group)


def is_killed_before_it_joins(group: Group) -> None:
    without_rounds(ids=())(group)
    times = dict.fromkeys(("join_start_ns", "join_end_ns", "leave_start_ns", "leave_end_ns"))
    group.members[1] |= {"killed_ns": ns(9_000), "ended": "killed", **times}
    for row in group.allocations:
        row["ids"] = [client_id(0)]
    group.listed.clear()


@pytest.mark.parametrize("change", [is_unknown(0), is_unknown(1), stands_still, is_killed_before_it_joins])
def test_a_round_is_open(change: Change) -> None:
    """If an id is unknown, or the member stands still, or has never joined."""
    owners = owners_of(change)
    assert owners.settled
    assert list(owners.late()) == []


def leaves_early(group: Group) -> None:
    group.members[0] |= {"leave_start_ns": ns(10_000), "leave_end_ns": ns(10_000)}
    group.listed.clear()


def has_a_strategy_of_its_own(group: Group) -> None:
    for row in group.allocations:
        row["strategy"] = "OWN"


def test_a_member_without_a_share_is_idle() -> None:
    """The third one of two queues, since all is settled."""
    found = {
        member: [(ms(since), ms(until)) for since, until in spans]
        for member, spans in owners_of(nothing, 3).idle().items()
    }
    assert found == {2: [(SETTLED_MS, LEAVE_MS)]}
    found = {
        member: [(ms(since), ms(until)) for since, until in spans]
        for member, spans in owners_of(leaves_early, 4).idle().items()
    }
    assert found == {2: [(100, 10_000)], 3: [(100, 10_000), (13_000, LEAVE_MS)]}
    assert owners_of(nothing).idle() == {}

    def is_not_known(group: Group) -> None:
        group.members[2]["client_id"] = None
        group.listed.clear()

    unknown = owners_of(is_not_known, 3)
    assert unknown.settled
    assert unknown.idle() == {}
    assert owners_of(has_a_strategy_of_its_own, baseline=Group()).idle() == {}


@pytest.mark.parametrize(
    ("change", "moved"),
    [
        pytest.param(nothing, 0, id="none"),
        pytest.param(owned((5_000, 1, "B"), (5_100, 1, "bB")), 1, id="one"),
        pytest.param(owned((5_000, 1, "b"), (5_100, 1, "bB")), 0, id="a retry queue"),
        pytest.param(owned((100, 1, "B"), (SETTLED_MS, 1, "bB")), 1, id="as all is settled"),
        pytest.param(owned((100, 1, "B"), (SETTLED_MS - 1, 1, "bB")), 0, id="before"),
        pytest.param(owned((100, 1, "B"), (LEAVE_MS, 1, "bB")), 0, id="at the leave"),
        pytest.param(applied("seek", offset=20, broker="broker-a"), 0, id="its application goes elsewhere in it"),
    ],
)
def test_queues_that_moved(change: Change, moved: int) -> None:
    """Taken where nothing had changed."""
    assert owners_of(change).moved() == moved


def test_nothing_is_settled_with_an_unknown_end() -> None:
    """A member that died at an unknown instant."""

    def dies(group: Group) -> None:
        group.members[1] |= {"ended": "died", "leave_start_ns": None, "leave_end_ns": None}

    assert owners_of(dies).settled == ()
    assert [(ms(since), ms(until)) for since, until in owners_of(nothing).settled] == [(SETTLED_MS, LEAVE_MS)]


def rounds(*named: tuple[str, str | None]) -> Change:
    def change(group: Group) -> None:
        group.allocations.clear()
        for strategy, error in named:
            group.divide(-1_000, strategy=strategy, error=error)

    return change


@pytest.mark.parametrize(
    ("baseline", "candidate", "expected"),
    [
        (("AVG", None), ("AVG_BY_CIRCLE", None), "AVG"),
        (("AVG", "thrown"), ("AVG_BY_CIRCLE", None), "AVG_BY_CIRCLE"),
        (("AVG", "thrown"), ("AVG", "thrown"), ""),
    ],
)
def test_the_strategy_of_a_case(
    baseline: tuple[str, str | None], candidate: tuple[str, str | None], expected: str
) -> None:
    """The baseline's, unless its rounds threw."""
    made = Story()
    rounds(baseline)(made.baseline)
    rounds(candidate)(made.candidate)
    assert strategy_of(story_of(made.trace())) == expected


def test_the_most_frequent_strategy() -> None:
    """Of several that the members name."""
    made = Story()
    rounds(("AVG", None), ("AVG_BY_CIRCLE", None), ("AVG_BY_CIRCLE", None))(made.baseline)
    assert strategy_of(story_of(made.trace())) == "AVG_BY_CIRCLE"


def test_the_topics_of_a_group() -> None:
    """A retry topic counts if its rounds have one queue at each broker."""
    case = case_of(nothing)
    found = topics_of(case, case.groups[Arm.CANDIDATE])
    queues = (("broker-a", 0), ("broker-b", 0))
    assert {kind: topic.queues for kind, topic in found.items()} == {TopicKind.FED: queues, TopicKind.RETRY: queues}

    def lacks_one(*kinds: str) -> Change:
        return lambda group: [row["queues"].pop() for row in group.allocations if row["kind"] in kinds]

    for kinds in (("retry",), ("fed", "retry")):
        made = case_of(lacks_one(*kinds))
        assert set(topics_of(made, made.groups[Arm.CANDIDATE])) == {TopicKind.FED}
    made = case_of(has_a_strategy_of_its_own, baseline=Group())
    assert set(topics_of(made, made.groups[Arm.CANDIDATE])) == set()
