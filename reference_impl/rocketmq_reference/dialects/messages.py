"""
The messages' part of Java clients 4.0.0-incubating to 5.5.0: each generation states its changes since its parent.

Found by executing the classes of every release. The 5 line branches from 4.9 at 4.9.4.
"""

from dataclasses import replace

from rocketmq_reference.dialects.generation import Generation
from rocketmq_reference.rules.dialect import Releases
from rocketmq_reference.rules.producer.message_rules import MessageRules, ReservedNames

MESSAGES_4_0_0 = Generation(
    Releases("4.0.0-incubating", "4.0.0-incubating"),
    None,
    MessageRules(
        reserved_properties=ReservedNames.SINCE_4_0_0,
        refuses_blank_properties=False,
        closes_properties=True,
        topic_max_length=255,
        forbids_default_topic=True,
        forbidden_topics=frozenset(),
        has_batches=False,
        batch_has_own_key=False,
        names_broker=False,
        sys_flag=0,
        refuses_dispatch_path=False,
        measures_batch_properties=False,
    ),
)
"""No batches; properties may be blank."""

MESSAGES_4_1_0 = MESSAGES_4_0_0.followed(
    "4.1.0-incubating", "4.5.0", replace(MESSAGES_4_0_0.rules, refuses_blank_properties=True, has_batches=True)
)
"""Batches; blank properties are refused."""

MESSAGES_4_5_1 = MESSAGES_4_1_0.followed(
    "4.5.1", "4.5.2", replace(MESSAGES_4_1_0.rules, reserved_properties=ReservedNames.SINCE_4_5_1)
)
"""INSTANCE_ID is reserved."""

MESSAGES_4_6_0 = MESSAGES_4_5_1.followed(
    "4.6.0", "4.6.0", replace(MESSAGES_4_5_1.rules, reserved_properties=ReservedNames.SINCE_4_6_0)
)
"""The names of request-reply are reserved, TTL and CLUSTER among them."""

MESSAGES_4_6_1 = MESSAGES_4_6_0.followed("4.6.1", "4.7.0", replace(MESSAGES_4_6_0.rules, topic_max_length=127))
"""Topics of 128 to 255 characters are refused."""

MESSAGES_4_7_1 = MESSAGES_4_6_1.followed(
    "4.7.1",
    "4.9.0",
    replace(MESSAGES_4_6_1.rules, forbids_default_topic=False, forbidden_topics=frozenset({"SCHEDULE_TOPIC_XXXX"})),
)
"""The topic of delayed messages is refused, the default topic no more."""

MESSAGES_4_9_1 = MESSAGES_4_7_1.followed("4.9.1", "4.9.2", replace(MESSAGES_4_7_1.rules, closes_properties=False))
"""No separator after the last property."""

MESSAGES_4_9_3 = MESSAGES_4_9_1.followed(
    "4.9.3",
    "4.9.3",
    replace(MESSAGES_4_9_1.rules, reserved_properties=ReservedNames.SINCE_4_9_3, measures_batch_properties=True),
)
"""Too large properties of a message in a batch have an exception of their own (#3786)."""

MESSAGES_4_9_4 = MESSAGES_4_9_3.followed(
    "4.9.4",
    "4.9.4",
    replace(
        MESSAGES_4_9_3.rules,
        forbidden_topics=frozenset(
            {
                "SCHEDULE_TOPIC_XXXX",
                "RMQ_SYS_TRANS_HALF_TOPIC",
                "RMQ_SYS_TRANS_OP_HALF_TOPIC",
                "TRANS_CHECK_MAX_TIME_TOPIC",
                "SELF_TEST_TOPIC",
                "OFFSET_MOVED_EVENT",
            }
        ),
    ),
)
"""More topics of brokers are refused."""

MESSAGES_4_9_5 = MESSAGES_4_9_4.followed("4.9.5", "4.9.8", replace(MESSAGES_4_9_4.rules, names_broker=True))
"""The header of a send has the broker's name."""

MESSAGES_5_0_0 = MESSAGES_4_9_4.followed(
    "5.0.0",
    "5.0.0",
    replace(
        MESSAGES_4_9_4.rules,
        reserved_properties=ReservedNames.SINCE_5_0_0,
        batch_has_own_key=True,
        measures_batch_properties=False,
    ),
)
"""The names of timers and pop consumers are reserved, BORN_TIMESTAMP among them; a batch has its own id."""

MESSAGES_5_1_0 = MESSAGES_5_0_0.followed(
    "5.1.0",
    "5.1.1",
    replace(MESSAGES_5_0_0.rules, reserved_properties=ReservedNames.SINCE_5_1_0, names_broker=True),
)
"""The names of dead letters are reserved; the header of a send has the broker's name."""

MESSAGES_5_1_2 = MESSAGES_5_1_0.followed("5.1.2", "5.1.4", replace(MESSAGES_5_1_0.rules, refuses_dispatch_path=True))
"""A path in INNER_MULTI_DISPATCH is refused (#6747)."""

MESSAGES_5_2_0 = MESSAGES_5_1_2.followed(
    "5.2.0",
    "5.3.3",
    replace(MESSAGES_5_1_2.rules, reserved_properties=ReservedNames.SINCE_5_2_0, closes_properties=True),
)
"""A separator follows the last property again, for the broker to append its checksum."""

MESSAGES_5_4_0 = MESSAGES_5_2_0.followed(
    "5.4.0", "5.4.0", replace(MESSAGES_5_2_0.rules, reserved_properties=ReservedNames.SINCE_5_4_0)
)
"""ORIGIN_GROUP and the name of priorities are reserved."""

MESSAGES_5_5_0 = MESSAGES_5_4_0.followed(
    "5.5.0", "5.5.0", replace(MESSAGES_5_4_0.rules, reserved_properties=ReservedNames.SINCE_5_5_0)
)
"""The name of lite topics is reserved."""

MESSAGES = (
    MESSAGES_4_0_0,
    MESSAGES_4_1_0,
    MESSAGES_4_5_1,
    MESSAGES_4_6_0,
    MESSAGES_4_6_1,
    MESSAGES_4_7_1,
    MESSAGES_4_9_1,
    MESSAGES_4_9_3,
    MESSAGES_4_9_4,
    MESSAGES_4_9_5,
    MESSAGES_5_0_0,
    MESSAGES_5_1_0,
    MESSAGES_5_1_2,
    MESSAGES_5_2_0,
    MESSAGES_5_4_0,
    MESSAGES_5_5_0,
)
"""Every generation, oldest first; a parent comes before its children."""

PREVIEW_MESSAGES = {
    "5.0.0-PREVIEW": replace(MESSAGES_4_7_1.rules, reserved_properties=ReservedNames.PREVIEW, sys_flag=64),
    "5.0.0-ALPHA": replace(MESSAGES_4_9_3.rules, reserved_properties=ReservedNames.ALPHA, batch_has_own_key=True),
}
"""Previews reserve the names of pop consumers, unlike the releases from which they branched."""
