"""An engine for the tests that start containers; without one, or without a base for images, they skip and say why."""

import os
from collections.abc import Iterator

import pytest

from rocketdiff.cluster.containers.engine import Engine
from tests.cluster.containers.engines import engine_or_skip


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    yield from engine_or_skip()


@pytest.fixture
def engine_socket(engine: Engine) -> str:
    """Where the engine listens, for a test that comes between; only a Unix socket will do."""
    address = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if not address.startswith("unix://"):
        pytest.skip(f"the engine is not on a Unix socket but at {address}")
    return address.removeprefix("unix://")
