"""What the frames of consumers say, in both header encodings; a damaged frame is noted."""

import struct
from random import Random
from typing import Any

import pytest

from rocketdiff.relay.remoting.consuming import LITE_PULL_MESSAGE, LOCK_BATCH_MQ, UNLOCK_BATCH_MQ, GroupFrame
from rocketdiff.relay.remoting.frames import FrameInfo, info_of
from rocketdiff.relay.remoting.record import Passed, decode_wire, encode_wire
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.consuming import (
    Pull,
    list_consumer_ids,
    pull,
    query_offset,
    send_back,
    unregister_consumer,
    update_offset,
)
from rocketmq_reference.remoting.frames import Command, Serialization, encode, respond_to
from rocketmq_reference.remoting.json_text import write_json

JSON = Serialization.JSON
PULL = Pull("g", "T", "broker-a", 3, 41, 32, 1 << 18, None, 15_000, 7)
MAGICS = (0xDAA320A7, 0xDAA320AB)
PULLED = {"nextBeginOffset": "44", "minOffset": "0", "maxOffset": "50", "suggestWhichBrokerId": "1"}
LOCK = {"consumerGroup": "g", "clientId": "1@m0", "mqSet": [{"topic": "T", "brokerName": "broker-a", "queueId": 2}]}
HEARTBEAT = {
    "clientID": "1@m0",
    "consumerDataSet": [{"groupName": "g"}, {"groupName": "w"}],
    "producerDataSet": [{"groupName": "CLIENT_INNER_PRODUCER"}],
}


def message(offset: int, magic: int = MAGICS[0], more: int = 100) -> bytes:
    """A stored message as far as it is counted: size, magic word, checksum, queue, flag, offset."""
    return struct.pack(">IIIiiq", 28 + more, magic, 0, 3, 0, offset) + b"x" * more


BODY = message(41) + message(42, MAGICS[1]) + message(43, more=0)


@pytest.mark.parametrize("serialization", list(Serialization))
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param(
            pull(PULL, serialization=JSON),
            GroupFrame(("g",), "broker-a", offset=41, flags=2, suspend_ms=15_000),
            id="a pull",
        ),
        pytest.param(
            Command(
                LITE_PULL_MESSAGE,
                {**pull(PULL, serialization=JSON).ext_fields, "sysFlag": "3", "commitOffset": "40"},
            ),
            GroupFrame(("g",), "broker-a", offset=41, commit_offset=40, flags=3, suspend_ms=15_000),
            id="a lite pull that commits",
        ),
        pytest.param(query_offset("g", "T", "b", 3, serialization=JSON), GroupFrame(("g",), "b"), id="a query"),
        pytest.param(
            update_offset("g", "T", "b", 3, 9, serialization=JSON), GroupFrame(("g",), "b", offset=9), id="a commit"
        ),
        pytest.param(Command(RequestCode.GET_MAX_OFFSET, {"topic": "T", "queueId": "3"}), GroupFrame(), id="an end"),
        pytest.param(
            Command(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, {"topic": "T", "queueId": "3", "timestamp": "5"}),
            GroupFrame(),
            id="an offset of a time",
        ),
        pytest.param(
            send_back("g", 900, 3, 16, topic="T", message_id="0A", broker="b", serialization=JSON),
            GroupFrame(("g",), offset=900, delay_level=3),
            id="a message handed back",
        ),
        pytest.param(list_consumer_ids("g", serialization=JSON), GroupFrame(("g",)), id="a question for ids"),
        pytest.param(
            unregister_consumer("1@m0", "g", serialization=JSON), GroupFrame(("g",), ids=("1@m0",)), id="an end of one"
        ),
        pytest.param(
            Command(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, {"consumerGroup": "g"}), GroupFrame(("g",)), id="a notice"
        ),
        pytest.param(
            Command(RequestCode.HEART_BEAT, body=write_json(HEARTBEAT)),
            GroupFrame(("g", "w"), ids=("1@m0",)),
            id="a heartbeat",
        ),
        *(
            pytest.param(
                Command(code, body=write_json(LOCK)),
                GroupFrame(("g",), ids=("1@m0",), queues=(("T", "broker-a", 2),)),
                id=f"code {code}",
            )
            for code in (LOCK_BATCH_MQ, UNLOCK_BATCH_MQ)
        ),
    ],
)
def test_a_request_names_its_queue_and_group(
    command: Command, expected: GroupFrame, serialization: Serialization
) -> None:
    """A request has its group, its queue and its offsets, whatever its header's encoding."""
    command.serialization = serialization
    fields = command.ext_fields
    queue_id = int(fields["queueId"]) if "queueId" in fields else None
    assert info_of(encode(command)) == FrameInfo(
        command.opaque, command.code, topic=fields.get("topic"), queue_id=queue_id, group=expected
    )


