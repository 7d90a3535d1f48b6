"""A server, and clients of given releases."""

from collections.abc import Callable, Iterator

import pytest

from tests.reference_impl.host.requesting import Client, Echo


@pytest.fixture
def server() -> Iterator[Echo]:
    echo = Echo()
    yield echo
    echo.close()


@pytest.fixture
def client_of() -> Iterator[Callable[[str], Client]]:
    """Create clients by release; they are shut down after the test."""
    made: list[Client] = []

    def make(release: str) -> Client:
        made.append(Client(release))
        return made[-1]

    yield make
    for each in made:
        each.shut_down()
