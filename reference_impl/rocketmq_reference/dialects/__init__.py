"""Dialects of the Java client: one value per behaviour range, composed of parts that are defined by parent and differences."""

from rocketmq_reference.dialects.catalogue import DIALECTS, RELEASES, compose, dialect_of, releases_of
from rocketmq_reference.dialects.consumer import consumer_rules_of
from rocketmq_reference.dialects.consumers import CONSUMER_DIALECTS, consumer_dialect_of
from rocketmq_reference.dialects.flatten import Rule, difference, differing, exchanged, flatten, rules_of
from rocketmq_reference.dialects.lite_pull import has_lite_pull, lite_pull_rules_of, shared_rules_of

__all__ = [
    "CONSUMER_DIALECTS",
    "DIALECTS",
    "RELEASES",
    "Rule",
    "compose",
    "consumer_dialect_of",
    "consumer_rules_of",
    "dialect_of",
    "difference",
    "differing",
    "exchanged",
    "flatten",
    "has_lite_pull",
    "lite_pull_rules_of",
    "releases_of",
    "rules_of",
    "shared_rules_of",
]
