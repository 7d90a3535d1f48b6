"""gRPC calls and their attempts, decoded from the bytes of a connection."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hpack import Encoder

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.grpc.call import unary
from rocketdiff.grpc.http2 import PREFACE, FrameKind, frame, grpc_message
from rocketdiff.grpc.messages import SEND_MESSAGE, send_answer
from rocketdiff.grpc.protobuf import bytes_field, varint_field
from rocketdiff.relay.grpc.attempts import grpc_attempts_of
from rocketdiff.relay.grpc.calls import CallReader
from rocketdiff.relay.proxy.listener import Upstream
from rocketdiff.relay.proxy.process import Relay
from rocketdiff.relay.remoting.record import Called, decode_wire, encode_wire, read_wire
from tests.live import PLENTY_MS

MS = 1_000_000
TIMED_OUT = "RemotingTimeoutException"


def _request(send: int) -> bytes:
    own = bytes_field(1, "rocketdiff.id") + bytes_field(2, f"R/T/{send}")
    system = bytes_field(3, f"id-{send}")
    message = bytes_field(1, bytes_field(2, "T")) + bytes_field(2, own) + bytes_field(3, system)
    return grpc_message(bytes_field(1, message))


def _response(code: int) -> bytes:
    status = bytes_field(1, varint_field(1, code))
    entry = status + bytes_field(2, "id") + varint_field(4, 7)
    return grpc_message(status + bytes_field(2, entry))


class Wire:
    """Both ends of one connection, with a reader."""

    def __init__(self) -> None:
        self.reader = CallReader(1, "proxy-1")
        self._client, self._server = Encoder(), Encoder()
        self.calls: list[Called] = list(self.reader.feed("server", PREFACE, 0))

    def ask(self, stream: int, send: int, at_ms: int, path: str = SEND_MESSAGE) -> None:
        block = self._client.encode([(":path", path), ("grpc-timeout", "500m")])
        output = frame(FrameKind.HEADERS, stream, block) + frame(FrameKind.DATA, stream, _request(send), ends=True)
        self._feed("server", output, at_ms)

    def answer(self, stream: int, code: int, at_ms: int, status: int = 0) -> None:
        output = frame(FrameKind.HEADERS, stream, self._server.encode([(":status", "200")]))
        output += frame(FrameKind.DATA, stream, _response(code))
        output += frame(FrameKind.HEADERS, stream, self._server.encode([("grpc-status", str(status))]), ends=True)
        self._feed("client", output, at_ms)

    def reset(self, stream: int, to: str, at_ms: int) -> None:
        self._feed(to, frame(FrameKind.RST_STREAM, stream, b"\0\0\0\x08"), at_ms)

    def close(self, by: str, at_ms: int) -> None:
        self.calls += self.reader.closed(by, at_ms * MS)

    def attempts(self, *sends: Send) -> list[Attempt]:
        returned = {send.send: send for send in sends}
        return grpc_attempts_of(self.calls, "T", returned, {0: 0, 1: 0})

    def _feed(self, to: str, data: bytes, at_ms: int) -> None:
        self.calls += self.reader.feed(to, data, at_ms * MS)


def _send(number: int, start_ms: int, end_ms: int, error: str | None = None) -> Send:
    return Send(number, 0, start_ms * MS, end_ms * MS, error=error)


def _ends(attempts: list[Attempt]) -> Iterator[tuple[int, int, str | None, int | None, str | None]]:
    for made in attempts:
        yield made.start_ns // MS, made.end_ns // MS, made.error, made.code, made.status


def test_a_call_is_one_record_with_all_that_it_was_about() -> None:
    """A call is one record, made at its end and unchanged by the journal; other calls, such as heartbeats, are ignored."""
    wire = Wire()
    wire.ask(3, 0, 8, "/apache.rocketmq.v2.MessagingService/Heartbeat")
    wire.answer(3, 20_000, 9)
    wire.ask(1, 0, 10)
    assert wire.calls == []
    wire.answer(1, 20_000, 12)
    expected = Called(
        1, "proxy-1", 1, 10 * MS, 12 * MS, "answer", timeout_ns=500 * MS, grpc_status=0, code=20_000,
        topic="T", queue_id=0, queue_offset=7, identity="R/T/0", unique_key="id-0",
    )  # fmt: skip
    assert wire.calls == [expected]
    assert decode_wire(encode_wire(expected)) == expected


def test_answers_become_the_records_of_a_hook() -> None:
    """A success, a proxy's code and a bare gRPC status become the ends that a hook would report."""
    wire = Wire()
    wire.ask(1, 0, 10)
    wire.answer(1, 42_900, 12)
    wire.ask(3, 0, 13)
    wire.answer(3, 0, 14, status=14)
    wire.ask(5, 0, 15)
    wire.answer(5, 20_000, 17)
    assert list(_ends(wire.attempts(_send(0, 9, 18)))) == [
        (10, 12, "MQBrokerException", 42_900, None),
        (13, 14, "RemotingSendRequestException", None, None),
        (15, 17, None, None, "SEND_OK"),
    ]


