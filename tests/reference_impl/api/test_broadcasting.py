"""A member of a broadcasting group on a scripted broker: it gets everything, and keeps its offsets itself."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rocketmq_reference.api.push_consumer import PushConsumer
from rocketmq_reference.client.consuming.memory import OffsetEvent
from rocketmq_reference.host.offset_file import OffsetFile
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.errors import MQClientException
from rocketmq_reference.remoting.local_offsets import LocalQueue, decode_local_offsets, encode_local_offsets
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.concurrent import ConsumeContext, ConsumeStatus
from rocketmq_reference.rules.consumer.offsets import TopicQueue
from rocketmq_reference.rules.consumer.settings import ConsumeFromWhere, MessageModel
from tests.reference_impl.consuming_group import FIRST, T0, Group, group_on_a_broker

T1 = TopicQueue("T", Queue("broker-a", 1))
L0, L1 = ("T", "broker-a", 0), ("T", "broker-a", 1)


@pytest.fixture
def group() -> Iterator[Group]:
    with group_on_a_broker() as made:
        yield made


@contextmanager
def broadcasting(
    group: Group, folder: Path, where: ConsumeFromWhere = FIRST, release: str = "5.3.3"
) -> Iterator[PushConsumer]:
    model = MessageModel.BROADCASTING
    with group.consuming(where, release=release, message_model=model, local_offset_store_dir=folder) as consumer:
        yield consumer


def path_of(folder: Path) -> Path:
    return folder / "127.0.0.1@m0" / "G" / "offsets.json"


def stored(folder: Path) -> dict[LocalQueue, int]:
    return decode_local_offsets(path_of(folder).read_text())


def test_each_member_has_every_queue_and_asks_for_no_ids(group: Group, tmp_path: Path) -> None:
    """No broker gets an offset, neither alone nor with a pull; nothing is subscribed for retries."""
    group.broker.put("T", 0, "a", "b")
    group.broker.put("T", 1, "c")
    with broadcasting(group, tmp_path):
        group.wait_for(lambda: {(OffsetEvent.UPDATE, T0, 2), (OffsetEvent.UPDATE, T1, 1)} <= set(group.events))
        group.broker.put("T", 0, "d")
        group.wait_for(lambda: (OffsetEvent.UPDATE, T0, 3) in group.events)
    assert stored(tmp_path) == {L0: 3, L1: 1}
    assert sorted(body for _, body, _ in group.seen) == ["a", "b", "c", "d"]
    for code in (
        RequestCode.GET_CONSUMER_LIST_BY_GROUP,
        RequestCode.UPDATE_CONSUMER_OFFSET,
        RequestCode.QUERY_CONSUMER_OFFSET,
    ):
        assert not group.broker.requests_of(code)
    assert {int(pull.ext_fields["sysFlag"]) & 1 for pull in group.broker.requests_of(RequestCode.PULL_MESSAGE)} == {0}
    (named,) = json.loads(group.broker.requests_of(RequestCode.HEART_BEAT)[0].body)["consumerDataSet"]
    assert named["messageModel"] == "BROADCASTING"
    assert [each["topic"] for each in named["subscriptionDataSet"]] == ["T"]
    assert not group.shares


def test_a_failed_message_is_dropped(group: Group, tmp_path: Path) -> None:
    """Its offset is passed as if it had succeeded."""

    def later(_message: StoredMessage, _context: ConsumeContext) -> ConsumeStatus:
        return ConsumeStatus.RECONSUME_LATER

    group.answer = later
    group.broker.put("T", 0, "a")
    with broadcasting(group, tmp_path):
        group.wait_for(lambda: (OffsetEvent.UPDATE, T0, 1) in group.events)
    assert not group.broker.requests_of(RequestCode.CONSUMER_SEND_MSG_BACK)
    assert not group.broker.stored
    assert group.seen == [("T", "a", 0)]


@pytest.mark.parametrize(
    ("where", "in_file", "expected"),
    [
        (ConsumeFromWhere.LAST, None, ["end"]),
        (FIRST, None, ["a", "b", "end"]),
        (ConsumeFromWhere.LAST, 1, ["b", "end"]),
        (FIRST, 1, ["b", "end"]),
    ],
)
def test_the_first_start_and_the_next(
    group: Group, tmp_path: Path, where: ConsumeFromWhere, in_file: int | None, expected: list[str]
) -> None:
    """A queue begins where the file says, else where the setting says; what the broker knows of the group does not matter."""
    group.broker.put("T", 0, "a", "b")
    group.broker.committed["T", 0] = 1
    if in_file is not None:
        OffsetFile(path_of(tmp_path)).write(encode_local_offsets({L0: in_file}))
    with broadcasting(group, tmp_path, where):
        group.wait_for(lambda: T0 in group.owned)
        group.broker.put("T", 0, "end")
        group.wait_for(lambda: ("T", "end", 0) in group.seen)
        group.wait_for(lambda: (OffsetEvent.UPDATE, T0, 3) in group.events)
    assert sorted(body for _, body, _ in group.seen) == expected
    assert stored(tmp_path)[L0] == 3


@pytest.mark.parametrize(("release", "kept"), [("4.9.7", False), ("4.9.8", True), ("5.1.4", False), ("5.2.0", True)])
def test_offsets_of_queues_that_are_not_there(group: Group, tmp_path: Path, release: str, kept: bool) -> None:
    """Some releases write only the member's queues, others leave the rest of the file as it is."""
    lost = ("T", "broker-z", 4)
    OffsetFile(path_of(tmp_path)).write(encode_local_offsets({lost: 9}))
    group.broker.put("T", 0, "a")
    with broadcasting(group, tmp_path, release=release):
        group.wait_for(lambda: (OffsetEvent.UPDATE, T0, 1) in group.events)
    assert (lost in stored(tmp_path)) is kept
    assert stored(tmp_path)[L0] == 1


def test_a_damaged_file_has_a_copy(group: Group, tmp_path: Path) -> None:
    """The copy is what the file held before its last change; a start without either throws."""
    file = OffsetFile(path_of(tmp_path))
    file.write(encode_local_offsets({L0: 1}))
    file.write("damaged")
    group.broker.put("T", 0, "a", "b")
    with broadcasting(group, tmp_path):
        group.wait_for(lambda: ("T", "b", 0) in group.seen)
    assert [body for _, body, _ in group.seen] == ["b"]
    for _ in range(2):
        file.write("damaged")
    with pytest.raises(MQClientException, match="readLocalOffset"), broadcasting(group, tmp_path):
        pass


def test_members_of_one_machine_share_a_client_id_and_so_the_file(group: Group, tmp_path: Path) -> None:
    """Without a name of its own an instance is DEFAULT, unlike in a clustering group."""
    model = MessageModel.BROADCASTING
    consumer = group.member("5.3.3", instance_name=None, message_model=model, local_offset_store_dir=tmp_path)
    assert consumer.client_id == "127.0.0.1@DEFAULT"
    consumer.shutdown()
