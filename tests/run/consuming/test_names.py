"""Names of a case about consumers."""

import pytest

from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.run.case.consuming.names import CaseNames
from rocketmq_reference.rules.java import hash_order

NAMES = CaseNames("rocketdiff-20261127.1-001", ("broker-a", "broker-b"), 2)


@pytest.mark.parametrize("arm", Arm)
def test_a_rebalance_takes_the_fed_topic_first(arm: Arm) -> None:
    """In the order of the client's map of topics, whatever the prefix; group names have no dot and equal length."""
    for prefix in ("a", "b-2", "rocketdiff-20261127-001", "rocketdiff-20261127-135345-00000001-001"):
        topics = CaseNames(prefix, ("broker-a",), 2).groups[arm]
        assert hash_order([topics.retry, topics.fed], buckets=16, concurrent=True)[0] == topics.fed
    assert "." not in NAMES.groups[arm].group
    assert len({len(topics.group) for topics in NAMES.groups.values()}) == 1


def test_a_group_has_a_retry_queue_at_each_broker() -> None:
    """Two fed queues and one of the retry topic at each broker."""
    queues = [(kind, broker, queue_id) for kind, _, broker, queue_id in NAMES.queues_of(Arm.BASELINE)]
    assert len(queues) == 6
    assert queues[2] == (TopicKind.RETRY, "broker-a", 0)


def test_members_of_a_group_have_equally_long_instances() -> None:
    """Ids are sorted as text, so their order is that of the numbers; the arms differ."""
    instances = [NAMES.instance(arm, number) for arm in Arm for number in range(6)]
    assert len(set(instances)) == 12
    assert len({len(name) for name in instances}) == 1
