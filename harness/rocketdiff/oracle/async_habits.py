"""What releases do with callbacks that no application would ask for, as the rules have it."""

from dataclasses import dataclass
from typing import Self

from rocketmq_reference.rules.dialect import Dialect


@dataclass(frozen=True, slots=True)
class AsyncHabits:
    """
    Three ways to surprise an application.

    loses_callbacks: of a failed send to a given queue (4.0.0). most_callbacks: of one whose connection came too late
    (5.3.0 to 5.3.3), which is sent all the same: one more each time that happens. confuses_answers: a request that is made again has the number of the client's next one, so that of the two
    one is never answered, or by the other's answer (to 4.6.1).
    """

    loses_callbacks: bool
    most_callbacks: int = 1
    confuses_answers: bool = False

    @classmethod
    def of(cls, dialect: Dialect, retries: int) -> Self:
        """
        Those of a dialect, with so many retries of an asynchronous send.

        Each of the two ends of a late attempt counts as a failure, so that only every second failure can be another such
        attempt; and to 5.3.1 alone a retry needs no time to be left.
        """
        rules, remoting = dialect.asynchronous, dialect.remoting
        again = 0
        if remoting.late_async_fails_twice:
            again = 1 if rules.needs_time_to_retry else 1 + retries // 2
        return cls(not rules.retries_given_queue, 1 + again, remoting.retry_takes_next_number)


NO_HABITS = AsyncHabits(loses_callbacks=False)
"""Every send is called back once."""
