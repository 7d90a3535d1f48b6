"""A server's unread bytes in kernel tables and real sockets."""

import contextlib
import socket
from pathlib import Path

import pytest

from rocketdiff.cluster.launched.sockets import unread_bytes
from tests.live import await_that

HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def line(port: int, state: str, unread: int) -> str:
    return f"   0: 0100007F:{port:04X} 0100007F:C350 {state} 00000000:{unread:08X} 00:00000000 00000000 0 0 1 1 0\n"


@pytest.mark.parametrize(
    ("rows", "unread"),
    [
        ([(21_000, "01", 100), (21_001, "01", 7)], 100),
        ([(21_000, "08", 33), (21_000, "0A", 2), (21_000, "06", 5), (21_000, "09", 9)], 35),
    ],
    ids=["the given ports only", "also closed by the client, because the server will store them"],
)
def test_unread_bytes_of_a_port_are_counted(tmp_path: Path, rows: list[tuple[int, str, int]], unread: int) -> None:
    """Unread bytes of the given ports count, also those of connections that the client closed."""
    table = tmp_path / "tcp"
    table.write_text(HEADER + "".join(line(*row) for row in rows))
    assert unread_bytes({21_000}, table) == unread


def test_a_real_server_that_does_not_read() -> None:
    """An unaccepted connection counts at least one, an accepted one its unread bytes."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(contextlib.closing(socket.create_server(("127.0.0.1", 0))))
        port = server.getsockname()[1]
        client = stack.enter_context(contextlib.closing(socket.create_connection(("127.0.0.1", port))))
        client.sendall(b"12345")
        assert unread_bytes({port}) >= 1
        accepted = stack.enter_context(contextlib.closing(server.accept()[0]))
        await_that(lambda: unread_bytes({port}) == 5)
        accepted.recv(5)
        assert unread_bytes({port}) == 0
