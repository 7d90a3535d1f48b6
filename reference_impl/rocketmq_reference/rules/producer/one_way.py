"""
Sends that wait for no answer: one attempt, over once its request is written (DefaultMQProducerImpl.sendOneway).

The broker is noted as having answered at once, so fault latency never learns of a paused one; from 5.3.0 nor of one that
refuses connections, because the connection is made in the background. With a queue of its own see one_way_to_queue, with
a selector direct_send.send_by_selector; neither leaves a trace in the fault table.
"""

from dataclasses import replace

from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.producer.attempt import Try
from rocketmq_reference.rules.producer.send_loop import SendLoop
from rocketmq_reference.rules.queue_choice.selection import Selector
from rocketmq_reference.rules.settings import SendSettings


class OneWaySend(SendLoop):
    """
    The send loop with a single attempt; also the first part of an asynchronous send.

    A request that was written ends the attempt with ``AttemptResult()``, and the call with a result without a status.
    """

    __slots__ = ()

    def __init__(self, dialect: Dialect, settings: SendSettings, selector: Selector) -> None:
        once = replace(settings, retry_times_when_send_failed=0, retry_another_broker_when_not_store_ok=False)
        super().__init__(dialect, once, selector)


def one_way_to_queue(queue: Queue, timeout_ms: int) -> Try:
    """A given queue gets the whole timeout, in every release whatever checking the message took."""
    return Try(queue, timeout_ms)
