"""How soon a group works again on the queues of a broker that was killed and has restarted, at each limit."""

from collections.abc import Callable
from typing import Any

import pytest

from rocketdiff.analysis.consuming.membership import Membership
from rocketdiff.analysis.consuming.returns import Return, are_unlike, counts, returns
from rocketdiff.analysis.consuming.story import story_of
from rocketdiff.core.arm import Arm
from tests.analysis.consuming.group_story import Row, Story, fault_row, ns
from tests.analysis.synthetic import MS

HEAL_MS, SOON_MS = 7_500, 10_001
"""A second after it has restarted, which takes a millisecond, and 1.5 s of a busy machine."""

Change = Callable[[Story], None]


def killed(*faults: Row, **story: Any) -> Story:
    return Story(faults=[fault_row("broker-b", 6_000, 1_500, is_kill=True), *faults], **story)


def found(story: Story) -> list[tuple[float, float, float | None]]:
    case = story_of(story.trace())
    group = case.groups[Arm.CANDIDATE]
    return [
        ((each.heal_ns - ns(0)) / MS, (each.soon_ns - ns(0)) / MS, each.begun_ns and (each.begun_ns - ns(0)) / MS)
        for each in returns(case, group, Membership(case, group))
    ]


def nothing(_story: Story) -> None:
    """Leave everything as it is."""


def life(**changed: Any) -> Change:
    return lambda story: story.candidate.members[0].update(changed)


def another(**changed: Any) -> Change:
    return lambda story: story.candidate.members.append(story.candidate.members[0] | {"member": 1} | changed)


def stored_only_at(ms: float, **changed: Any) -> Change:
    """Of the messages of the broker that was killed; message 75 was stored at its restart."""

    def change(story: Story) -> None:
        early = [row for row in story.held if row["send"] < 75 or not row["send"] % 2]
        (one,) = [row for row in story.held if row["send"] == 75]
        one["store_timestamp_ms"] += ms - HEAL_MS
        story.held = [*early, one | changed]

    return change


def delivers_nothing(story: Story) -> None:
    for send in range(75, 200):
        story.candidate.drop(send)


SEEN = [(HEAL_MS, SOON_MS, 7_502)]


@pytest.mark.parametrize(
    ("story", "change", "expected"),
    [
        pytest.param(killed(), nothing, SEEN, id="back soon"),
        pytest.param(killed(stall_ms=100), nothing, [(HEAL_MS, SOON_MS + 200, 7_502)], id="a machine that stalls"),
        pytest.param(killed(), delivers_nothing, [(HEAL_MS, SOON_MS, None)], id="not back"),
        pytest.param(Story(pauses=((6_000, 1_500),)), nothing, [], id="paused"),
        pytest.param(Story(faults=[fault_row("broker-b", 6_000, 1_500, is_kill=True) | {"heal_ns": None}]), nothing, [], id="not restarted"),
        pytest.param(Story(faults=[fault_row("broker-b", 6_000, 1_500, is_kill=True) | {"healed_ns": None}]), nothing, [], id="not up again"),
        pytest.param(killed(fault_row("broker-a", 10_000, 10)), nothing, [], id="another fault"),
        pytest.param(killed(fault_row("broker-a", SOON_MS, 10)), nothing, SEEN, id="another fault later"),
        pytest.param(killed(fault_row("broker-a", 5_000, 1_000)), nothing, [], id="another fault ends then"),
        pytest.param(killed(fault_row("broker-a", 5_000, 999)), nothing, SEEN, id="another fault ends before"),
        pytest.param(killed(fault_row("broker-a", 5_000, 9) | {"healed_ns": None}), nothing, [], id="another does not end"),
        pytest.param(killed(), another(join_start_ns=ns(SOON_MS), join_end_ns=ns(SOON_MS)), [], id="a member comes"),
        pytest.param(killed(), another(join_start_ns=ns(SOON_MS + 1), join_end_ns=ns(SOON_MS + 1)), SEEN, id="comes later"),
        pytest.param(killed(), another(leave_start_ns=ns(6_000)), [], id="a member goes"),
        pytest.param(killed(), another(leave_start_ns=ns(5_999)), SEEN, id="a member went"),
        pytest.param(killed(duration_ms=5_000), life(leave_start_ns=ns(8_000)), [], id="the group leaves"),
        pytest.param(killed(), stored_only_at(HEAL_MS), SEEN, id="a message at the restart"),
        pytest.param(killed(), stored_only_at(HEAL_MS - 1), [], id="a message before"),
        pytest.param(killed(), stored_only_at(SOON_MS - 1_000), SEEN, id="a message a second before the limit"),
        pytest.param(killed(), stored_only_at(SOON_MS - 999), [], id="a message later"),
        pytest.param(killed(), stored_only_at(HEAL_MS, send=None), [], id="a message of others"),
        pytest.param(killed(settings={"heartbeat_broker_interval_ms": 9_399}), nothing, SEEN, id="heartbeats before and after"),
        pytest.param(killed(settings={"heartbeat_broker_interval_ms": 9_400}), nothing, [], id="a heartbeat may be due"),
        pytest.param(killed(settings={"heartbeat_broker_interval_ms": 12_001}), nothing, [], id="the first one is due"),
        pytest.param(killed(settings={"heartbeat_broker_interval_ms": 12_002}), nothing, SEEN, id="the first one is due later"),
        pytest.param(killed(settings={"heartbeat_broker_interval_ms": 3_000}), nothing, [], id="the fourth one is due"),
        pytest.param(killed(), life(join_start_ns=None), [], id="its start is unknown"),
        pytest.param(killed(), life(join_end_ns=None), [], id="the end of its start is unknown"),
        pytest.param(killed(), life(join_start_ns=ns(5_900), join_end_ns=ns(5_900)), SEEN, id="it had its first before"),
        pytest.param(killed(), life(join_start_ns=ns(5_900), join_end_ns=ns(6_500)), [], id="its first may be due"),
    ],
)  # fmt: skip
def test_a_restart_is_judged(story: Story, change: Change, expected: list[tuple[float, float, float | None]]) -> None:
    """Heal, soon and begun in ms: where messages wait, nothing else is wrong and no heartbeat is due anyway."""
    change(story)
    assert found(story) == expected


@pytest.mark.parametrize(("begun_ns", "is_soon"), [(None, False), (20, True), (21, False)])
def test_soon(begun_ns: int | None, is_soon: bool) -> None:
    """By the limit."""
    assert Return(10, 20, begun_ns).is_soon is is_soon


@pytest.mark.parametrize(("n", "is_unlike"), [(6, False), (7, True)])
def test_groups_are_compared_by_restarts(n: int, is_unlike: bool) -> None:
    """At a chance of one in a thousand, in either direction."""
    soon, late = [Return(10, 20, 15)] * n, [Return(10, 20, 25)] * n
    assert (counts(soon), counts(late), counts([*soon, *late])) == ((n, 0), (0, n), (n, n))
    assert are_unlike(soon, late) is are_unlike(late, soon) is is_unlike
