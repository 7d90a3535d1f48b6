"""Waiting for a named condition."""

import pytest

from rocketdiff.cluster.operations.conditions import await_condition
from rocketdiff.core.errors import ClusterError


def test_it_asks_until_nothing_is_missing() -> None:
    """The wait ends when nothing is missing."""
    answers = iter(["not yet", "nearly", None])
    await_condition("the thing", lambda: next(answers), 5.0, poll_interval_s=0)
    assert next(answers, "exhausted") == "exhausted"


def test_a_timeout_states_the_missing_condition() -> None:
    """A timeout states what was missing, the evidence and the hint."""
    with pytest.raises(ClusterError) as raised:
        await_condition("the thing", lambda: "two are missing", 0.0, evidence=lambda: "last log line", hint="wait")
    assert str(raised.value) == "expected the thing within 0 s; saw two are missing\nlast log line; try: wait"


def test_an_error_while_looking_ends_the_wait() -> None:
    """An error during a check ends the wait: an ended server will not answer."""

    def look() -> str | None:
        raise ClusterError("a living server", seen="a dead one")

    with pytest.raises(ClusterError, match="a dead one"):
        await_condition("the thing", look, 5.0)
