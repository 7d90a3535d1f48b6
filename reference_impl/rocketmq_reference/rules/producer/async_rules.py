"""Differences between releases in asynchronous sends (DefaultMQProducerImpl, MQClientAPIImpl), generations A1–A12."""

from dataclasses import dataclass
from enum import StrEnum


class AsyncThread(StrEnum):
    """
    Where an asynchronous send selects its queue and hands its request to remoting.

    CALLER: in the application's thread (to 4.2.0). CALLBACKS: in the pool that also runs the callbacks (4.3.x). OWN: in a
    separate pool (from 4.4.0). Each thread has its own counter, so this decides which queue is selected.
    """

    CALLER = "caller"
    CALLBACKS = "callbacks"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class AsyncRules:
    """Asynchronous sends of a release."""

    runs_on: AsyncThread
    """Where the send runs; with CALLER an immediate failure is thrown, otherwise the callback gets it."""
    retries_given_queue: bool
    """
    A queue given by the application is tried again (from 4.1.0); in 4.0.0 the retry ends in a NullPointerException,
    and the callback is never called (ROCKETMQ-101).
    """
    retry_has_time_left: bool
    """
    A retry has the rest of the timeout, which is negative after a timeout (from 4.7.0); before, its timeout is 0,
    so it has the time until a scan ends it, at least the grace of 1 s.
    """
    thrown_is_retried: bool
    """
    Any exception of the hand-over to remoting isolates the broker and is retried, also in the first attempt (from
    4.9.3).
    """
    unwraps_failures: bool
    """A failure is not wrapped in a CompletionException (from 5.3.2)."""
    needs_time_to_retry: bool
    """No retry without time left (from 5.3.2)."""