@pytest.mark.parametrize(
    ("code", "fields", "body", "expected"),
    [
        (0, PULLED, BODY, GroupFrame(next_offset=44, min_offset=0, max_offset=50, suggested=1, count=3, first_offset=41, last_offset=43)),
        (19, PULLED, b"", GroupFrame(next_offset=44, min_offset=0, max_offset=50, suggested=1, count=0)),
        (0, {"offset": "44"}, b"", GroupFrame(offset=44)),
        (0, {}, write_json({"consumerIdList": ["1@m0", "1@m0"]}), GroupFrame(ids=("1@m0", "1@m0"))),
        (0, {}, write_json({"lockOKMQSet": LOCK["mqSet"]}), GroupFrame(queues=(("T", "broker-a", 2),))),
        (22, {}, b"", None),
    ],
    ids=["messages", "none", "an offset", "ids", "locked queues", "an error"],
)  # fmt: skip
@pytest.mark.parametrize("serialization", list(Serialization))
def test_an_answer_is_known_by_its_fields(
    code: int, fields: dict[str, str], body: bytes, expected: GroupFrame | None, serialization: Serialization
) -> None:
    """The answer to a pull counts its messages; others have their offset, ids or queues."""
    answer = respond_to(Command(11, serialization=serialization), code, ext_fields=fields, body=body)
    assert info_of(encode(answer)) == FrameInfo(answer.opaque, code, response=True, group=expected)


@pytest.mark.parametrize(
    ("command", "note"),
    [
        (Command(11, {"queueId": "three"}), "invalid literal"),
        (Command(34, body=b"{"), "expected JSON"),
        (Command(34, body=b"[" * 100_000), "recursion"),
        (Command(41, body=write_json({"mqSet": [{"queueId": None}]})), "int()"),
        (respond_to(Command(11), 0, ext_fields=PULLED, body=BODY[:-1]), "expected message 3 of an answer"),
        (respond_to(Command(11), 0, ext_fields=PULLED, body=BODY + b"x"), "expected message 4 of an answer"),
        (respond_to(Command(11), 0, ext_fields=PULLED, body=message(1, magic=7)), "0x7"),
        (respond_to(Command(11), 0, ext_fields=PULLED, body=bytes(4) + message(1)[4:]), "saw 0 bytes"),
        (respond_to(Command(38), 0, body=b'{"consumerIdList":7}'), "not iterable"),
    ],
)
def test_a_damaged_frame_keeps_its_number(command: Command, note: str) -> None:
    """What cannot be read is noted; the frame still belongs to its request."""
    info = info_of(encode(command))
    assert (info.opaque, info.code, info.response) == (command.opaque, command.code, command.is_response)
    assert note in (info.note or "")


def test_no_damage_raises() -> None:
    """Frames with changed, missing and added bytes are read or noted."""
    random = Random(11)
    answer = encode(respond_to(Command(11), 0, ext_fields=PULLED, body=BODY))
    frames = [answer, encode(pull(PULL, serialization=JSON)), encode(Command(41, body=write_json(LOCK)))]
    for _ in range(3_000):
        frame = bytearray(random.choice(frames))
        for _ in range(random.randrange(1, 4)):
            frame[random.randrange(4, len(frame))] = random.randrange(256)
        info_of(bytes(frame[: random.randrange(4, len(frame) + 1)]))


def test_a_record_keeps_the_fields_of_its_frame() -> None:
    """It is read as it was written, without the fields that say nothing."""
    expected = GroupFrame(("g",), offset=0, queues=(("T", "b", 1),))
    record: Any = Passed(1, "broker-a", "server", 7, 11, 99, 5, topic="T", queue_id=0, group=expected)
    line = encode_wire(record)
    assert decode_wire(line) == record
    assert b'"group":{"groups":["g"],"offset":0,"queues":[["T","b",1]]}' in line
