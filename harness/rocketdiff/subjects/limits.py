"""Deadlines and output bounds of a subject of any role, each with its reason."""

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Deadlines:
    """
    In seconds; a subject that exceeds one has stalled.

    hello_s: a JVM needs 0.2 s, a Python program 0.4 s; machines may be ten times slower, and first starts read a cold disk.
    ready_s: warm-up takes 1 to 2 s; its operations may each take 5 s on a cluster that has just started.
    margin_s: time of an operation beyond what the settings explain (garbage collection, an overloaded machine).
    done_s: only done is missing after the last answer; records are flushed within 20 ms.
    read_s: a subject reads its commands all the time; the pipe buffers another 64 KiB.
    exit_s: the Java driver halts at most 0.7 s after stop.
    """

    hello_s: float = 30.0
    ready_s: float = 60.0
    margin_s: float = 5.0
    done_s: float = 5.0
    read_s: float = 30.0
    exit_s: float = 2.0


_A_DAY_S = 86_400.0

LIFTED = Deadlines(*[_A_DAY_S] * 6)
"""For a program that its author may hold at a breakpoint."""


@dataclass(frozen=True, slots=True)
class OutputBounds:
    """
    Bytes; a subject that writes more breaks the protocol (``too-much``) and is ended.

    output_bytes: of records; a role adds what its plan needs. stderr_bytes: a stack trace of 5 KB for each of 13,000
    attempts.
    """

    output_bytes: int = 32 * MIB
    stderr_bytes: int = 64 * MIB
