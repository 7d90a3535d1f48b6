"""
Remoting frames for the relay, without I/O: splitting a byte stream, decoding for the record, replacing addresses.

Frames are forwarded unchanged with their length word. Only in a name server's route responses do relay addresses replace the
brokers' addresses.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from rocketdiff.relay.remoting.consuming import GROUP_CODES, GroupFrame, group_answer, group_request
from rocketmq_reference.remoting.batch import decode_batch
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.errors import RemotingCommandException
from rocketmq_reference.remoting.frames import FRAME_MAX_BYTES, Command, decode
from rocketmq_reference.remoting.properties import UNIQ_KEY, decode_properties
from rocketmq_reference.remoting.routes import PERM_WRITE, decode_route
from rocketmq_reference.remoting.sending import parse_send_fields

ID_PROPERTY = "rocketdiff.id"
"""User property with the message id ``RUN/TOPIC/SEND``; every subject sets it."""

SEND_CODES = frozenset({RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE})

_LENGTH_BYTES = 4
_LEAST_BYTES = 4
"""The shortest frame: the word with its header length."""

_ADDRESS = re.compile(rb'"(\[?[0-9A-Za-z.:-]+\]?:\d{1,5})"')


class FrameSplitter:
    """
    Buffers bytes and returns complete frames, each with its length word.

    From the first bytes that are no frame (another protocol, TLS, a length that no server accepts) it returns everything as
    received, because a relay must forward what it cannot parse; ``is_lost`` is then set.
    """

    __slots__ = ("_received", "is_lost")

    def __init__(self) -> None:
        self._received = bytearray()
        self.is_lost = False

    def feed(self, data: bytes) -> list[bytes]:
        if self.is_lost:
            return [data]
        received = self._received
        if not received and len(data) >= 2 * _LENGTH_BYTES and _length(data, 0) == len(data) - _LENGTH_BYTES:
            return [data]  # the usual case: exactly one frame
        received += data
        frames: list[bytes] = []
        start = 0
        while len(received) - start >= _LENGTH_BYTES:
            total = _length(received, start)
            if not _LEAST_BYTES <= total <= FRAME_MAX_BYTES:
                self.is_lost = True
                frames.append(bytes(received[start:]))
                start = len(received)
                break
            end = start + _LENGTH_BYTES + total
            if end > len(received):
                break
            frames.append(bytes(received[start:end]))
            start = end
        del received[:start]
        return frames

    def rest(self) -> bytes:
        """Remove and return the bytes of an unfinished frame."""
        rest = bytes(self._received)
        self._received.clear()
        return rest


def _length(data: bytes | bytearray, at: int) -> int:
    return int.from_bytes(data[at : at + _LENGTH_BYTES], "big")


@dataclass(frozen=True, slots=True)
class FrameInfo:
    """Recorded content of a frame; fields as in ``record.Passed``. note: set if the frame cannot be decoded."""

    opaque: int = -1
    code: int = -1
    response: bool = False
    oneway: bool = False
    topic: str | None = None
    queue_id: int | None = None
    queue_offset: int | None = None
    identity: str | None = None
    unique_key: str | None = None
    queues: tuple[tuple[str, int], ...] | None = None
    group: GroupFrame | None = None
    note: str | None = None


def info_of(frame: bytes) -> FrameInfo:
    """Decode a frame with its length word; an undecodable frame gives a note, never an exception."""
    try:
        command = decode(frame[4:])
        if command.is_response:
            return _response(command)
        return _send(command) if command.code in SEND_CODES else _request(command)
    except (RemotingCommandException, ValueError, RecursionError) as error:
        return FrameInfo(note=_unreadable(error))


def _unreadable(error: Exception) -> str:
    return f"unreadable: {error}"[:200]


def _request(command: Command) -> FrameInfo:
    fields = command.ext_fields
    info = FrameInfo(command.opaque, command.code, oneway=command.is_oneway, topic=fields.get("topic"))
    if command.code not in GROUP_CODES:
        return info
    try:
        return replace(info, queue_id=_number(fields.get("queueId")), group=group_request(command))
    except (RemotingCommandException, ValueError, TypeError, RecursionError) as error:
        return replace(info, note=_unreadable(error))


def _response(command: Command) -> FrameInfo:
    fields = command.ext_fields
    try:
        group = group_answer(command)
    except (RemotingCommandException, ValueError, TypeError, RecursionError) as error:
        return FrameInfo(command.opaque, command.code, response=True, note=_unreadable(error))
    if group is not None:
        return FrameInfo(command.opaque, command.code, response=True, group=group)
    return FrameInfo(
        command.opaque,
        command.code,
        response=True,
        queue_id=_number(fields.get("queueId")),
        queue_offset=_number(fields.get("queueOffset")),
        queues=_writable(command.body)
        if b'"brokerAddrs"' in command.body and b'"queueDatas"' in command.body
        else None,
    )


def _writable(body: bytes) -> tuple[tuple[str, int], ...]:
    """Return brokers with a master and write permission, by name, with their number of write queues."""
    route = decode_route(body)
    masters = route.master_addresses()
    writable = (each for each in route.queues if each.perm & PERM_WRITE and each.broker in masters)
    return tuple(sorted((each.broker, each.write_queues) for each in writable))


def _send(command: Command) -> FrameInfo:
    fields = parse_send_fields(command)
    properties = decode_properties(fields.get("properties", ""))
    if command.code == RequestCode.SEND_BATCH_MESSAGE and ID_PROPERTY not in properties:
        entries = decode_batch(command.body)
        properties = dict(entries[0].properties) if entries else {}
    return FrameInfo(
        command.opaque,
        command.code,
        oneway=command.is_oneway,
        topic=fields.get("topic"),
        queue_id=_number(fields.get("queueId")),
        identity=properties.get(ID_PROPERTY),
        unique_key=properties.get(UNIQ_KEY),
    )


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def rerouted(frame: bytes, relays: Mapping[str, str]) -> tuple[bytes, tuple[str, ...]]:
    """
    Return the frame (with its length word) with known broker addresses replaced by the relay's, and its unknown addresses.

    The body is edited as text, because re-encoding would change fastjson's bare number keys and unknown fields. A client would
    connect to an unknown address directly, bypassing the relay; the caller records it, and the case becomes invalid.
    """
    head_end = 2 * _LENGTH_BYTES + (int.from_bytes(frame[_LENGTH_BYTES : 2 * _LENGTH_BYTES], "big") & 0xFFFFFF)
    body = frame[head_end:]
    if b"brokerAddrs" not in body:
        return frame, ()
    unknown: list[str] = []

    def replaced(match: re.Match[bytes]) -> bytes:
        address = match[1].decode()
        relay = relays.get(address)
        if relay is None:
            unknown.append(address)
            return match[0]
        return b'"' + relay.encode() + b'"'

    changed = frame[_LENGTH_BYTES:head_end] + _ADDRESS.sub(replaced, body)
    return len(changed).to_bytes(_LENGTH_BYTES, "big") + changed, tuple(unknown)
