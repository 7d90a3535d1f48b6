"""What one subject has told, as a whole."""

from dataclasses import dataclass, field

from rocketdiff.core.records import Attempt, CalledBackAgain, Done, Hello, Ready, RouteSeen, Send

FAILED_SHOWN = 5
"""Failed sends that a transcript names in a message."""


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
