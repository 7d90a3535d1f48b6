"""
Strategies of allocation in Java clients 4.0.0-incubating to 5.5.0: each generation states its changes since its parent.

Read in consumer.rebalance of every release up to 5.3.3, and seen with the executed classes of all.
"""

from dataclasses import replace

from rocketmq_reference.dialects.generation import Generation
from rocketmq_reference.rules.consumer.allocation_rules import AllocationRules
from rocketmq_reference.rules.dialect import Releases

ALLOCATION_4_0_0 = Generation(
    Releases("4.0.0-incubating", "4.0.0-incubating"),
    None,
    AllocationRules(frozenset({"AVG", "AVG_BY_CIRCLE", "CONFIG", "MACHINE_ROOM"})),
)

ALLOCATION_4_1_0 = ALLOCATION_4_0_0.followed(
    "4.1.0-incubating",
    "4.2.0",
    replace(ALLOCATION_4_0_0.rules, strategies=ALLOCATION_4_0_0.rules.strategies | {"CONSISTENT_HASH"}),
)

ALLOCATION_4_3_0 = ALLOCATION_4_1_0.followed(
    "4.3.0",
    "5.5.0",
    replace(ALLOCATION_4_1_0.rules, strategies=ALLOCATION_4_1_0.rules.strategies | {"MACHINE_ROOM_NEARBY"}),
)

ALLOCATION = (ALLOCATION_4_0_0, ALLOCATION_4_1_0, ALLOCATION_4_3_0)
