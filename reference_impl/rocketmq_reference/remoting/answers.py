"""Answers as values; error answers become RocketMQ's exceptions."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from rocketmq_reference.remoting.codes import ResponseCode
from rocketmq_reference.remoting.errors import MQBrokerException, MQClientException, RemotingCommandException
from rocketmq_reference.remoting.frames import Command
from rocketmq_reference.remoting.json_text import read_json
from rocketmq_reference.remoting.messages import StoredMessage, decode_stored
from rocketmq_reference.remoting.routes import ClusterInfo, TopicRouteData, decode_cluster, decode_route


class SendStatus(StrEnum):
    """How safely a message was stored (SendStatus)."""

    SEND_OK = "SEND_OK"
    FLUSH_DISK_TIMEOUT = "FLUSH_DISK_TIMEOUT"
    FLUSH_SLAVE_TIMEOUT = "FLUSH_SLAVE_TIMEOUT"
    SLAVE_NOT_AVAILABLE = "SLAVE_NOT_AVAILABLE"


_SEND_STATUS = {
    ResponseCode.SUCCESS: SendStatus.SEND_OK,
    ResponseCode.FLUSH_DISK_TIMEOUT: SendStatus.FLUSH_DISK_TIMEOUT,
    ResponseCode.FLUSH_SLAVE_TIMEOUT: SendStatus.FLUSH_SLAVE_TIMEOUT,
    ResponseCode.SLAVE_NOT_AVAILABLE: SendStatus.SLAVE_NOT_AVAILABLE,
}


class SendAnswer(NamedTuple):  # made for every send; tuples are the fastest to create
    """A stored send: status, the broker's message id, queue and offset (SendMessageResponseHeader)."""

    status: SendStatus
    offset_message_id: str
    queue_id: int
    queue_offset: int
    transaction_id: str | None = None


class PullStatus(StrEnum):
    """How a pull ended (PullStatus)."""

    FOUND = "FOUND"
    NO_NEW_MESSAGE = "NO_NEW_MSG"
    NO_MATCHED_MESSAGE = "NO_MATCHED_MSG"
    OFFSET_ILLEGAL = "OFFSET_ILLEGAL"


_PULL_STATUS = {
    ResponseCode.SUCCESS: PullStatus.FOUND,
    ResponseCode.PULL_NOT_FOUND: PullStatus.NO_NEW_MESSAGE,
    ResponseCode.PULL_RETRY_IMMEDIATELY: PullStatus.NO_MATCHED_MESSAGE,
    ResponseCode.PULL_OFFSET_MOVED: PullStatus.OFFSET_ILLEGAL,
}


@dataclass(frozen=True, slots=True)
class PullAnswer:
    """
    A pull's messages, the next offset, and the queue's first offset and one past its last.

    suggested_broker: id of the broker to ask next, 0 for the master.
    """

    status: PullStatus
    messages: tuple[StoredMessage, ...]
    next_offset: int
    min_offset: int
    max_offset: int
    suggested_broker: int = 0


def parse_send(answer: Command, broker_address: str | None = None) -> SendAnswer:
    """
    Read the answer to a send: codes 0, 10, 11 and 12 are results (MQClientAPIImpl.processSendResponse, every release).

    Raises MQBrokerException for every other code, RemotingCommandException for a header without queue or offset.
    """
    status = _SEND_STATUS.get(answer.code)  # type: ignore[call-overload]  # int and IntEnum hash alike
    if status is None:
        raise MQBrokerException(answer.code, answer.remark, broker_address)
    header = answer.ext_fields
    try:
        return SendAnswer(
            status, header["msgId"], int(header["queueId"]), int(header["queueOffset"]), header.get("transactionId")
        )
    except (KeyError, ValueError) as error:
        raise RemotingCommandException(f"expected msgId, queueId and queueOffset, saw {dict(header)}") from error


def parse_route(answer: Command) -> TopicRouteData:
    """
    Read the answer to a route request (MQClientAPIImpl.getTopicRouteInfoFromNameServer, every release).

    Raises MQClientException with the name server's code otherwise; TOPIC_NOT_EXIST is 17.
    """
    if answer.code == ResponseCode.SUCCESS and answer.body:
        return decode_route(answer.body)
    raise MQClientException(answer.remark or "", answer.code)


def parse_cluster(answer: Command) -> ClusterInfo:
    """
    Read the answer to a cluster info request.

    Raises MQBrokerException for an error answer.
    """
    expect_success(answer)
    return decode_cluster(answer.body)


def parse_offset(answer: Command) -> int:
    """
    Read the answer to a request for a smallest or largest offset, or an offset by time.

    Raises MQBrokerException for an error answer.
    """
    expect_success(answer)
    return _number(answer, "offset")


def parse_pull(answer: Command, broker_address: str | None = None) -> PullAnswer:
    """
    Read the answer to a pull (MQClientAPIImpl.processPullResponse, every release).

    Raises MQBrokerException for codes other than 0, 19, 20 and 21, RemotingCommandException for unreadable messages.
    """
    status = _PULL_STATUS.get(answer.code)  # type: ignore[call-overload]  # int and IntEnum hash alike
    if status is None:
        raise MQBrokerException(answer.code, answer.remark, broker_address)
    return PullAnswer(
        status=status,
        messages=tuple(decode_stored(answer.body)) if status is PullStatus.FOUND else (),
        next_offset=_number(answer, "nextBeginOffset"),
        min_offset=_number(answer, "minOffset"),
        max_offset=_number(answer, "maxOffset"),
        suggested_broker=int(answer.ext_fields.get("suggestWhichBrokerId") or 0),
    )


def parse_table(answer: Command) -> dict[str, str]:
    """
    Read a key-value answer such as broker runtime info (KVTable).

    Raises MQBrokerException for an error answer.
    """
    expect_success(answer)
    table = read_json(answer.body).get("table") or {}
    return {str(name): str(value) for name, value in table.items()}


def expect_success(answer: Command, broker_address: str | None = None) -> Command:
    """
    Return the answer if it is a success.

    Raises MQBrokerException with the answer's code and remark otherwise.
    """
    if answer.code != ResponseCode.SUCCESS:
        raise MQBrokerException(answer.code, answer.remark, broker_address)
    return answer


def _number(answer: Command, name: str) -> int:
    try:
        return int(answer.ext_fields[name])
    except (KeyError, ValueError) as error:
        raise RemotingCommandException(f"expected {name}, saw {dict(answer.ext_fields)}") from error
