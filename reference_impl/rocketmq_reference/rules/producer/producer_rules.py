"""Differences between releases in how a producer sends: selection of queues, fault table, retries, asynchronous sends."""

from dataclasses import dataclass
from typing import Protocol

from rocketmq_reference.rules.client.client_rules import ClientRules
from rocketmq_reference.rules.producer.async_rules import AsyncRules
from rocketmq_reference.rules.producer.settings import SendSettings
from rocketmq_reference.rules.queue_choice.avoidance import REWRITING, available_then_reachable_then_any
from rocketmq_reference.rules.queue_choice.fault_table import FaultRules
from rocketmq_reference.rules.queue_choice.index import IndexRule
from rocketmq_reference.rules.queue_choice.penalties import PenaltyTable
from rocketmq_reference.rules.queue_choice.selection import SelectRule


@dataclass(frozen=True, slots=True)
class LoopRules:
    """The synchronous send loop (DefaultMQProducerImpl.sendDefaultImpl), generations Y1–Y7."""

    shared_budget: bool
    """All attempts share the timeout (Y2 on); otherwise each has the whole timeout."""
    retry_codes: frozenset[int]
    """Response codes of a broker that are retried."""
    codes_can_be_added: bool
    """An application may add to them (Y3 on)."""
    client_error_isolates: bool
    """An MQClientException counts as a failure of the broker (to Y3)."""
    broker_error_is_unreachable: bool
    """
    An MQBrokerException marks the broker unreachable, and so does a RemotingException with the detector on (Y4 on).
    """
    per_request_cap: bool
    """A timeout limit for every attempt but the last can be set (Y7)."""

    def left_ms(self, timeout_ms: int, spent_ms: int) -> int | None:
        """Return the rest of a timeout, None if it is overspent; the whole timeout if there is no shared budget."""
        if not self.shared_budget:
            return timeout_ms
        return None if timeout_ms < spent_ms else timeout_ms - spent_ms


@dataclass(frozen=True, slots=True)
class ProducerRules:
    """The producer's part of a dialect."""

    index: IndexRule
    select_plain: SelectRule
    select_queue: SelectRule
    reads_broker_again: bool
    """
    The request's result names the broker that the selected queue names when it is sent (to 4.9.8), not the one whose
    address was looked up: up to 5.1.3 another thread may have rewritten the queue in between.
    """
    fault_table: FaultRules
    penalties: PenaltyTable
    failure_counts_as_ms: int
    """Latency assumed for a failed attempt when its penalty is looked up."""
    write_queues_need_permission: bool
    """The fallback knows only writable brokers (4.9.8)."""
    default_topic: str
    """The default create-topic key, whose route a new topic gets."""
    create_topic_key_ignored: bool
    """
    The route of a new topic is always TBW102's, and the create-topic key has no placeholder entry among the topics
    whose routes are polled (from 5.1.1).
    """
    selector_restarts_time: bool
    """A send by selector without a timeout gives its attempt the whole timeout (from 5.1.4)."""
    detector_can_be_switched_on: bool
    """
    The producer's setStartDetectorEnable has an effect (from 5.2.0; 5.1.4 has the detector, but only a system
    property starts it, #7813).
    """
    loop: LoopRules
    asynchronous: AsyncRules

    @property
    def rewrites_list(self) -> bool:
        """True if the fallback rewrites an element of the list that all threads share (to 5.1.3, not 4.9.8)."""
        return self.select_queue in REWRITING

    @property
    def ticks_per_queue(self) -> bool:
        """True if a selection with fault latency takes a tick for every queue it examines (from 5.1.4), otherwise one in all."""
        return self.select_queue is available_then_reachable_then_any

    def avoidance_ms(self, latency_ms: int, isolated: bool) -> int:
        """Return how long a broker is avoided after an attempt of this latency; isolated: the attempt failed."""
        return self.penalties.avoidance_ms(self.failure_counts_as_ms if isolated else latency_ms)

    def detects(self, settings: SendSettings) -> bool:
        """True if the broker detector runs with these settings."""
        return self.detector_can_be_switched_on and settings.start_detector_enable


class ProducerDialect(Protocol):
    """What the rules of producers read of a dialect: its producer's part and the client's below it."""

    @property
    def client(self) -> ClientRules: ...
    @property
    def producer(self) -> ProducerRules: ...
