"""Batches and properties, as Java encodes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_reference.remoting.batch import BatchEntry, decode_batch, encode_batch
from rocketmq_reference.remoting.errors import RemotingCommandException
from rocketmq_reference.remoting.properties import decode_properties, encode_properties


def test_reads_java_s_batch(golden: dict[str, str]) -> None:
    """Java's batch of two messages with flag and properties is decoded."""
    assert decode_batch(bytes.fromhex(golden["batch"])) == [
        BatchEntry(b"hi", {"k": "v", "WAIT": "true"}, 7),
        BatchEntry(b"you", {"WAIT": "false"}),
    ]


def test_writes_java_s_batch(golden: dict[str, str]) -> None:
    """A batch with the same order of properties is encoded to Java's bytes."""
    entries = [BatchEntry(b"hi", {"k": "v", "WAIT": "true"}, 7), BatchEntry(b"you", {"WAIT": "false"})]
    assert encode_batch(entries).hex() == golden["batch"]


@pytest.mark.parametrize("cut", [3, 21, 30])
def test_damaged_batches_are_refused(golden: dict[str, str], cut: int) -> None:
    """A truncated batch is an error."""
    with pytest.raises(RemotingCommandException):
        decode_batch(bytes.fromhex(golden["batch"])[:cut])


def test_oversized_properties_are_refused() -> None:
    """Properties above 32767 bytes are rejected, because their length is a signed 16-bit number."""
    with pytest.raises(RemotingCommandException, match="32767"):
        encode_batch([BatchEntry(b"x", {"k": "v" * 40_000})])


_TEXT = st.text(st.characters(exclude_characters="\x01\x02", exclude_categories=["Cs"]), min_size=1)


@given(st.dictionaries(_TEXT, _TEXT))
def test_properties_survive(properties: dict[str, str]) -> None:
    """Properties without separators in names and values survive encoding and decoding."""
    assert decode_properties(encode_properties(properties)) == properties


def test_malformed_pairs_are_dropped() -> None:
    """Pairs without name, value or separator are dropped, as in Java; the last separator is optional."""
    assert decode_properties("a\x011\x02b\x02\x012\x02c\x01\x02d\x014") == {"a": "1", "d": "4"}
