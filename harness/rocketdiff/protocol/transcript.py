"""All records of one subject, for the runner and for readers of its journal."""

from dataclasses import dataclass, field

from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import Attempt, CalledBackAgain, RouteSeen, Send
from rocketdiff.core.records.session import Done, Hello, Ready, SubjectFailed
from rocketdiff.core.text.plain_text import plain_line

FAILED_SHOWN = 5
"""Failed sends listed in a message."""


WORDS_CHARACTERS = 1_000
"""Kept length of a subject's failure message: the first lines of a stack trace."""


def words_of(failure: SubjectFailed) -> str:
    """Return a subject's failure message on one line."""
    return plain_line(f"{failure.stage}: {failure.message}", WORDS_CHARACTERS)


@dataclass(slots=True)
class Transcript:
    """Every record of a subject, by kind, in order of arrival. others: those of roles without a list of their own."""

    hello: Hello | None = None
    ready: Ready | None = None
    routes: list[RouteSeen] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    sends: list[Send] = field(default_factory=list)
    again: list[CalledBackAgain] = field(default_factory=list)
    others: dict[type[Record], list[Record]] = field(default_factory=dict)
    done: Done | None = None
    failure: str | None = None

    def keep(self, record: Record) -> None:
        """Store one record: the first hello, the last ready, done and failure, and all others."""
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
            case _:
                self.others.setdefault(type(record), []).append(record)

    @property
    def failed(self) -> tuple[Send, ...]:
        return tuple(send for send in self.sends if send.error is not None)

    def __repr__(self) -> str:
        """Shown in a failed assertion: number of sends, and how the first failed ones ended."""
        shown = [
            f"send {send.send} with {send.error} after {(send.end_ns - send.start_ns) / 1e6:,.0f} ms"
            for send in self.failed[:FAILED_SHOWN]
        ]
        more = [f"{len(self.failed) - len(shown)} more"] if len(self.failed) > len(shown) else []
        return f"<{len(self.sends)} sends, {len(self.failed)} failed{': ' * bool(shown)}{', '.join(shown + more)}>"
