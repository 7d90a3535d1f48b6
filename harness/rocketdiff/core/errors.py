"""
Errors of the harness. A divergence is data and never appears here.

Every error states what was expected, what was seen and what to do, and has an exit code.
"""

from enum import IntEnum
from typing import Any

from rocketdiff.core.text.quoted import printable


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
    """One message for the user: expectation, observation, remedy."""

    exit_code = ExitCode.INTERNAL

    def __init__(self, expected: str, *, seen: str, hint: str = "") -> None:
        super().__init__(expected, seen, hint)
        self.expected = expected
        self.seen = seen
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        """By default pickle would call the class with ``args`` alone, which the constructors reject."""
        return _made_again, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        """One sentence; foreign text is truncated and its control characters are escaped."""
        parts = [f"expected {printable(self.expected)}", f"saw {printable(self.seen)}"]
        if self.hint:
            parts.append(f"try: {printable(self.hint)}")
        return "; ".join(parts)


def _made_again(kind: type[HarnessError], args: tuple[Any, ...], fields: dict[str, Any]) -> HarnessError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


class UsageError(HarnessError):
    """Unusable input: arguments, scenario, settings, ledger."""

    exit_code = ExitCode.USAGE


class TraceError(HarnessError):
    """A stored run is unreadable or not of the expected form."""

    exit_code = ExitCode.USAGE


class EnvironmentMissing(HarnessError):
    """This machine lacks a JVM, a jar, a port, disk space, a container engine or the like."""

    exit_code = ExitCode.ENVIRONMENT


class ClusterError(HarnessError):
    """The cluster did not reach, or did not keep, the requested state."""

    exit_code = ExitCode.ENVIRONMENT


class FaultNotProven(HarnessError):
    """The effect of a fault or its healing was not proven; measurements under it are invalid."""

    exit_code = ExitCode.INCONCLUSIVE


class SubjectBroken(HarnessError):
    """A subject broke the line protocol, died or stalled. This is a result of the case."""

    exit_code = ExitCode.DIVERGES

    def __init__(self, signature: str, *, expected: str, seen: str, hint: str = "") -> None:
        super().__init__(expected, seen=seen, hint=hint)
        self.signature = signature
