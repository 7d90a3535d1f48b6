"""
The parts of RocketMQ's gRPC messages used here (``apache.rocketmq.v2``, definition.proto and service.proto).

Comments name the field of each number; the protocol never reuses one.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from rocketdiff.grpc.protobuf import bytes_field, number_of, parts, texts, varint_field

SERVICE = "/apache.rocketmq.v2.MessagingService/"
SEND_MESSAGE = SERVICE + "SendMessage"
QUERY_ROUTE = SERVICE + "QueryRoute"


class Code(IntEnum):
    """Status codes used here."""

    OK = 20_000
    TOPIC_NOT_FOUND = 40_402
    TOO_MANY_REQUESTS = 42_900
    PROXY_TIMEOUT = 50_400


_ID_PROPERTY = "rocketdiff.id"


@dataclass(frozen=True, slots=True)
class SentMessage:
    """
    One message of a SendMessage request.

    identity: our id, a user property. message_id: the client's. group: message group.
    """

    topic: str
    message_id: str
    queue_id: int
    identity: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class SendAnswer:
    """A SendMessage response: status of the first entry that is not OK, else of the response."""

    code: int
    text: str
    message_ids: tuple[str, ...] = ()
    offsets: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RouteAnswer:
    """A QueryRoute response. queues: count by broker name. endpoints: ``host:port`` of all brokers."""

    code: int
    text: str
    queues: dict[str, int]
    endpoints: frozenset[str]


def sent_messages(request: bytes) -> tuple[SentMessage, ...]:
    """Return a SendMessage request's messages; raise ValueError for invalid bytes."""
    return tuple(_sent(message) for message in parts(request, 1))  # SendMessageRequest.messages


def send_answer(response: bytes) -> SendAnswer:
    """Parse a SendMessage response; raise ValueError for invalid bytes."""
    code, text = _status(response)
    entries = tuple(parts(response, 2))  # SendMessageResponse.entries
    for entry in entries:
        own_code, own_text = _status(entry)
        if own_code not in (0, Code.OK):
            code, text = own_code, own_text
            break
    ids = tuple(message_id for entry in entries for message_id in texts(entry, 2))  # SendResultEntry.message_id
    return SendAnswer(code, text, ids, tuple(number_of(entry, 4) for entry in entries))  # SendResultEntry.offset


def query_route(topic: str, endpoint: str) -> bytes:
    """Return a QueryRoute request. endpoint: the proxy's address; routes name the proxy with its port."""
    host, _, port = endpoint.rpartition(":")
    address = bytes_field(1, host) + varint_field(2, int(port))  # Address.host, port
    endpoints = varint_field(1, 1) + bytes_field(2, address)  # Endpoints.scheme (IPv4), addresses
    return bytes_field(1, _resource(topic)) + bytes_field(2, endpoints)  # QueryRouteRequest.topic, endpoints


def route_answer(response: bytes) -> RouteAnswer:
    """Parse a QueryRoute response; raise ValueError for invalid bytes."""
    code, text = _status(response)
    brokers = [broker for queue in parts(response, 2) for broker in parts(queue, 4)]  # .message_queues, .broker
    queues = Counter(next(texts(broker, 1), "") for broker in brokers)  # Broker.name
    return RouteAnswer(code, text, dict(queues), frozenset(_addresses(brokers)))


def _addresses(brokers: list[bytes]) -> Iterator[str]:
    for broker in brokers:
        for endpoints in parts(broker, 3):  # Broker.endpoints
            for address in parts(endpoints, 2):  # Endpoints.addresses
                yield f"{next(texts(address, 1), '')}:{number_of(address, 2)}"


def _sent(message: bytes) -> SentMessage:
    properties = {next(texts(pair, 1), ""): next(texts(pair, 2), "") for pair in parts(message, 2)}  # user_properties
    system = b"".join(parts(message, 3))  # Message.system_properties; repeated parts are merged
    return SentMessage(
        topic=next((name for topic in parts(message, 1) for name in texts(topic, 2)), ""),  # Resource.name
        message_id=next(texts(system, 3), ""),
        queue_id=number_of(system, 13),
        identity=properties.get(_ID_PROPERTY),
        group=next(texts(system, 17), None),
    )


def _status(message: bytes) -> tuple[int, str]:
    status = b"".join(parts(message, 1))
    return number_of(status, 1), next(texts(status, 2), "")


def _resource(name: str) -> bytes:
    return bytes_field(2, name)
