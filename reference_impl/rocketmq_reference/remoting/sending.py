"""
Send requests: the header with single-letter names (SEND_MESSAGE_V2), the header with full names (SEND_MESSAGE), batches.

Java clients of every release use the letters unless a system property disables them (MQClientAPIImpl.sendSmartMsg).
Read in SendMessageRequestHeaderV2 and SendMessageRequestHeader, 4.0.0-incubating to 5.3.3.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.frames import Command, Serialization
from rocketmq_reference.remoting.properties import encode_properties
from rocketmq_reference.remoting.requests import DEFAULT_TOPIC


class SendRequest(NamedTuple):  # made for every send; tuples are the fastest to create
    """
    One message for one queue. born_timestamp_ms: milliseconds since 1970. body is as sent, compressed or a batch.

    broker: name of the addressed broker, None omits it. is_batch: None omits the field. closes_properties: see
    encode_properties. reconsume_times, max_reconsume_times: of a failed message that a consumer sends again.
    """

    topic: str
    queue_id: int
    body: bytes
    group: str
    born_timestamp_ms: int
    properties: Mapping[str, str] = MappingProxyType({})
    sys_flag: int = 0
    flag: int = 0
    is_batch: bool | None = False
    broker: str | None = None
    default_topic: str = DEFAULT_TOPIC
    default_topic_queues: int = 4
    closes_properties: bool = True
    reconsume_times: int = 0
    max_reconsume_times: int | None = None


LETTERS = {
    "producerGroup": "a",
    "topic": "b",
    "defaultTopic": "c",
    "defaultTopicQueueNums": "d",
    "queueId": "e",
    "sysFlag": "f",
    "bornTimestamp": "g",
    "flag": "h",
    "properties": "i",
    "reconsumeTimes": "j",
    "unitMode": "k",
    "maxReconsumeTimes": "l",
    "batch": "m",
    "brokerName": "n",
}
"""Full name to letter (SendMessageRequestHeaderV2.createSendMessageRequestHeaderV2)."""


def send_message(
    request: SendRequest, *, serialization: Serialization = Serialization.JSON, version: int = 0
) -> Command:
    """Send a message with the single-letter header: code 310, or 320 for a batch; answer: parse_send."""
    fields = {LETTERS[name]: value for name, value in send_fields(request).items()}
    code = RequestCode.SEND_BATCH_MESSAGE if request.is_batch else RequestCode.SEND_MESSAGE_V2
    return Command(code, fields, request.body, serialization=serialization, language="PYTHON", version=version)


def send_fields(request: SendRequest) -> dict[str, str]:
    """Return the header under its full names, all values as text."""
    fields = {
        "producerGroup": request.group,
        "topic": request.topic,
        "defaultTopic": request.default_topic,
        "defaultTopicQueueNums": str(request.default_topic_queues),
        "queueId": str(request.queue_id),
        "sysFlag": str(request.sys_flag),
        "bornTimestamp": str(request.born_timestamp_ms),
        "flag": str(request.flag),
        "properties": encode_properties(request.properties, closed=request.closes_properties),
        "reconsumeTimes": str(request.reconsume_times),
        "unitMode": "false",
    }
    if request.max_reconsume_times is not None:
        fields["maxReconsumeTimes"] = str(request.max_reconsume_times)
    if request.is_batch is not None:
        fields["batch"] = "true" if request.is_batch else "false"
    if request.broker is not None:
        fields["brokerName"] = request.broker
    return fields


def parse_send_fields(command: Command) -> dict[str, str]:
    """Return any send's header under its full names, as a broker does (SendMessageRequestHeader.parseRequestHeader)."""
    if command.code == RequestCode.SEND_MESSAGE:
        return dict(command.ext_fields)
    return {name: command.ext_fields[letter] for name, letter in LETTERS.items() if letter in command.ext_fields}
