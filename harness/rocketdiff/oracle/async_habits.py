"""Known defects of a release's callbacks, derived from its rules."""

from dataclasses import dataclass
from typing import Self

from rocketmq_reference.rules.dialect import Dialect


@dataclass(frozen=True, slots=True)
class AsyncHabits:
    """
    Possible defects of an asynchronous send's callback.

    loses_callbacks: a failed send to a given queue has no callback (4.0.0). most_callbacks: upper bound of callback
    calls of a send whose connection came too late and which is sent all the same (5.3.0 to 5.3.3); each occurrence adds
    one. confuses_answers: a retried request has the opaque of the client's next request, so one of the two is never
    answered, or gets the other's answer (up to 4.6.1).
    """

    loses_callbacks: bool
    most_callbacks: int = 1
    confuses_answers: bool = False

    @classmethod
    def of(cls, dialect: Dialect, retries: int) -> Self:
        """
        Return the habits of a dialect; retries: configured retries of an asynchronous send.

        Each of the two ends of a late attempt counts as a failure, so only every second failure can be another late
        attempt. Only up to 5.3.1 a retry needs no time left.
        """
        rules, remoting = dialect.asynchronous, dialect.remoting
        again = 0
        if remoting.late_async_fails_twice:
            again = 1 if rules.needs_time_to_retry else 1 + retries // 2
        return cls(not rules.retries_given_queue, 1 + again, remoting.retry_takes_next_number)


NO_HABITS = AsyncHabits(loses_callbacks=False)
"""Every send is called back once."""
