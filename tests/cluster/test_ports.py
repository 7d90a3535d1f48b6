"""Choice of ports that no other program has or gets."""

import contextlib
import itertools
import random
import socket
from collections.abc import Callable, Iterator

import pytest

from rocketdiff.cluster.launched.ports import BROKER_PORTS, NAME_SERVER_PORTS, reserve_free, reserve_given
from rocketdiff.core.errors import EnvironmentMissing, UsageError


@contextlib.contextmanager
def listening() -> Iterator[int]:
    """A port with a server."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


def drawing(*first: int) -> Callable[[int, int], int]:
    """Draws these ports, then random ones, because any other may be taken."""
    draws = itertools.chain(first)
    return lambda lowest, highest: next(draws, None) or random.randint(lowest, highest)


def test_a_reserved_port_is_not_given_twice() -> None:
    """A reserved port is not given to a second caller, which draws again."""
    first = reserve_free(NAME_SERVER_PORTS)
    second = reserve_free(NAME_SERVER_PORTS, drawing(first.port, first.port))
    assert second.port != first.port
    first.release()
    second.release()


def test_a_released_port_may_be_reserved_again() -> None:
    """A released port can be reserved again."""
    first = reserve_free(BROKER_PORTS)
    first.release()
    first.release()
    again = reserve_given(first.port, BROKER_PORTS, "broker-a")
    assert again.port == first.port
    again.release()


def test_the_ports_beside_a_brokers_are_reserved_too() -> None:
    """A broker reserves its port, two below and one above, where it listens."""
    broker = reserve_free(BROKER_PORTS)
    for offset in (-2, 1):
        with pytest.raises(EnvironmentMissing):
            reserve_given(broker.port + offset, NAME_SERVER_PORTS, "name-server-1")
    broker.release()


def test_a_port_with_a_server_is_passed_over() -> None:
    """A port is skipped if it or one beside it is taken."""
    with listening() as taken:
        passed_over = taken, taken - 1, taken + 2
        reserved = reserve_free(BROKER_PORTS, drawing(*passed_over))
    assert reserved.port not in passed_over
    reserved.release()


def test_a_taken_port_that_the_user_chose_is_one_clear_message() -> None:
    """A taken port chosen by the user is one message with node and remedy."""
    with listening() as taken, pytest.raises(EnvironmentMissing) as raised:
        reserve_given(taken, NAME_SERVER_PORTS, "name-server-1")
    assert str(raised.value).startswith(
        f"expected port {taken} to be free for the name-server-1; saw address already in use"
    )
    assert f"sport = :{taken}" in raised.value.hint


@pytest.mark.parametrize("port", [0, -1, 65_536])
def test_a_number_that_is_no_port_is_refused(port: int) -> None:
    """A number outside the port range is a usage error."""
    with pytest.raises(UsageError):
        reserve_given(port, NAME_SERVER_PORTS, "name-server-1")


def test_a_machine_without_free_ports_is_reported() -> None:
    """A machine without free ports is an error after many draws."""
    with listening() as taken, pytest.raises(EnvironmentMissing, match="free ports"):
        reserve_free(NAME_SERVER_PORTS, lambda *_: taken)
