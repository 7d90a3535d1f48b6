"""
Fast encoder of send requests: the fields that are constant for a topic are encoded once.

The frames are equivalent to encode(send_message(request)); only the order of the header's fields differs.
"""

import struct
from json.encoder import encode_basestring as quote

from rocketmq_reference.remoting.codes import LanguageCode, RequestCode
from rocketmq_reference.remoting.frames import ONEWAY_FLAG, Serialization, join_frame
from rocketmq_reference.remoting.properties import encode_properties
from rocketmq_reference.remoting.sending import LETTERS, SendRequest, send_fields

_PER_SEND = {LETTERS[name] for name in ("queueId", "sysFlag", "bornTimestamp", "flag", "properties", "brokerName")}

_Key = tuple[str, bool | None, str, str, int, int, int | None]

_SHORT = struct.Struct(">h")
_INT = struct.Struct(">i")
_FIXED = struct.Struct(">hbhii")


class SendEncoder:
    """Encodes the sends of one client; thread-safe. The fields of a topic are cached forever, as are the client's routes."""

    def __init__(self, serialization: Serialization, *, language: LanguageCode, version: int) -> None:
        self._serialization = serialization
        self._language = language
        self._version = version
        self._constant: dict[_Key, bytes | str] = {}

    def encode(self, request: SendRequest, opaque: int, *, is_oneway: bool = False) -> bytes:
        """Return the frame of a request with its number: SEND_MESSAGE_V2, or SEND_BATCH_MESSAGE for a batch."""
        code = RequestCode.SEND_BATCH_MESSAGE if request.is_batch else RequestCode.SEND_MESSAGE_V2
        is_json = self._serialization is Serialization.JSON
        flag = ONEWAY_FLAG if is_oneway else 0
        header = self._json(request, code, opaque, flag) if is_json else self._binary(request, code, opaque, flag)
        return join_frame(self._serialization, header, request.body)

    def _json(self, request: SendRequest, code: int, opaque: int, flag: int) -> bytes:
        broker = "" if request.broker is None else f',"n":{quote(request.broker)}'
        return (
            f'{{"code":{int(code)},"extFields":{{{self._constant_json(request)}'
            f'"e":"{request.queue_id}","f":"{int(request.sys_flag)}","g":"{request.born_timestamp_ms}",'
            f'"h":"{request.flag}","i":{quote(_properties(request))}{broker}}},'
            f'"flag":{flag},"language":"{self._language.name}","opaque":{opaque},'
            f'"serializeTypeCurrentRPC":"JSON","version":{self._version}}}'
        ).encode()

    def _binary(self, request: SendRequest, code: int, opaque: int, flag: int) -> bytes:
        fields = [
            self._constant_binary(request),
            _field(b"e", str(request.queue_id)),
            _field(b"f", str(int(request.sys_flag))),
            _field(b"g", str(request.born_timestamp_ms)),
            _field(b"h", str(request.flag)),
            _field(b"i", _properties(request)),
        ]
        if request.broker is not None:
            fields.append(_field(b"n", request.broker))
        body = b"".join(fields)
        fixed = _FIXED.pack(code, self._language, self._version, opaque, flag)
        return b"".join((fixed, b"\0\0\0\0", _INT.pack(len(body)), body))

    def _constant_json(self, request: SendRequest) -> str:
        key = _key(request)
        found = self._constant.get(key)
        if found is None:
            pairs = (f"{quote(letter)}:{quote(value)}," for letter, value in _constant_fields(request))
            found = self._constant[key] = "".join(pairs)
        assert isinstance(found, str)
        return found

    def _constant_binary(self, request: SendRequest) -> bytes:
        key = _key(request)
        found = self._constant.get(key)
        if found is None:
            fields = (_field(letter.encode(), value) for letter, value in _constant_fields(request))
            found = self._constant[key] = b"".join(fields)
        assert isinstance(found, bytes)
        return found


def _properties(request: SendRequest) -> str:
    return encode_properties(request.properties, closed=request.closes_properties)


def _key(request: SendRequest) -> _Key:
    return (
        request.topic,
        request.is_batch,
        request.group,
        request.default_topic,
        request.default_topic_queues,
        request.reconsume_times,
        request.max_reconsume_times,
    )


def _constant_fields(request: SendRequest) -> list[tuple[str, str]]:
    fields = {LETTERS[name]: value for name, value in send_fields(request).items()}
    return [(letter, value) for letter, value in fields.items() if letter not in _PER_SEND]


def _field(key: bytes, value: str) -> bytes:
    text = value.encode()
    return b"".join((_SHORT.pack(len(key)), key, _INT.pack(len(text)), text))
