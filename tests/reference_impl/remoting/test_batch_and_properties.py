"""Batches and properties, as Java encodes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_reference.remoting.batch import BatchEntry, decode_batch, encode_batch
from rocketmq_reference.remoting.errors import RemotingCommandException
from rocketmq_reference.remoting.properties import decode_properties, encode_properties


def test_reads_java_s_batch(golden: dict[str, str]) -> None:
    """Two messages with flag and properties."""
    assert decode_batch(bytes.fromhex(golden["batch"])) == [
        BatchEntry(b"hi", {"k": "v", "WAIT": "true"}, 7),
        BatchEntry(b"you", {"WAIT": "false"}),
    ]


def test_writes_java_s_batch(golden: dict[str, str]) -> None:
    """The same bytes, given the same order of properties."""
    entries = [BatchEntry(b"hi", {"k": "v", "WAIT": "true"}, 7), BatchEntry(b"you", {"WAIT": "false"})]
    assert encode_batch(entries).hex() == golden["batch"]


@pytest.mark.parametrize("cut", [3, 21, 30])
def test_damaged_batches_are_refused(golden: dict[str, str], cut: int) -> None:
    """A batch cut anywhere is an error."""
    with pytest.raises(RemotingCommandException):
        decode_batch(bytes.fromhex(golden["batch"])[:cut])


def test_oversized_properties_are_refused() -> None:
    """The length of properties has two signed bytes."""
    with pytest.raises(RemotingCommandException, match="32767"):
        encode_batch([BatchEntry(b"x", {"k": "v" * 40_000})])


_TEXT = st.text(st.characters(exclude_characters="\x01\x02", exclude_categories=["Cs"]), min_size=1)


@given(st.dictionaries(_TEXT, _TEXT))
def test_properties_survive(properties: dict[str, str]) -> None:
    """Names and values without separators come back."""
    assert decode_properties(encode_properties(properties)) == properties


def test_what_is_no_pair_is_passed_over() -> None:
    """Empty names and values, and texts without a separator, are dropped, as Java does; the last separator may miss."""
    assert decode_properties("a\x011\x02b\x02\x012\x02c\x01\x02d\x014") == {"a": "1", "d": "4"}
