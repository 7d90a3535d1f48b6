"""What one subject has told, as a whole: to the runner, or to whoever reads its journal."""

from dataclasses import dataclass, field

from rocketdiff.core.sends.records import (
    Attempt,
    CalledBackAgain,
    Done,
    Hello,
    Ready,
    Record,
    RouteSeen,
    Send,
    SubjectFailed,
)
from rocketdiff.core.text.plain_text import plain_line

FAILED_SHOWN = 5
"""Failed sends that a transcript names in a message."""


WORDS_CHARACTERS = 1_000
"""How much of what a subject says of its own failure is kept: the first lines of a stack trace."""


def words_of(failure: SubjectFailed) -> str:
    """What a subject says of its own failure, in one line."""
    return plain_line(f"{failure.stage}: {failure.message}", WORDS_CHARACTERS)


@dataclass(slots=True)
class Transcript:
    """Every record of a subject, by kind, in the order it was said."""

    hello: Hello | None = None
    ready: Ready | None = None
    routes: list[RouteSeen] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    sends: list[Send] = field(default_factory=list)
    again: list[CalledBackAgain] = field(default_factory=list)
    done: Done | None = None
    failure: str | None = None

    def keep(self, record: Record) -> None:
        """File one record under its kind; of hello the first one, of the others that come once the last."""
        match record:
            case Hello():
                self.hello = self.hello or record
            case Ready():
                self.ready = record
            case RouteSeen():
                self.routes.append(record)
            case Attempt():
                self.attempts.append(record)
            case Send():
                self.sends.append(record)
            case CalledBackAgain():
                self.again.append(record)
            case Done():
                self.done = record
            case SubjectFailed():
                self.failure = words_of(record)

    @property
    def failed(self) -> tuple[Send, ...]:
        """The sends that ended with an error."""
        return tuple(send for send in self.sends if send.error is not None)

    def __repr__(self) -> str:
        """As a failed assertion shows it: how many, and which of them failed how."""
        told = [
            f"send {send.send} with {send.error} after {(send.end_ns - send.start_ns) / 1e6:,.0f} ms"
            for send in self.failed[:FAILED_SHOWN]
        ]
        more = [f"{len(self.failed) - len(told)} more"] if len(self.failed) > len(told) else []
        return f"<{len(self.sends)} sends, {len(self.failed)} failed{': ' * bool(told)}{', '.join(told + more)}>"
