"""
One-way sends: one attempt, over when its request is written (DefaultMQProducerImpl.sendOneway).

The broker is recorded as having answered at once, so fault latency does not detect a paused broker. From 5.3.0 it does not
detect refused connections either, because the client connects in the background. For a given queue see one_way_to_queue, for a
selector direct_send.send_by_selector; neither makes an entry in the fault table.
"""

from dataclasses import replace

from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import Try
from rocketmq_reference.rules.producer.producer_rules import ProducerDialect
from rocketmq_reference.rules.producer.send_loop import SendLoop
from rocketmq_reference.rules.producer.settings import SendSettings
from rocketmq_reference.rules.queue_choice.selection import Selector


class OneWaySend(SendLoop):
    """
    The send loop with a single attempt; also the first part of an asynchronous send.

    A written request ends the attempt with ``AttemptResult()``, and the call with a result without a status.
    """

    __slots__ = ()

    def __init__(self, dialect: ProducerDialect, settings: SendSettings, selector: Selector) -> None:
        once = replace(settings, retry_times_when_send_failed=0, retry_another_broker_when_not_store_ok=False)
        super().__init__(dialect, once, selector)


def one_way_to_queue(queue: Queue, timeout_ms: int) -> Try:
    """Send to a given queue with the whole timeout in every release, however long checking the message took."""
    return Try(queue, timeout_ms)
