"""Responses are parsed to values, and error responses to RocketMQ's exceptions."""

import pytest

from rocketmq_reference.remoting import answers
from rocketmq_reference.remoting.errors import MQBrokerException, MQClientException, RemotingCommandException
from rocketmq_reference.remoting.frames import Command
from rocketmq_reference.remoting.routes import BrokerData, QueueData

_SENT = {"msgId": "AB", "queueId": "2", "queueOffset": "9"}


@pytest.mark.parametrize(
    ("code", "status"),
    [(0, "SEND_OK"), (10, "FLUSH_DISK_TIMEOUT"), (11, "SLAVE_NOT_AVAILABLE"), (12, "FLUSH_SLAVE_TIMEOUT")],
)
def test_four_codes_are_send_results(code: int, status: str) -> None:
    """Four response codes are send results, because the message was stored."""
    assert answers.parse_send(Command(code, _SENT)) == answers.SendAnswer(answers.SendStatus(status), "AB", 2, 9)


def test_other_codes_are_broker_errors() -> None:
    """Any other code is MQBrokerException with code, remark and address."""
    with pytest.raises(MQBrokerException) as raised:
        answers.parse_send(Command(2, remark="busy"), "127.0.0.1:1")
    assert (raised.value.code, raised.value.remark, raised.value.broker_address) == (2, "busy", "127.0.0.1:1")


def test_send_answer_without_header_is_refused() -> None:
    """A successful send response without queue and offset is rejected."""
    with pytest.raises(RemotingCommandException):
        answers.parse_send(Command(0, {"msgId": "AB"}))


def test_route_with_bare_number_keys() -> None:
    """Unquoted number keys of fastjson's maps are parsed, and digits within texts are unchanged."""
    body = (
        b'{"brokerDatas":[{"brokerAddrs":{0:"127.0.0.1:10911",1:"h,2:3"},"brokerName":"a","cluster":"c"}],'
        b'"filterServerTable":{},"queueDatas":[{"brokerName":"a","perm":6,"readQueueNums":4,"topicSynFlag":1,'
        b'"writeQueueNums":8}]}'
    )
    route = answers.parse_route(Command(0, body=body))
    assert route.queues == (QueueData("a", 4, 8, 6, 1),)
    assert route.brokers == (BrokerData("a", "c", {0: "127.0.0.1:10911", 1: "h,2:3"}),)
    assert route.order_topic_conf is None
    assert route.master_addresses() == {"a": "127.0.0.1:10911"}


def test_unknown_topic_is_a_client_error() -> None:
    """An unknown topic is MQClientException with the name server's code."""
    with pytest.raises(MQClientException) as raised:
        answers.parse_route(Command(17, remark="No topic route info"))
    assert raised.value.code == 17


@pytest.mark.parametrize("body", [b"[1]", b"{", b'{"queueDatas":[{}]}'])
def test_other_documents_are_no_route(body: bytes) -> None:
    """A body that is no route is rejected."""
    with pytest.raises(RemotingCommandException):
        answers.parse_route(Command(0, body=body))


def test_a_cluster_response_is_parsed() -> None:
    """A cluster response is parsed to brokers and clusters by name."""
    body = (
        b'{"brokerAddrTable":{"a":{"brokerAddrs":{0:"h:1"},"brokerName":"a","cluster":"c"}},'
        b'"clusterAddrTable":{"c":["a"]}}'
    )
    info = answers.parse_cluster(Command(0, body=body))
    assert info.brokers == {"a": BrokerData("a", "c", {0: "h:1"})}
    assert info.clusters == {"c": frozenset({"a"})}


def test_a_pull_response_has_messages_and_offsets(golden: dict[str, str]) -> None:
    """A pull response is parsed to messages and three offsets."""
    header = {"nextBeginOffset": "18", "minOffset": "0", "maxOffset": "20", "suggestWhichBrokerId": "0"}
    answer = answers.parse_pull(Command(0, header, bytes.fromhex(golden["stored-plain"])))
    assert (answer.status, len(answer.messages), answer.next_offset) == (answers.PullStatus.FOUND, 1, 18)
    assert (answer.min_offset, answer.max_offset) == (0, 20)


@pytest.mark.parametrize(("code", "status"), [(19, "NO_NEW_MSG"), (20, "NO_MATCHED_MSG"), (21, "OFFSET_ILLEGAL")])
def test_three_codes_of_a_pull_mean_no_message(code: int, status: str) -> None:
    """Three response codes mean that no message was found, each for its own reason."""
    header = {"nextBeginOffset": "18", "minOffset": "0", "maxOffset": "20"}
    assert answers.parse_pull(Command(code, header)).status == status


def test_any_other_code_of_a_pull_is_an_exception() -> None:
    """Any other code of a pull is MQBrokerException."""
    with pytest.raises(MQBrokerException):
        answers.parse_pull(Command(26))


def test_an_offset_and_a_table_are_parsed() -> None:
    """An offset and a table of texts are parsed; a missing offset and an error code are exceptions."""
    assert answers.parse_offset(Command(0, {"offset": "7"})) == 7
    assert answers.parse_table(Command(0, body=b'{"table":{"bootTimestamp":"1"}}')) == {"bootTimestamp": "1"}
    with pytest.raises(RemotingCommandException):
        answers.parse_offset(Command(0))
    with pytest.raises(MQBrokerException):
        answers.parse_offset(Command(1))
