"""One unary gRPC call on its own connection, for probes."""

import contextlib
import socket
import time

from hpack import Encoder

from rocketdiff.grpc.http2 import (
    PREFACE,
    Data,
    FrameKind,
    FrameReader,
    GoAway,
    Headers,
    Ping,
    Settings,
    StreamReset,
    frame,
    grpc_message,
    grpc_messages,
)

_STREAM = 1
_READ_BYTES = 65_536


class CallFailed(Exception):
    """The call had no response. refused: no connection was made. silent: nothing arrived in time."""

    def __init__(self, why: str, *, refused: bool = False, silent: bool = False) -> None:
        super().__init__(why)
        self.refused = refused
        self.silent = silent


def unary(address: str, path: str, request: bytes, timeout_ms: float, metadata: dict[str, str] | None = None) -> bytes:
    """Return the response message of one call; raise CallFailed."""
    deadline = time.monotonic() + timeout_ms / 1_000
    host, _, port = address.rpartition(":")
    try:
        connection = socket.create_connection((host, int(port)), timeout_ms / 1_000)
    except TimeoutError as error:
        raise CallFailed(f"{address} accepts no connection", silent=True) from error
    except OSError as error:
        raise CallFailed(f"{address}: {error.strerror or error}", refused=True) from error
    with contextlib.closing(connection):
        try:
            connection.sendall(_opening(address, path, request, metadata or {}))
            return _response(connection, address, deadline)
        except TimeoutError as error:
            raise CallFailed(f"{address} does not answer within {timeout_ms:g} ms", silent=True) from error
        except (OSError, ValueError) as error:
            raise CallFailed(f"{address}: {error}") from error


def _opening(address: str, path: str, request: bytes, metadata: dict[str, str]) -> bytes:
    headers = {":method": "POST", ":scheme": "http", ":path": path, ":authority": address}
    headers |= {"te": "trailers", "content-type": "application/grpc", **metadata}
    block = Encoder().encode(list(headers.items()))
    return (
        PREFACE
        + frame(FrameKind.SETTINGS, 0)
        + frame(FrameKind.HEADERS, _STREAM, block)
        + frame(FrameKind.DATA, _STREAM, grpc_message(request), ends=True)
    )


def _response(connection: socket.socket, address: str, deadline: float) -> bytes:
    reader, body = FrameReader(from_client=False), bytearray()
    while True:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        connection.settimeout(left_s)
        received = connection.recv(_READ_BYTES)
        if not received:
            raise CallFailed(f"{address} closed the connection")
        for event in reader.feed(received):
            match event:
                case Settings():
                    connection.sendall(frame(FrameKind.SETTINGS, 0, acknowledges=True))
                case Ping(content):
                    connection.sendall(frame(FrameKind.PING, 0, content, acknowledges=True))
                case Data(_, content, _):
                    body += content
                case Headers(_, values, True):
                    return _message(values, bytes(body), address)
                case StreamReset(_, code) | GoAway(_, code):
                    raise CallFailed(f"{address} gave the call up (HTTP/2 error {code})")


def _message(trailers: dict[str, str], body: bytes, address: str) -> bytes:
    status = trailers.get("grpc-status", "none")
    message = next(grpc_messages(body), None)
    if status != "0" or message is None:
        raise CallFailed(f"{address} answered with gRPC status {status}: {trailers.get('grpc-message', '')}")
    return message
