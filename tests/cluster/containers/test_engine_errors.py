"""Engine errors become harness errors that state the root cause."""

import pytest

from rocketdiff.cluster.containers.engine import engine_errors
from rocketdiff.core.errors import EnvironmentMissing


def test_the_message_states_the_innermost_cause() -> None:
    """The message states the innermost cause."""
    error = OSError("sending failed")
    error.__cause__ = ConnectionRefusedError(111, "Connection refused")
    with pytest.raises(EnvironmentMissing, match="saw Connection refused"), engine_errors("an answer"):
        raise error


def test_errors_that_lead_back_into_themselves_come_to_an_end() -> None:
    """The search for the root cause ends at a cycle of causes."""
    alone, one, other = OSError("alone"), OSError("one"), OSError("other")
    alone.__cause__, one.__cause__, other.__cause__ = alone, other, one
    for error in (alone, one):
        with pytest.raises(EnvironmentMissing, match="an answer"), engine_errors("an answer"):
            raise error
