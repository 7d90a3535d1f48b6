"""
Type of a dialect: all differences between releases of the Java client, as one value with a part for each role.

The values, one per behaviour range, are composed in rocketmq_reference.dialects.
"""

from dataclasses import dataclass

from rocketmq_reference.rules.client.client_rules import ClientRules
from rocketmq_reference.rules.consumer.allocation_rules import AllocationRules
from rocketmq_reference.rules.consumer.consumer_rules import ConsumerRules
from rocketmq_reference.rules.consumer.lite_pull_rules import LitePullRules
from rocketmq_reference.rules.producer.message_rules import MessageRules
from rocketmq_reference.rules.producer.producer_rules import ProducerRules


@dataclass(frozen=True, slots=True)
class Releases:
    """First and last release of a behaviour range, inclusive, in the order of the release line."""

    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """
    One behaviour range of the Java client: the releases in which no part of it changes.

    parent: name of the dialect it was derived from, None for the oldest. Each part has its own ranges and parents.
    """

    name: str
    releases: Releases
    parent: str | None
    producer: ProducerRules
    client: ClientRules
    messages: MessageRules


@dataclass(frozen=True, slots=True)
class ConsumerDialect:
    """One behaviour range of the Java client as a consumer, which is not one of it as a producer; client: what both share. lite: lite pull."""

    name: str
    releases: Releases
    consumer: ConsumerRules
    allocation: AllocationRules
    client: ClientRules
    lite: LitePullRules
