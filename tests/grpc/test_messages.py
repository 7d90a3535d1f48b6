"""RocketMQ's messages, by the field numbers of definition.proto and service.proto."""

from rocketdiff.grpc.messages import (
    RouteAnswer,
    SendAnswer,
    SentMessage,
    query_route,
    route_answer,
    send_answer,
    sent_messages,
)
from rocketdiff.grpc.protobuf import bytes_field, varint_field


def _status(code: int, text: str) -> bytes:
    return bytes_field(1, varint_field(1, code) + bytes_field(2, text))


def test_a_send_request_names_topic_ids_queue_and_group() -> None:
    """A send request has topic, ids, queue and group, read among other properties."""
    own = bytes_field(1, "rocketdiff.id") + bytes_field(2, "R/T/7")
    other = bytes_field(1, "colour") + bytes_field(2, "blue")
    system = bytes_field(3, "01AB") + varint_field(13, 2) + bytes_field(17, "group-1")
    message = bytes_field(1, bytes_field(2, "T")) + bytes_field(2, other) + bytes_field(2, own) + bytes_field(3, system)
    request = bytes_field(1, message + bytes_field(4, b"R/T/7..."))
    assert sent_messages(request) == (SentMessage("T", "01AB", 2, "R/T/7", "group-1"),)


def test_a_send_response_has_a_code_and_an_entry_a_message() -> None:
    """A send response has a code (20000 is OK) and per message an offset (field 4)."""
    entry = _status(20_000, "OK") + bytes_field(2, "01AB") + varint_field(4, 17)
    assert send_answer(_status(20_000, "OK") + bytes_field(2, entry)) == SendAnswer(20_000, "OK", ("01AB",), (17,))


def test_the_code_of_an_entry_counts_where_it_is_not_ok() -> None:
    """The code of a failed entry takes precedence over OK for the whole response."""
    entry = _status(42_900, "too many requests")
    answer = send_answer(_status(20_000, "OK") + bytes_field(2, entry))
    assert (answer.code, answer.text) == (42_900, "too many requests")


def test_a_route_counts_the_queues_of_each_broker() -> None:
    """A route counts each broker's queues: two of broker-a, one of broker-b."""
    address = bytes_field(1, "127.0.0.1") + varint_field(2, 8_081)
    endpoints = bytes_field(3, bytes_field(2, address))
    queues = b"".join(
        bytes_field(2, bytes_field(4, bytes_field(1, name) + endpoints))
        for name in ("broker-a", "broker-a", "broker-b")
    )
    expected = RouteAnswer(20_000, "OK", {"broker-a": 2, "broker-b": 1}, frozenset({"127.0.0.1:8081"}))
    assert route_answer(_status(20_000, "OK") + queues) == expected


def test_a_route_is_asked_for_with_the_address_by_which_the_proxy_is_reached() -> None:
    """A route query has the topic and the address at which the proxy is reached."""
    assert query_route("T", "127.0.0.1:80") == b"\x0a\x03\x12\x01T\x12\x11\x08\x01\x12\x0d\x0a\x09127.0.0.1\x10\x50"