def test_who_gives_a_call_up_decides_how_its_attempt_ends() -> None:
    """A call reset by the client timed out; one reset or closed by the proxy was lost."""
    wire = Wire()
    wire.ask(1, 0, 10)
    wire.reset(1, "server", 510)
    wire.ask(3, 0, 511)
    wire.reset(3, "client", 600)
    wire.ask(5, 0, 601)
    wire.close("server", 700)
    assert list(_ends(wire.attempts(_send(0, 9, 701, "connection-lost")))) == [
        (10, 510, "RemotingTimeoutException", None, None),
        (511, 600, "RemotingSendRequestException", None, None),
        (601, 700, "RemotingSendRequestException", None, None),
    ]


@pytest.mark.parametrize(("answered_ms", "first_end"), [(505, TIMED_OUT), (415, TIMED_OUT), (310, None)])
def test_an_answer_at_the_deadline_is_too_late_where_the_client_went_on(
    answered_ms: int, first_end: str | None
) -> None:
    """If the client went on, an answer after 495 or 405 of 500 ms was too late; after 300 ms it was a success."""
    wire = Wire()
    wire.ask(1, 0, 10)
    wire.answer(1, 20_000, answered_ms)
    wire.ask(3, 0, 511)
    wire.answer(3, 20_000, 513)
    assert [error for _, _, error, _, _ in _ends(wire.attempts(_send(0, 9, 514)))] == [first_end, None]


def test_an_attempt_ends_with_its_call_at_the_latest() -> None:
    """An attempt ends with its call, before the relay sees the reset; other topics are not this arm's."""
    wire = Wire()
    wire.ask(1, 1, 10)
    wire.reset(1, "server", 515)
    assert list(_ends(wire.attempts(_send(1, 9, 512, "timeout")))) == [
        (10, 512, "RemotingTimeoutException", None, None)
    ]
    assert grpc_attempts_of(wire.calls, "other", {}, {0: 0, 1: 0}) == []


def test_a_call_through_the_relay_is_answered_and_recorded(tmp_path: Path) -> None:
    """A relay process records SendMessage calls and only forwards others."""
    encoder = Encoder()
    output = frame(FrameKind.SETTINGS, 0) + frame(FrameKind.HEADERS, 1, encoder.encode([(":status", "200")]))
    output += frame(FrameKind.DATA, 1, _response(20_000))
    output += frame(FrameKind.HEADERS, 1, encoder.encode([("grpc-status", "0")]), ends=True)

    def answer_call(connection: socket.socket) -> None:
        with contextlib.closing(connection), contextlib.suppress(OSError):
            if connection.recv(65_536):  # the relay also connects to see whether the server is there
                connection.sendall(output)
                connection.recv(65_536)

    def serve(listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=answer_call, args=(listener.accept()[0],), daemon=True).start()

    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        upstream = Upstream("proxy-1", f"127.0.0.1:{listener.getsockname()[1]}", is_broker=False, is_grpc=True)
        with Relay((upstream,), tmp_path / "wire.ndjson") as relay:
            for path in (SEND_MESSAGE, "/apache.rocketmq.v2.MessagingService/Heartbeat"):
                answer = send_answer(unary(relay.addresses["proxy-1"], path, _request(0)[5:], PLENTY_MS))
                assert answer.code == 20_000
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
    (call,) = (record for record in read_wire(tmp_path / "wire.ndjson") if isinstance(record, Called))
    assert (call.identity, call.ended_by, call.code, call.queue_offset) == ("R/T/0", "answer", 20_000, 7)
