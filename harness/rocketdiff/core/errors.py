"""
What can go wrong on our side of the line; a divergence is data and never appears here.

Every error says what was expected, what was seen and what to do, and knows the exit code of the command line.
"""

from enum import IntEnum
from typing import Any

from rocketdiff.core.text.quoted import plain


class ExitCode(IntEnum):
    """Exit codes of every rocketdiff command."""

    CONFORMS = 0
    DIVERGES = 1
    INCONCLUSIVE = 2
    STALE_LEDGER = 3
    USAGE = 4
    NOTHING_DECISIVE = 5
    ENVIRONMENT = 69
    INTERNAL = 70


class HarnessError(Exception):
    """One clear message for the user: expectation, observation, remedy."""

    exit_code = ExitCode.INTERNAL

    def __init__(self, expected: str, *, seen: str, hint: str = "") -> None:
        super().__init__(expected, seen, hint)
        self.expected = expected
        self.seen = seen
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        """As pickle shall make it again: it would call the class with ``args`` alone, which none of these takes."""
        return _made_again, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        """One sentence; what others have put into it is cut and has no control characters."""
        parts = [f"expected {plain(self.expected)}", f"saw {plain(self.seen)}"]
        if self.hint:
            parts.append(f"try: {plain(self.hint)}")
        return "; ".join(parts)


def _made_again(kind: type[HarnessError], args: tuple[Any, ...], fields: dict[str, Any]) -> HarnessError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


class UsageError(HarnessError):
    """The user's input (arguments, scenario, settings, ledger) cannot be used."""

    exit_code = ExitCode.USAGE


class TraceError(HarnessError):
    """A stored run cannot be read as what it claims to be."""

    exit_code = ExitCode.USAGE


class EnvironmentMissing(HarnessError):
    """Something this machine should provide is missing: a JVM, a jar, a port, disk space, a container engine."""

    exit_code = ExitCode.ENVIRONMENT


class ClusterError(HarnessError):
    """The cluster did not reach, or did not keep, the state that was asked for."""

    exit_code = ExitCode.ENVIRONMENT


class FaultNotProven(HarnessError):
    """A fault was injected or healed but its effect could not be shown; what was measured under it is invalid."""

    exit_code = ExitCode.INCONCLUSIVE


class SubjectBroken(HarnessError):
    """A subject broke the line protocol, died or stalled: a result of the case; raised to its runner, and by the codec of its lines."""

    exit_code = ExitCode.DIVERGES

    def __init__(self, signature: str, *, expected: str, seen: str, hint: str = "") -> None:
        super().__init__(expected, seen=seen, hint=hint)
        self.signature = signature
