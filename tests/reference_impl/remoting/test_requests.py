"""Codes and fields of requests; the cluster tests send them to a real broker."""

import json

import pytest

from rocketmq_reference.remoting import requests, sending
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.frames import Command, Serialization


@pytest.mark.parametrize(
    ("command", "code", "fields"),
    [
        (requests.get_route("T"), RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "T"}),
        (requests.get_cluster(), RequestCode.GET_BROKER_CLUSTER_INFO, {}),
        (requests.delete_topic("T"), RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "T"}),
        (requests.get_max_offset("T", 1), RequestCode.GET_MAX_OFFSET, {"topic": "T", "queueId": "1"}),
        (requests.unregister("c", "G"), RequestCode.UNREGISTER_CLIENT, {"clientID": "c", "producerGroup": "G"}),
        (requests.get_runtime_info(), RequestCode.GET_BROKER_RUNTIME_INFO, {}),
    ],
)
def test_requests_have_code_and_fields(command: Command, code: RequestCode, fields: dict[str, str]) -> None:
    """Requests with a short header have the expected code and fields."""
    assert (command.code, dict(command.ext_fields)) == (code, fields)


def test_create_topic_has_as_many_queues_to_read_as_to_write() -> None:
    """A new topic has as many read as write queues; numbers and booleans are text."""
    fields = requests.create_topic("T", 4, order=True).ext_fields
    assert (fields["readQueueNums"], fields["writeQueueNums"], fields["perm"], fields["order"]) == (
        "4",
        "4",
        "6",
        "true",
    )


def test_pull_brings_its_subscription() -> None:
    """A pull contains its subscription, marked by the flag, so that no heartbeat is needed."""
    fields = requests.pull("T", 2, 17, now_ms=5).ext_fields
    assert (fields["sysFlag"], fields["subscription"], fields["subVersion"], fields["queueOffset"]) == (
        "4",
        "*",
        "5",
        "17",
    )


def test_heartbeat_names_client_and_groups() -> None:
    """The body of a heartbeat is JSON, also with a binary header."""
    command = requests.heartbeat("c", ["G2", "G1"], serialization=Serialization.ROCKETMQ)
    assert json.loads(command.body) == {
        "clientID": "c",
        "consumerDataSet": [],
        "producerDataSet": [{"groupName": "G1"}, {"groupName": "G2"}],
    }


_REQUEST = sending.SendRequest("T", 1, b"x", "G", 5, {"k": "v"}, broker="broker-a", is_batch=True)


def test_letters_and_names_give_the_same_header() -> None:
    """Single-letter and full field names give the same header."""
    names = sending.parse_send_fields(Command(RequestCode.SEND_MESSAGE, sending.send_fields(_REQUEST), _REQUEST.body))
    assert sending.parse_send_fields(sending.send_message(_REQUEST)) == names
    assert names["brokerName"] == "broker-a"


def test_batches_have_their_own_code() -> None:
    """A batch has request code 320."""
    assert sending.send_message(_REQUEST).code == RequestCode.SEND_BATCH_MESSAGE
