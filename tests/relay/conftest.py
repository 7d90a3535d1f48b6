"""Relays before in-memory and before real brokers."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from tests.reference_impl.fake_broker import FakeCluster
from tests.reference_impl.producers import Remembered
from tests.relay.cpp_on_fakes import Client
from tests.relay.relayed import Relayed, start_relay
from tests.relay.staging import Staging


@pytest.fixture
def relayed(tmp_path: Path) -> Iterator[Relayed]:
    with FakeCluster.of("a", "b") as cluster, start_relay(cluster, tmp_path) as relay:
        yield Relayed(cluster, relay, Remembered())


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with ExitStack() as stack:
        yield Client(tmp_path, stack)


@pytest.fixture
def stage(two_masters: Cluster, tmp_path: Path) -> Iterator[Staging]:
    with ExitStack() as stack:
        yield Staging(two_masters, tmp_path, stack)
