"""Known callback defects of a release."""

from dataclasses import dataclass
from typing import Self

from rocketmq_reference.rules.dialect import Dialect


@dataclass(frozen=True, slots=True)
class AsyncHabits:
    """
    Possible defects of an asynchronous send's callback.

    loses_callbacks: a failed send to a given queue has no callback (4.0.0). most_callbacks: upper bound of the calls if
    a connection came too late and the request is sent all the same; each occurrence adds one (5.3.0 to 5.3.3).
    confuses_answers: a retry has the opaque of the client's next request, so one of the two gets no answer or the
    other's (up to 4.6.1).
    """

    loses_callbacks: bool
    most_callbacks: int = 1
    confuses_answers: bool = False

    @classmethod
    def of(cls, dialect: Dialect, retries: int) -> Self:
        """
        Return the habits of a dialect; retries: configured retries of an asynchronous send.

        A late attempt ends twice, and each end counts as a failure, so only every second failure can be another late
        attempt. Up to 5.3.1 a retry needs no time left.
        """
        rules, remoting = dialect.producer.asynchronous, dialect.client.remoting
        again = 0
        if remoting.late_async_fails_twice:
            again = 1 if rules.needs_time_to_retry else 1 + retries // 2
        return cls(not rules.retries_given_queue, 1 + again, remoting.retry_takes_next_number)


NO_HABITS = AsyncHabits(loses_callbacks=False)
"""Every send is called back once."""
