"""Waiting for something that has a name, with a deadline, and evidence when it does not come."""

import time
from collections.abc import Callable

from rocketdiff.core.errors import ClusterError

# A poll costs one request on loopback (well under a millisecond of work); readiness that is seen 5 ms late is no loss.
POLL_INTERVAL_S = 0.005


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
    Ask ``observe`` until it answers None, which means that the condition holds; a text says what is still missing.

    Raises ClusterError after ``timeout_s`` seconds, with what was missing last, the evidence and the hint.
    """
    deadline = time.monotonic() + timeout_s
    while (missing := observe()) is not None:
        if time.monotonic() >= deadline:
            raise ClusterError(f"{name} within {timeout_s:g} s", seen=_with(missing, evidence), hint=hint)
        time.sleep(poll_interval_s)


def _with(missing: str, evidence: Callable[[], str] | None) -> str:
    more = evidence() if evidence is not None else ""
    return f"{missing}\n{more}" if more else missing
