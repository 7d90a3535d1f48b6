"""When a command that makes many runs or cases, one after another, gives up."""

from collections.abc import Sequence

FAILURES_IN_A_ROW = 3
"""Stop after this many failures in a row: the machine does not work, and a rate measured on it would mean nothing."""


def is_hopeless(failed: Sequence[bool]) -> bool:
    """True if the last ``FAILURES_IN_A_ROW`` failed; ``failed``: whether each did, in order."""
    return len(failed) >= FAILURES_IN_A_ROW and all(failed[-FAILURES_IN_A_ROW:])
