"""Protobuf's encoding and decoding."""

import pytest

from rocketdiff.grpc.protobuf import bytes_field, fields, number_of, texts, varint_field


def test_a_number_is_written_in_groups_of_seven_bits() -> None:
    """A number is written in groups of seven bits: 300 is AC 02, as in Protobuf's documentation."""
    assert varint_field(1, 300) == b"\x08\xac\x02"


def test_a_text_has_its_length_before_it() -> None:
    """A text has its length first: "testing" in field 2 has key 12 and length 7."""
    assert bytes_field(2, "testing") == b"\x12\x07testing"


def test_fields_come_in_order_with_numbers_and_bytes() -> None:
    """All fields are returned in order, also unknown ones and numbers of fixed size."""
    message = varint_field(1, 300) + b"\x1d\x01\x02\x03\x04" + bytes_field(2, "a")
    assert list(fields(message)) == [(1, 300), (3, b"\x01\x02\x03\x04"), (2, b"a")]


def test_a_number_that_is_left_out_is_nought() -> None:
    """A missing number is 0, because Protobuf omits defaults."""
    assert number_of(bytes_field(2, "a"), 1) == 0


def test_a_text_may_come_many_times() -> None:
    """A repeated text field returns all its values."""
    assert list(texts(bytes_field(4, "a") + bytes_field(4, "b"), 4)) == ["a", "b"]


@pytest.mark.parametrize("broken", [b"\x12\x07test", b"\x08", b"\x0b"])
def test_malformed_protobuf_is_refused(broken: bytes) -> None:
    """A field longer than the message, an unfinished number and a group are refused."""
    with pytest.raises(ValueError, match=r"field|number|wire type"):
        list(fields(broken))
