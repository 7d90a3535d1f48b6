"""What releases do differently with an asynchronous send (DefaultMQProducerImpl, MQClientAPIImpl), generations A1–A12."""

from dataclasses import dataclass
from enum import StrEnum


class AsyncThread(StrEnum):
    """
    Where an asynchronous send selects its queue and hands its request over.

    CALLER: in the application's thread (to 4.2.0). CALLBACKS: in the pool that also runs the callbacks (4.3.x). OWN: in a
    pool of its own (from 4.4.0). Each thread has its own counter, so this decides which queue is chosen.
    """

    CALLER = "caller"
    CALLBACKS = "callbacks"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class AsyncRules:
    """
    Asynchronous sends of a release.

    runs_on: where the send runs; in CALLER what goes wrong at once is thrown, otherwise the callback gets it.
    retries_given_queue: a queue given by the application is tried again (from 4.1.0); in 4.0.0 that ends in a
    NullPointerException, and the callback is never called (ROCKETMQ-101). retry_has_time_left: a retry has what is left
    of the time, which after a timeout is less than nothing (from 4.7.0); otherwise none at all, and so at least the
    second until the next scan. thrown_is_retried: whatever the request throws when it is handed over isolates its broker
    and is retried, the first attempt included (from 4.9.3). unwraps_failures: a failure arrives as itself and not inside
    a CompletionException (from 5.3.2). needs_time_to_retry: no time left, no retry (from 5.3.2).
    """

    runs_on: AsyncThread
    retries_given_queue: bool
    retry_has_time_left: bool
    thrown_is_retried: bool
    unwraps_failures: bool
    needs_time_to_retry: bool
