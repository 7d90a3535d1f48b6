"""
The times of a push consumer in Java clients 4.0.0-incubating to 5.5.0: each generation states its changes since its parent.

Read in DefaultMQPushConsumerImpl, RebalancePushImpl and RebalanceService of every release up to 5.3.3; the first pull and the rounds
were also seen with the executed classes. Consumers have a catalogue of their own, because their ranges break at other releases.
"""

from dataclasses import replace

from rocketmq_reference.dialects.catalogue import dialect_of, releases_of
from rocketmq_reference.dialects.generation import Generation
from rocketmq_reference.rules.consumer.consumer_rules import ConsumerRules
from rocketmq_reference.rules.dialect import Releases

CONSUMER_4_0_0 = Generation(
    Releases("4.0.0-incubating", "4.5.2"),
    None,
    ConsumerRules(first_pull_delay_ms=0, round_min_interval_ms=0, pull_failure_delay_ms=3_000, beats_on_connect=False),
)
"""Everything at once, but three seconds after a pull that failed."""

CONSUMER_4_6_0 = CONSUMER_4_0_0.followed("4.6.0", "4.9.8", replace(CONSUMER_4_0_0.rules, pull_failure_delay_ms=1_000))
"""One second after a pull that failed (pullTimeDelayMillsWhenException)."""

CONSUMER_5_0_0 = CONSUMER_4_6_0.followed("5.0.0", "5.1.4", replace(CONSUMER_4_6_0.rules, first_pull_delay_ms=500))
"""The first pull of a queue comes half a second after the round that took it."""

CONSUMER_5_2_0 = CONSUMER_5_0_0.followed(
    "5.2.0", "5.5.0", replace(CONSUMER_5_0_0.rules, round_min_interval_ms=1_000, beats_on_connect=True)
)
"""A second between rounds; a heartbeat on each new connection."""

CONSUMER = (CONSUMER_4_0_0, CONSUMER_4_6_0, CONSUMER_5_0_0, CONSUMER_5_2_0)

_BY_RELEASE = {release: each.rules for each in CONSUMER for release in releases_of(each)}
_BY_RELEASE |= dict.fromkeys(("5.0.0-PREVIEW", "5.0.0-ALPHA"), CONSUMER_5_0_0.rules)


def consumer_rules_of(release: str) -> ConsumerRules:
    """Return the rules of a release, named as in ``dialect_of``, which also raises ValueError for an unknown one."""
    dialect_of(release)
    return _BY_RELEASE[release.partition("+")[0]]
