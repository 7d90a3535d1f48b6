"""Questions to a broker about a consumer group: the ids of its members, its offsets."""

import json

from rocketdiff.cluster.operations.admin import REQUEST_TIMEOUT_MS
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting import answers
from rocketmq_reference.remoting.codes import RequestCode, ResponseCode
from rocketmq_reference.remoting.frames import Command

_GET_CONSUMER_LIST_BY_GROUP = 38
"""RequestCode of every release."""

_QUERY_NOT_FOUND = 22
"""ResponseCode: the group has no offset of this queue."""


def member_ids(
    channels: Channels, broker_address: str, group: str, timeout_ms: int = REQUEST_TIMEOUT_MS
) -> tuple[int, tuple[str, ...]]:
    """
    Return the response code and the client ids that a broker lists for a group, in its order.

    An id is listed once for each connection on which the broker registered it. A broker that knows no member answers with an error.
    """
    command = Command(_GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": group})
    answer = channels.invoke(broker_address, command, timeout_ms)
    if answer.code != ResponseCode.SUCCESS:
        return answer.code, ()
    return answer.code, tuple(json.loads(answer.body or b"{}").get("consumerIdList", ()))


def committed_offset(
    channels: Channels, broker_address: str, group: str, topic: str, queue_id: int, timeout_ms: int = REQUEST_TIMEOUT_MS
) -> int | None:
    """Return the group's offset of a queue as the broker has it; None if it has none. Raises ADMIN_ERRORS."""
    fields = {"consumerGroup": group, "topic": topic, "queueId": str(queue_id)}
    answer = channels.invoke(broker_address, Command(RequestCode.QUERY_CONSUMER_OFFSET, fields), timeout_ms)
    return None if answer.code == _QUERY_NOT_FOUND else answers.parse_offset(answer)
