"""Without an engine or a base image, container tests skip with the reason."""

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
    """Path of the engine's Unix socket; else skip."""
    address = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if not address.startswith("unix://"):
        pytest.skip(f"the engine is not on a Unix socket but at {address}")
    return address.removeprefix("unix://")
