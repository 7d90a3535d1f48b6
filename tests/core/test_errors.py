"""Errors between processes."""

import pickle

import pytest

from rocketdiff.core.errors import ClusterError, HarnessError, SubjectBroken, UsageError


@pytest.mark.parametrize(
    "error",
    [
        UsageError("a number", seen="text", hint="write 1"),
        ClusterError("an answer", seen="none"),
        SubjectBroken("protocol.died", expected="life", seen="death"),
    ],
)
def test_an_error_travels_between_processes(error: HarnessError) -> None:
    """A pickled error keeps its class, sentence and attributes."""
    arrived = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert (type(arrived), str(arrived), vars(arrived)) == (type(error), str(error), vars(error))
