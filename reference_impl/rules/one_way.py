"""
Sends that wait for no answer: one attempt, over once its request is written (DefaultMQProducerImpl.sendOneway).

The broker is noted as having answered at once, so fault latency never learns of a paused one; from 5.3.0 nor of one that
refuses connections, because the connection is made in the background. With a queue of its own see one_way_to_queue, with
a selector direct_send.send_by_selector; neither leaves a trace in the fault table.
"""

from dataclasses import replace

from reference_impl.rules.attempt import Try
from reference_impl.rules.dialect import Dialect
from reference_impl.rules.publish import Queue
from reference_impl.rules.selection import Selector
from reference_impl.rules.send_loop import SendLoop
from reference_impl.rules.settings import SendSettings


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
