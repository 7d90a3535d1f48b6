"""
SendMessage calls of one connection, decoded from the bytes of both directions; no I/O.

A call begins when its request is complete at the relay. Trailers, a stream reset or the end of the connection end it. Each
message of the call then gives one record.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rocketdiff.grpc.http2 import Data, Event, FrameReader, Headers, StreamReset, grpc_messages
from rocketdiff.grpc.messages import SEND_MESSAGE, SendAnswer, SentMessage, send_answer, sent_messages
from rocketdiff.relay.remoting.record import Called

CLIENT, SERVER = "client", "server"

ANSWER = "answer"
"""The call ended with trailers. Otherwise CLIENT or SERVER ended it, with ``closed`` if the connection was closed."""

_TIMEOUT = re.compile(r"(\d{1,8})([HMSmun])")
_NS_OF_UNIT = {"H": 3_600 * 10**9, "M": 60 * 10**9, "S": 10**9, "m": 10**6, "u": 10**3, "n": 1}


@dataclass(slots=True)
class _OpenCall:
    timeout_ns: int | None
    request: bytearray = field(default_factory=bytearray)
    response: bytearray = field(default_factory=bytearray)
    in_ns: int = 0


class CallReader:
    """Decoder of the calls of one connection."""

    def __init__(self, connection: int, node: str) -> None:
        self._connection = connection
        self._node = node
        self._readers = {SERVER: FrameReader(from_client=True), CLIENT: FrameReader(from_client=False)}
        self._open: dict[int, _OpenCall] = {}

    def feed(self, to: str, data: bytes, at_ns: int) -> Iterator[Called]:
        """
        Yield the calls that these bytes ended. to: receiver of the bytes.

        Raises ValueError for bytes that are not gRPC.
        """
        for event in self._readers[to].feed(data):
            if to == SERVER:
                yield from self._from_client(event, at_ns)
            else:
                yield from self._from_server(event, at_ns)

    def closed(self, by: str, at_ns: int) -> Iterator[Called]:
        """Yield the calls that were open when the connection ended. by: the side that closed it first."""
        for stream in list(self._open):
            yield from self._ended(stream, at_ns, by, closed=True)

    def _from_client(self, event: Event, at_ns: int) -> Iterator[Called]:
        match event:
            case Headers(stream, values, _) if values.get(":path") == SEND_MESSAGE:
                self._open[stream] = _OpenCall(_timeout_ns(values.get("grpc-timeout")))
            case Data(stream, content, ends) if stream in self._open:
                self._open[stream].request += content
                if ends:
                    self._open[stream].in_ns = at_ns
            case StreamReset(stream, _):
                yield from self._ended(stream, at_ns, CLIENT)
            case _:
                pass

    def _from_server(self, event: Event, at_ns: int) -> Iterator[Called]:
        match event:
            case Data(stream, content, _) if stream in self._open:
                self._open[stream].response += content
            case Headers(stream, values, True):
                yield from self._ended(stream, at_ns, ANSWER, status=_number(values.get("grpc-status")))
            case StreamReset(stream, _):
                yield from self._ended(stream, at_ns, SERVER)
            case _:
                pass

    def _ended(
        self, stream: int, at_ns: int, by: str, *, closed: bool = False, status: int | None = None
    ) -> Iterator[Called]:
        call = self._open.pop(stream, None)
        if call is None or not call.in_ns:
            return
        answer = _answer(bytes(call.response)) if by == ANSWER else None
        for number, message in enumerate(_sent(bytes(call.request))):
            yield Called(
                self._connection,
                self._node,
                stream,
                call.in_ns,
                at_ns,
                by,
                closed=closed,
                timeout_ns=call.timeout_ns,
                grpc_status=status,
                code=None if answer is None else answer.code,
                topic=message.topic,
                queue_id=message.queue_id,
                queue_offset=answer.offsets[number] if answer is not None and number < len(answer.offsets) else None,
                identity=message.identity,
                unique_key=message.message_id,
                group=message.group,
            )


def _sent(body: bytes) -> Iterator[SentMessage]:
    for request in grpc_messages(body):
        yield from sent_messages(request)


def _answer(body: bytes) -> SendAnswer | None:
    return next((send_answer(response) for response in grpc_messages(body)), None)


def _timeout_ns(text: str | None) -> int | None:
    """Parse a ``grpc-timeout`` header, such as 799960u."""
    match = _TIMEOUT.fullmatch(text or "")
    return None if match is None else int(match[1]) * _NS_OF_UNIT[match[2]]


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None
