"""Two brokers, a and b, that do as they are told."""

from collections.abc import Iterator

import pytest

from tests.reference_impl.fake_broker import FakeCluster


@pytest.fixture
def cluster() -> Iterator[FakeCluster]:
    with FakeCluster.of("a", "b") as running:
        yield running
