"""Stored messages: Java's bytes are decoded, invalid ones are rejected with a reason."""

import zlib

import pytest

from rocketmq_reference.remoting.errors import RemotingCommandException
from rocketmq_reference.remoting.messages import (
    MAGIC_V2,
    StoredMessage,
    SysFlag,
    compress,
    decode_stored,
    decompress,
    encode_offset_message_id,
)

_PLAIN = StoredMessage(
    topic="Topic",
    queue_id=3,
    queue_offset=17,
    physical_offset=4711,
    body=b"z" * 200,
    properties={"KEYS": "k", "user": "ü"},
    flag=5,
    sys_flag=0,
    born_timestamp_ms=1795273281683,
    born_host="127.0.0.1:40001",
    store_timestamp_ms=1795273281700,
    store_host="127.0.0.2:10911",
    reconsume_times=2,
    body_crc=99,
)


def test_reads_what_java_stored(golden: dict[str, str]) -> None:
    """All fields of plain messages are decoded, several in a row."""
    assert decode_stored(bytes.fromhex(golden["stored-plain"]) * 2) == [_PLAIN, _PLAIN]


def test_reads_compressed_bodies(golden: dict[str, str]) -> None:
    """A zlib body is decompressed, and the flag stays as stored."""
    (message,) = decode_stored(bytes.fromhex(golden["stored-zlib"]))
    assert (message.body, message.sys_flag) == (b"z" * 200, 0x301)


def test_reads_version_6_hosts(golden: dict[str, str]) -> None:
    """IPv6 addresses are decoded if the flag marks them."""
    (message,) = decode_stored(bytes.fromhex(golden["stored-v6"]))
    assert (message.born_host, message.store_host) == ("[::1]:40001", "[::2]:10911")


def test_names_a_compression_it_cannot_undo(golden: dict[str, str]) -> None:
    """LZ4 and ZSTD are rejected by name, because the standard library lacks them."""
    with pytest.raises(RemotingCommandException, match="LZ4"):
        decode_stored(bytes.fromhex(golden["stored-lz4"]))
    with pytest.raises(RemotingCommandException, match="ZSTD"):
        decompress(b"x", SysFlag.COMPRESSED | SysFlag.COMPRESSION_ZSTD)


def test_long_topics_have_two_length_bytes(golden: dict[str, str]) -> None:
    """A message with the second magic code has two bytes of topic length."""
    plain = bytes.fromhex(golden["stored-plain"])
    at = plain.index(b"\x05Topic")
    long = (
        (len(plain) + 1).to_bytes(4, "big") + MAGIC_V2.to_bytes(4, "big") + plain[8:at] + b"\x00\x05" + plain[at + 1 :]
    )
    assert decode_stored(long) == [_PLAIN]


@pytest.mark.parametrize("size", [1, 60, 90, 300])
def test_truncated_messages_are_refused(golden: dict[str, str], size: int) -> None:
    """A truncated message is an error."""
    with pytest.raises(RemotingCommandException):
        decode_stored(bytes.fromhex(golden["stored-plain"])[:size])


def test_padding_is_named() -> None:
    """The padding at the end of a commit log file is reported as such."""
    with pytest.raises(RemotingCommandException, match="padding"):
        decode_stored((64).to_bytes(4, "big") + bytes.fromhex("cbd43194") + bytes(80))


def test_compression_is_undone() -> None:
    """compress() makes zlib data, and decompress() restores the body with the compression named or not."""
    packed = compress(b"a" * 5_000, 5)
    assert packed == zlib.compress(b"a" * 5_000, 5)
    for flag in (SysFlag.COMPRESSED, SysFlag.COMPRESSED | SysFlag.COMPRESSION_ZLIB):
        assert decompress(packed, flag) == b"a" * 5_000


def test_damaged_compression_is_refused() -> None:
    """Invalid zlib data raises RemotingCommandException, not an error of zlib."""
    with pytest.raises(RemotingCommandException, match="zlib"):
        decompress(b"no zlib", SysFlag.COMPRESSED)


def test_offset_message_id_is_java_s(golden: dict[str, str]) -> None:
    """An offset message id is encoded from address, port and physical offset, as in Java."""
    assert encode_offset_message_id("127.0.0.2:10911", 4711) == golden["id"] == _PLAIN.offset_message_id


def test_unique_key_is_the_property() -> None:
    """The unique key is None for a message without that property."""
    assert _PLAIN.unique_key is None
