"""Ports of the relay: exclusive, and refusing while nobody listens."""

import socket

import pytest

from rocketdiff.relay.proxy.listener import bound_socket, listening_socket


def test_a_port_is_held_by_one_relay_only() -> None:
    """No other relay can bind the port, not even to share it."""
    with bound_socket(0) as holder, pytest.raises(OSError, match="in use"):
        bound_socket(holder.getsockname()[1])


def test_a_held_port_refuses_until_somebody_listens_beside() -> None:
    """A bound port refuses like a dead server, before and after somebody listens."""
    with bound_socket(0) as holder:
        address = holder.getsockname()
        for _ in range(2):
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(address)
            with listening_socket(holder) as listener:
                listener.listen()
                socket.create_connection(address).close()
