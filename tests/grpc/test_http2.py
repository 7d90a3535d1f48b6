"""HTTP/2 frames read from bytes."""

import pytest
from hpack import Encoder

from rocketdiff.grpc.http2 import (
    PREFACE,
    Data,
    Event,
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


def _events(data: bytes, *, from_client: bool = False, at_a_time: int = 10_000) -> list[Event]:
    reader = FrameReader(from_client=from_client)
    pieces = (data[at : at + at_a_time] for at in range(0, len(data), at_a_time))
    return [event for piece in pieces for event in reader.feed(piece)]


def test_a_request_is_its_headers_and_its_data() -> None:
    """A request is read as headers and data, even in pieces of one byte."""
    block = Encoder().encode([(":path", "/a/B"), ("te", "trailers")])
    output = PREFACE + frame(FrameKind.SETTINGS, 0) + frame(FrameKind.HEADERS, 1, block)
    output += frame(FrameKind.DATA, 1, b"body", ends=True)
    assert _events(output, from_client=True, at_a_time=1) == [
        Settings(),
        Headers(1, {":path": "/a/B", "te": "trailers"}, ends=False),
        Data(1, b"body", ends=True),
    ]


def test_a_header_block_may_be_continued() -> None:
    """A header block may continue in further frames and is complete with the last."""
    block = Encoder().encode([("grpc-status", "0")])
    first = b"\x00\x00\x01\x01\x01\x00\x00\x00\x01" + block[:1]  # HEADERS with END_STREAM and without END_HEADERS
    rest = block[1:]
    last = len(rest).to_bytes(3) + b"\x09\x04\x00\x00\x00\x01" + rest  # CONTINUATION with END_HEADERS
    assert _events(first + last) == [Headers(1, {"grpc-status": "0"}, ends=True)]


def test_headers_are_decoded_with_the_table_of_their_connection() -> None:
    """Header blocks share their connection's table: the second refers to the first."""
    encoder = Encoder()
    blocks = [encoder.encode([("x-own", "a long value of its own")]) for _ in range(2)]
    output = b"".join(
        frame(FrameKind.HEADERS, stream, block, ends=True) for stream, block in zip((1, 3), blocks, strict=True)
    )
    assert len(blocks[1]) < len(blocks[0])
    assert [event.values for event in _events(output) if isinstance(event, Headers)] == [
        {"x-own": "a long value of its own"}
    ] * 2


def test_padding_is_no_data() -> None:
    """Padding of a DATA frame is not part of its data."""
    assert _events(b"\x00\x00\x05\x00\x08\x00\x00\x00\x01\x02ab\x00\x00") == [Data(1, b"ab", ends=False)]


def test_ends_of_streams_and_connections_are_events() -> None:
    """RST_STREAM (CANCEL is 8), GOAWAY and PING are events; a PING's acknowledgement is none."""
    output = frame(FrameKind.RST_STREAM, 3, b"\x00\x00\x00\x08")
    output += frame(FrameKind.GOAWAY, 0, b"\x00\x00\x00\x05\x00\x00\x00\x00")
    output += frame(FrameKind.PING, 0, b"01234567") + frame(FrameKind.PING, 0, b"01234567", acknowledges=True)
    assert _events(output) == [StreamReset(3, 8), GoAway(5, 0), Ping(b"01234567")]


def test_a_client_that_does_not_speak_http2_is_refused() -> None:
    """A client that does not speak HTTP/2 is refused."""
    with pytest.raises(ValueError, match="does not begin as HTTP/2"):
        _events(b"GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n", from_client=True)


def test_messages_of_a_body_have_their_length_before_them() -> None:
    """Messages of a body are split by length prefix; an incomplete one is omitted."""
    assert list(grpc_messages(grpc_message(b"one") + grpc_message(b"two") + grpc_message(b"three")[:-1])) == [
        b"one",
        b"two",
    ]
