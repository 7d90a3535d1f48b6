"""How grave a change is for the owner of a client."""

from collections.abc import Mapping

from rocketdiff.core.tables.checks import Concern
from rocketdiff.simulation.comparison import Compared, Outcome, OutcomeDifference

_CONCERNS: Mapping[Compared, Concern] = {
    Compared.ORDER: Concern.MESSAGES,
    Compared.ATTEMPT_OUTCOME: Concern.MESSAGES,
    Compared.ATTEMPTS: Concern.MESSAGES,
    Compared.CALLBACKS: Concern.MESSAGES,
    Compared.OFFSETS: Concern.MESSAGES,
    Compared.PROCESS: Concern.MESSAGES,
    Compared.RESULT: Concern.EXCEPTIONS,
    Compared.STATUS: Concern.EXCEPTIONS,
    Compared.EXCEPTION: Concern.EXCEPTIONS,
    Compared.CODE: Concern.EXCEPTIONS,
    Compared.CAUSE: Concern.EXCEPTIONS,
    Compared.ATTEMPT_CODE: Concern.EXCEPTIONS,
    Compared.ATTEMPT_TIMEOUT: Concern.WAITING,
    Compared.ELAPSED: Concern.WAITING,
    Compared.ATTEMPT_ELAPSED: Concern.WAITING,
    Compared.CLOCK: Concern.WAITING,
    Compared.CONNECTIONS: Concern.BROKERS,
    Compared.ATTEMPT_PORT: Concern.BROKERS,
    Compared.FAULTS: Concern.BROKERS,
}
"""By kind of the first difference; any other kind is a choice of queues."""

_OF_OUTCOMES: Mapping[Outcome, Concern] = {
    Outcome.START: Concern.EXCEPTIONS,
    Outcome.MESSAGES: Concern.MESSAGES,
    Outcome.WAITING: Concern.WAITING,
    Outcome.QUEUES: Concern.QUEUES,
    Outcome.REQUESTS: Concern.BROKERS,
}


def concern_of(compared: Compared, outcome: OutcomeDifference | None) -> Concern:
    """Return the concern of a change: of its outcome, if the answers are a member's, else of what differs first."""
    return _CONCERNS.get(compared, Concern.QUEUES) if outcome is None else _OF_OUTCOMES[outcome.outcome]
