"""Who works on which queue, by the strategies that a scenario may name."""

import pytest

from rocketdiff.core.consuming.plan import STRATEGY_NAMES, Allocation
from rocketdiff.oracle.consumer.shares import Topic

QUEUES = (("broker-a", 0), ("broker-a", 1), ("broker-b", 0), ("broker-b", 1))


@pytest.mark.parametrize("allocation", Allocation)
def test_each_strategy_of_a_scenario_gives_every_queue_an_owner(allocation: Allocation) -> None:
    """Otherwise allocation would leave the owners open."""
    topic = Topic("fed", QUEUES, STRATEGY_NAMES[allocation])
    assert topic.is_known
    assert set(topic.owners(["c-m0", "c-m1"])) == set(QUEUES)


def test_a_topic_without_queues_has_no_owners() -> None:
    """The strategy throws."""
    assert Topic("fed", (), STRATEGY_NAMES[Allocation.AVG]).owners(["c-m0"]) == {}


@pytest.mark.parametrize(
    ("ids", "owners"),
    [
        (["c-m0"], ["c-m0", "c-m0", "c-m0", "c-m0"]),
        (["c-m0", "c-m1"], ["c-m0", "c-m0", "c-m1", "c-m1"]),
        (["c-m0", "c-m2"], ["c-m0", "c-m2", "c-m0", "c-m2"]),
        (["c-m0", "c-m1", "c-m2"], ["c-m0", "c-m2", "c-m1", "c-m1"]),
    ],
)
def test_members_work_in_their_machine_room(ids: list[str], owners: list[str]) -> None:
    """Even members are in room a, odd ones in b; all divide the queues of a room without members."""
    found = Topic("fed", QUEUES, STRATEGY_NAMES[Allocation.NEARBY]).owners(ids)
    assert [found[queue] for queue in QUEUES] == owners
