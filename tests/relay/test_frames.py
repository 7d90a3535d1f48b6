"""Frames are split, decoded and re-addressed."""

import json

import pytest

from rocketdiff.relay.remoting.frames import FrameInfo, FrameSplitter, info_of, rerouted
from rocketmq_reference.remoting.batch import BatchEntry, encode_batch
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.frames import Command, Serialization, decode, encode, respond_to
from rocketmq_reference.remoting.sending import SendRequest, send_fields, send_message

PROPERTIES = {"UNIQ_KEY": "0A", "rocketdiff.id": "run/T/7"}
REQUEST = SendRequest("T", 3, b"body", "G", 1, PROPERTIES)


@pytest.mark.parametrize("step", [1, 3, 7, 1_000])
def test_frames_come_out_as_they_went_in(step: int) -> None:
    """Frames come out unchanged, with any header encoding and in any pieces."""
    frames = [encode(Command(105, {"topic": "T"}, serialization=each)) for each in Serialization]
    data = b"".join(frames)
    splitter = FrameSplitter()
    out = [frame for at in range(0, len(data), step) for frame in splitter.feed(data[at : at + step])]
    assert out == frames
    assert splitter.rest() == b""


def test_after_what_is_no_frame_everything_is_given_out() -> None:
    """After an impossible length bytes are only passed on."""
    splitter = FrameSplitter()
    assert splitter.feed(b"\x7f\xff\xff\xff") == [b"\x7f\xff\xff\xff"]
    assert splitter.is_lost
    assert splitter.feed(b"ab") == [b"ab"]


@pytest.mark.parametrize("serialization", list(Serialization))
def test_a_send_has_its_queue_and_id(serialization: Serialization) -> None:
    """A send has topic, queue and ids in both header forms, with one letter a field and with whole names."""
    for command in (
        send_message(REQUEST, serialization=serialization),
        Command(RequestCode.SEND_MESSAGE, send_fields(REQUEST), REQUEST.body, serialization=serialization),
    ):
        assert info_of(encode(command)) == FrameInfo(
            command.opaque, command.code, topic="T", queue_id=3, identity="run/T/7", unique_key="0A"
        )


def test_a_batch_of_one_has_the_id_of_its_message() -> None:
    """A batch of one has the ids of its message, because the request's properties are empty."""
    body = encode_batch([BatchEntry(b"body", PROPERTIES)])
    info = info_of(encode(send_message(SendRequest("T", 1, body, "G", 1, is_batch=True))))
    assert (info.code, info.queue_id, info.identity, info.unique_key) == (320, 1, "run/T/7", "0A")


def test_an_answer_has_its_code_and_offset() -> None:
    """An answer has its code, queue and offset."""
    command = send_message(REQUEST)
    answer = respond_to(command, 10, ext_fields={"queueId": "3", "queueOffset": "41"})
    assert info_of(encode(answer)) == FrameInfo(command.opaque, 10, response=True, queue_id=3, queue_offset=41)


def test_a_route_has_its_writable_queues() -> None:
    """A route has the write queues of each broker; one without a master or write permission has none."""
    queues = [
        {"brokerName": name, "readQueueNums": 4, "writeQueueNums": count, "perm": perm}
        for name, count, perm in (("b", 2, 6), ("a", 3, 6), ("c", 4, 4), ("d", 4, 6))
    ]
    brokers = [
        {"brokerName": name, "brokerAddrs": {number: "127.0.0.1:1"}}
        for name, number in (("b", "0"), ("a", "0"), ("c", "0"), ("d", "1"))
    ]
    body = json.dumps({"queueDatas": queues, "brokerDatas": brokers})
    info = info_of(encode(respond_to(Command(105), 0, body=body.encode())))
    assert info.queues == (("a", 3), ("b", 2))


def test_unreadable_frames_are_reported() -> None:
    """An unreadable frame gets a note, not an error."""
    assert info_of(b"\x00\x00\x00\x05\x09\x00\x00\x01x").note == "unreadable: expected header encoding 0 or 1, saw 9"


def test_only_known_addresses_of_a_route_change() -> None:
    """Only known addresses of a route change; number keys, order and unknown members stay, and the length fits."""
    body = b'{"brokerDatas":[{"brokerAddrs":{0:"127.0.0.1:1",1:"127.0.0.1:2"},"x":"127.0.0.1"}]}'
    frame = encode(respond_to(Command(105), 0, body=body))
    changed, unknown = rerouted(frame, {"127.0.0.1:1": "127.0.0.1:23456"})
    assert unknown == ("127.0.0.1:2",)
    assert decode(changed[4:]).body == body.replace(b'"127.0.0.1:1"', b'"127.0.0.1:23456"')
    assert int.from_bytes(changed[:4], "big") == len(changed) - 4


def test_a_frame_without_addresses_stays_itself() -> None:
    """Frames other than routes stay unchanged."""
    frame = encode(respond_to(Command(105), 17, remark="No topic route info"))
    assert rerouted(frame, {"127.0.0.1:1": "127.0.0.1:2"}) == (frame, ())
