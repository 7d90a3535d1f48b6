"""
The lite pull consumer of Java clients 4.6.1 to 5.5.0: each generation states its changes since its parent.

Read in DefaultLitePullConsumer, DefaultLitePullConsumerImpl, RebalanceLitePullImpl and AssignedMessageQueue of every release up to 5.3.3.
It also has the rules of a push consumer of its release, where both are the same: rounds, offset stores, routes. 4.6.0 cannot
begin in a group that has no offset, and is not imitated.
"""

from dataclasses import replace

from rocketmq_reference.dialects.catalogue import RELEASES, dialect_of, releases_of
from rocketmq_reference.dialects.consumer import consumer_rules_of
from rocketmq_reference.dialects.generation import Generation
from rocketmq_reference.rules.consumer.consumer_rules import ConsumerRules
from rocketmq_reference.rules.consumer.lite_pull_rules import LitePullRules
from rocketmq_reference.rules.dialect import Releases

LITE_PULL_4_0_0 = Generation(
    Releases("4.0.0-incubating", "4.6.0"),
    None,
    LitePullRules(
        exists=False,
        names_stream=False,
        has_own_code=False,
        failed_end_delay_ms=1_000,
        seek_interrupts=False,
        stops_with_round=False,
        ends_given_up_pulls=False,
        hooks_pulls=False,
        hooks_polls=False,
        commits_queues=False,
    ),
)
"""There is none, or that of 4.6.0, which cannot begin in a group without an offset."""

LITE_PULL_4_6_1 = LITE_PULL_4_0_0.followed("4.6.1", "4.7.0", replace(LITE_PULL_4_0_0.rules, exists=True))
"""A queue whose end is unknown is pulled at −1, which fails."""

LITE_PULL_4_7_1 = LITE_PULL_4_6_1.followed("4.7.1", "4.8.0", replace(LITE_PULL_4_6_1.rules, stops_with_round=True))
"""A queue that was given up is pulled no more."""

LITE_PULL_4_9_0 = LITE_PULL_4_7_1.followed(
    "4.9.0", "4.9.0", replace(LITE_PULL_4_7_1.rules, ends_given_up_pulls=True, hooks_pulls=True)
)
"""A hook sees what is pulled; a queue that comes back loses nothing to a pull of before."""

LITE_PULL_4_9_1 = LITE_PULL_4_9_0.followed("4.9.1", "4.9.1", replace(LITE_PULL_4_9_0.rules, failed_end_delay_ms=3_000))
"""Its offset is asked for again after three seconds."""

LITE_PULL_4_9_2 = LITE_PULL_4_9_1.followed("4.9.2", "4.9.3", replace(LITE_PULL_4_9_1.rules, seek_interrupts=True))
"""A seek takes effect at once."""

LITE_PULL_4_9_4 = LITE_PULL_4_9_2.followed(
    "4.9.4", "4.9.8", replace(LITE_PULL_4_9_2.rules, names_stream=True, commits_queues=True)
)
"""Its client id says what it is; an application can commit single queues."""

LITE_PULL_5_0_0 = LITE_PULL_4_9_4.followed(
    "5.0.0", "5.5.0", replace(LITE_PULL_4_9_4.rules, has_own_code=True, hooks_pulls=False, hooks_polls=True)
)
"""Pulls have a request code of their own; a hook sees what is polled."""

LITE_PULL = (
    LITE_PULL_4_0_0,
    LITE_PULL_4_6_1,
    LITE_PULL_4_7_1,
    LITE_PULL_4_9_0,
    LITE_PULL_4_9_1,
    LITE_PULL_4_9_2,
    LITE_PULL_4_9_4,
    LITE_PULL_5_0_0,
)
"""Every generation, oldest first; a parent comes before its children."""

_BY_RELEASE = {release: each.rules for each in LITE_PULL for release in releases_of(each)}
_IMITATED = frozenset(RELEASES[RELEASES.index("4.6.1") :])
_BY_RELEASE |= {
    "5.0.0-PREVIEW": LITE_PULL_4_9_0.rules,
    "5.0.0-ALPHA": LITE_PULL_4_9_2.rules,
}


def has_lite_pull(release: str) -> bool:
    """Return True for the releases whose lite pull consumer is imitated live; raises ValueError for an unknown one."""
    dialect_of(release)
    return release.partition("+")[0] in _IMITATED


def lite_pull_rules_of(release: str) -> LitePullRules:
    """Return the rules of a release, named as in ``dialect_of``, which also raises ValueError for an unknown one."""
    dialect_of(release)
    return _BY_RELEASE[release.partition("+")[0]]


def shared_rules_of(release: str) -> ConsumerRules:
    """Return the rules that it shares with a push consumer."""
    return shared_rules(consumer_rules_of(release))


def shared_rules(rules: ConsumerRules) -> ConsumerRules:
    """Return a push consumer's rules as it has them: a changed share is not announced, and a new queue is pulled at once."""
    return replace(rules, first_pull_delay_ms=0, announces_changes=False, announces_unknown_topic=False)
