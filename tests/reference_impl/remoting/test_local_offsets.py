"""The file of a broadcasting member's offsets, with texts written by the classes of 4.9.8 and 5.5.0."""

import pytest

from rocketmq_reference.remoting.local_offsets import decode_local_offsets, encode_local_offsets

NONE = '{\n\t"offsetTable":{}\n}'
ONE = '{\n\t"offsetTable":{{\n\t\t\t"brokerName":"broker-a",\n\t\t\t"queueId":0,\n\t\t\t"topic":"T"\n\t\t}:5\n\t}\n}'
TWO = (
    '{\n\t"offsetTable":{{\n\t\t\t"brokerName":"broker-a",\n\t\t\t"queueId":1,\n\t\t\t"topic":"T\\"ü"\n\t\t}:7,{\n\t\t\t'
    '"brokerName":"broker-a",\n\t\t\t"queueId":0,\n\t\t\t"topic":"T"\n\t\t}:5\n\t}\n}'
)
TWO_OF_5_5_0 = (
    '{\n\t"offsetTable":{\n\t\t{\n\t\t\t"brokerName":"broker-a",\n\t\t\t"queueId":1,\n\t\t\t"topic":"T\\"ü"\n\t\t}:7,\n\t\t{\n'
    '\t\t\t"brokerName":"broker-a",\n\t\t\t"queueId":0,\n\t\t\t"topic":"T"\n\t\t}:5\n\t}\n}'
)
FIRST, SECOND = ("T", "broker-a", 0), ('T"ü', "broker-a", 1)


@pytest.mark.parametrize(("offsets", "text"), [({}, NONE), ({FIRST: 5}, ONE), ({SECOND: 7, FIRST: 5}, TWO)])
def test_written_as_java_does(offsets: dict[tuple[str, str, int], int], text: str) -> None:
    """Byte by byte, and read again."""
    assert encode_local_offsets(offsets) == text
    assert decode_local_offsets(text) == offsets


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TWO_OF_5_5_0, {SECOND: 7, FIRST: 5}),
        ("{}", {}),
        ('{"offsetTable":{{"brokerName":"b","queueId":3,"topic":"X}:1,{"}:-1}}', {("X}:1,{", "b", 3): -1}),
    ],
)
def test_other_texts_that_java_reads(text: str, expected: dict[tuple[str, str, int], int]) -> None:
    """Newer clients break lines elsewhere."""
    assert decode_local_offsets(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "{", "x", ONE[:-1], ONE.replace("5", "five"), ONE.replace('"topic"', '"name"'), TWO.replace("},{", "}{")[:-9]],
)
def test_damaged_texts_are_refused(text: str) -> None:
    """A damaged file has a copy beside it."""
    with pytest.raises(ValueError, match="expected"):
        decode_local_offsets(text)
