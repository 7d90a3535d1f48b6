"""Frames: the bytes of Java, streams cut anywhere, and invalid frames."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_reference.remoting.errors import RemotingCommandException
from rocketmq_reference.remoting.frames import (
    FRAME_MAX_BYTES,
    Command,
    FrameBuffer,
    Serialization,
    decode,
    encode,
    join_frame,
    next_opaque,
    respond_to,
)
from rocketmq_reference.remoting.sending import SendRequest, send_message

_VALUES = ("G", "T", "TBW102", "4", "3", "0", "1795273281683", "0", "WAIT\x01true\x02k\x01ü\x02", "0", "false", "false")
_FIELDS = dict(zip("abcdefghijkm", _VALUES, strict=True))


def _golden_command(serialization: Serialization) -> Command:
    return Command(
        310, _FIELDS, b"hello", opaque=77, language="JAVA", version=479, remark="ok", serialization=serialization
    )


@pytest.mark.parametrize("serialization", list(Serialization))
def test_reads_what_java_wrote(golden: dict[str, str], serialization: Serialization) -> None:
    """Java's send request is decoded in both header encodings."""
    frame = bytes.fromhex(golden[f"request-{serialization.name}"])
    assert FrameBuffer().feed(frame) == [_golden_command(serialization)]


def test_writes_the_bytes_that_java_writes(golden: dict[str, str]) -> None:
    """The binary header has Java's bytes, because its order of fields is fixed."""
    assert encode(_golden_command(Serialization.ROCKETMQ)).hex() == golden["request-ROCKETMQ"]


def test_writes_the_json_that_java_writes(golden: dict[str, str]) -> None:
    """The JSON header is the same object as Java's, whatever its order and escapes."""
    ours, javas = encode(_golden_command(Serialization.JSON)), bytes.fromhex(golden["request-JSON"])
    header = slice(8, -len(b"hello"))
    assert json.loads(ours[header]) == json.loads(javas[header])


@pytest.mark.parametrize("serialization", list(Serialization))
def test_send_request_has_the_fields_of_java(golden: dict[str, str], serialization: Serialization) -> None:
    """The request builder uses the field names of SendMessageRequestHeaderV2."""
    request = SendRequest(
        topic="T",
        queue_id=3,
        body=b"hello",
        group="G",
        born_timestamp_ms=1795273281683,
        properties={"WAIT": "true", "k": "ü"},
    )
    command = send_message(request, serialization=serialization)
    (javas,) = FrameBuffer().feed(bytes.fromhex(golden[f"request-{serialization.name}"]))
    assert (command.code, command.ext_fields, command.body) == (javas.code, javas.ext_fields, javas.body)


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
_COMMANDS = st.builds(
    Command,
    code=st.integers(0, 0x7FFF),
    ext_fields=st.dictionaries(_TEXT, _TEXT, max_size=4),
    body=st.binary(max_size=50),
    opaque=st.integers(0, 2**31 - 1),
    flag=st.integers(0, 3),
    language=st.sampled_from(["JAVA", "CPP", "PYTHON", "GO"]),
    version=st.integers(0, 500),
    remark=st.none() | _TEXT,
    serialization=st.sampled_from(Serialization),
)


@given(st.lists(_COMMANDS, max_size=4), st.lists(st.integers(1, 60)))
def test_frames_survive_any_cut(commands: list[Command], cuts: list[int]) -> None:
    """A stream cut into any pieces gives the same commands in order."""
    stream = b"".join(map(encode, commands))
    buffer, seen, at = FrameBuffer(), [], 0
    for size in [*cuts, len(stream)]:
        seen += buffer.feed(stream[at : at + size])
        at += size
    assert seen == commands


@given(st.binary(max_size=80), st.sampled_from(Serialization))
def test_garbage_raises_nothing_but_the_one_exception(garbage: bytes, serialization: Serialization) -> None:
    """Invalid bytes raise no exception but RemotingCommandException."""
    frame = join_frame(serialization, garbage, b"")
    with contextlib.suppress(RemotingCommandException):
        decode(frame[4:])


def test_unknown_encoding_is_refused() -> None:
    """An unknown header encoding is rejected, and the error contains its number."""
    with pytest.raises(RemotingCommandException, match="saw 7"):
        decode(b"\x07\x00\x00\x02{}")


def test_header_longer_than_frame_is_refused() -> None:
    """A header length beyond the end of the frame is rejected."""
    with pytest.raises(RemotingCommandException, match="bad header length: 9"):
        decode(b"\x00\x00\x00\x09{}")


def test_frame_over_the_limit_is_refused() -> None:
    """A frame longer than 16 MiB is rejected before its content is collected."""
    with pytest.raises(RemotingCommandException, match=str(FRAME_MAX_BYTES)):
        FrameBuffer().feed((FRAME_MAX_BYTES + 1).to_bytes(4, "big"))


def test_negative_key_length_is_refused() -> None:
    """A negative key length in a binary header is rejected and causes no endless loop."""
    header = bytes.fromhex("01360001df0000004d0000000000000000") + b"\x00\x00\x00\x06" + b"\xff\xfe\x00\x00\x00\x00"
    with pytest.raises(RemotingCommandException):
        decode(join_frame(Serialization.ROCKETMQ, header, b"")[4:])


def test_response_repeats_opaque_and_encoding() -> None:
    """A response has the opaque and the encoding of its request."""
    request = Command(11, opaque=5, serialization=Serialization.ROCKETMQ)
    response = respond_to(request, 19, remark="none")
    assert (response.opaque, response.serialization, response.is_response) == (5, Serialization.ROCKETMQ, True)
    assert not request.is_response and not request.is_oneway


def test_opaques_are_distinct() -> None:
    """1,000 requests have different opaques."""
    assert len({next_opaque() for _ in range(1_000)}) == 1_000
