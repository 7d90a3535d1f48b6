"""A cluster of two scriptable brokers, a and b."""

from collections.abc import Iterator

import pytest

from tests.reference_impl.fake_broker import FakeCluster


@pytest.fixture
def cluster() -> Iterator[FakeCluster]:
    with FakeCluster.of("a", "b") as running:
        yield running
