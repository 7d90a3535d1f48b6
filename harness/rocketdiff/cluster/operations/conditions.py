"""Waiting for a named condition, with a deadline and evidence on failure."""

import time
from collections.abc import Callable

from rocketdiff.core.errors import ClusterError

POLL_INTERVAL_S = 0.005
_LATE = 1 / 20
_LATEST_S = 0.1
"""
Polling intervals: 5 ms at first, then 1/20 of the time waited, at most 0.1 s.

Hundreds of polls per second would take the cores that starting servers need.
"""


def await_condition(
    name: str,
    observe: Callable[[], str | None],
    timeout_s: float,
    *,
    evidence: Callable[[], str] | None = None,
    hint: str = "",
    poll_interval_s: float = POLL_INTERVAL_S,
) -> None:
    """
    Poll ``observe`` until it returns None, which means that the condition holds; a text is what is missing.

    Raises ClusterError after ``timeout_s`` seconds, with the last missing text, the evidence and the hint.
    """
    begin = time.monotonic()
    while (missing := observe()) is not None:
        waited_s = time.monotonic() - begin
        if waited_s >= timeout_s:
            raise ClusterError(f"{name} within {timeout_s:g} s", seen=_with(missing, evidence), hint=hint)
        time.sleep(max(poll_interval_s, min(waited_s * _LATE, _LATEST_S)))


def _with(missing: str, evidence: Callable[[], str] | None) -> str:
    more = evidence() if evidence is not None else ""
    return f"{missing}\n{more}" if more else missing
