"""One unary call against a small server."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import pytest
from hpack import Encoder

from rocketdiff.grpc.call import CallFailed, unary
from rocketdiff.grpc.http2 import FrameKind, frame, grpc_message


@contextlib.contextmanager
def _server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with contextlib.closing(connection), contextlib.suppress(OSError):
                connection.recv(65_536)
                answer(connection)
                connection.recv(65_536)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


def _answer(status: str, *message: bytes) -> bytes:
    encoder = Encoder()
    headers = frame(FrameKind.HEADERS, 1, encoder.encode([(":status", "200")]))
    body = b"".join(frame(FrameKind.DATA, 1, grpc_message(each)) for each in message)
    trailers = encoder.encode([("grpc-status", status), ("grpc-message", "why")])
    return frame(FrameKind.SETTINGS, 0) + headers + body + frame(FrameKind.HEADERS, 1, trailers, ends=True)


def test_a_response_is_returned() -> None:
    """A call returns the response's message."""
    with _server(lambda connection: connection.sendall(_answer("0", b"said"))) as address:
        assert unary(address, "/a/B", b"asked", 5_000) == b"said"


def test_a_status_that_is_no_success_is_a_failure_with_its_text() -> None:
    """A status other than success fails with its text (UNIMPLEMENTED is 12)."""
    with (
        _server(lambda connection: connection.sendall(_answer("12"))) as address,
        pytest.raises(CallFailed, match="12: why"),
    ):
        unary(address, "/a/B", b"asked", 5_000)


def test_silence_and_a_refused_connection_are_distinguished() -> None:
    """A silent server and a refused connection are distinguished, as a probe needs."""
    with _server(lambda _: None) as address, pytest.raises(CallFailed) as silence:
        unary(address, "/a/B", b"asked", 50)
    with contextlib.closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))  # bound, and not listening
        with pytest.raises(CallFailed) as refusal:
            unary(f"127.0.0.1:{unused.getsockname()[1]}", "/a/B", b"asked", 5_000)
    assert (silence.value.silent, silence.value.refused) == (True, False)
    assert (refusal.value.silent, refusal.value.refused) == (False, True)
