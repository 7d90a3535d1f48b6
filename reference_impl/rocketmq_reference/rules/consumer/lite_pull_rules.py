"""Type of the lite pull consumer's own differences between releases; the values are in rocketmq_reference.dialects.lite_pull."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LitePullRules:
    """
    What differs between releases in a lite pull consumer, besides what every consumer shares (ConsumerRules).

    exists: there is such a consumer. names_stream: its client id ends with @STREAM. has_own_code: it pulls by LITE_PULL_MESSAGE, which brokers 4.x refuse.
    failed_end_delay_ms: from a question for a queue's end that failed to the next look at the queue.
    seek_interrupts: a seek ends the pull that is under way; else it counts when that one is answered.
    stops_with_round: a queue is pulled no more as soon as a round has given it up; else when that round has ended.
    ends_given_up_pulls: the answer of a pull whose queue was given up is thrown away; else, if the queue has come back meanwhile, its next
    pull goes on after that answer, whose messages nobody gets. hooks_pulls, hooks_polls: when an application's
    hook of consumption sees messages (ConsumeMessageHook). commits_queues: an application can
    commit some queues, at once.
    """

    exists: bool
    names_stream: bool
    has_own_code: bool
    failed_end_delay_ms: int
    seek_interrupts: bool
    stops_with_round: bool
    ends_given_up_pulls: bool
    hooks_pulls: bool
    hooks_polls: bool
    commits_queues: bool
