"""An exception of the Java client, on its way through the actors of the simulation."""

from rocketmq_reference.rules.producer.attempt import AttemptResult, ErrorFamily, family_of


class Thrown(Exception):
    """What was thrown: simple name of its class, its response code, and the class of its cause, if there is one."""

    def __init__(self, error: str, code: int | None = None, cause: str | None = None) -> None:
        super().__init__(error, code, cause)
        self.error = error
        self.code = code
        self.cause = cause

    @property
    def is_remoting(self) -> bool:
        """Whether it belongs to the family of RemotingException."""
        return family_of(self.error) is ErrorFamily.REMOTING

    @property
    def result(self) -> AttemptResult:
        """As the rules are told of it."""
        return AttemptResult.failed(self.error, self.code)
