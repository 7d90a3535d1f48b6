"""A server, and clients of releases."""

from collections.abc import Callable, Iterator

import pytest

from tests.reference_impl.connections.requesting import Client, Echo


@pytest.fixture
def server() -> Iterator[Echo]:
    """A server that echoes, or does not."""
    echo = Echo()
    yield echo
    echo.close()


@pytest.fixture
def client_of() -> Iterator[Callable[[str], Client]]:
    """Makes clients of releases, which are shut down in the end."""
    made: list[Client] = []

    def make(release: str) -> Client:
        made.append(Client(release))
        return made[-1]

    yield make
    for each in made:
        each.shut_down()
