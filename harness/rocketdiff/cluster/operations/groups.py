"""Questions to a broker about a consumer group: the ids of its members, its offsets. Its end."""

from rocketdiff.cluster.operations.admin import REQUEST_TIMEOUT_MS
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting import answers, consuming
from rocketmq_reference.remoting.codes import RequestCode, ResponseCode
from rocketmq_reference.remoting.frames import Command, Serialization


def member_ids(
    channels: Channels, broker_address: str, group: str, timeout_ms: int = REQUEST_TIMEOUT_MS
) -> tuple[int, tuple[str, ...]]:
    """
    Return the response code and the client ids that a broker lists for a group, in its order.

    An id is listed once for each connection on which the broker registered it. A broker that knows no member answers with an error.
    """
    command = consuming.list_consumer_ids(group, serialization=Serialization.JSON)
    answer = channels.invoke(broker_address, command, timeout_ms)
    ids = consuming.parse_consumer_ids(answer) if answer.code == ResponseCode.SUCCESS else ()
    return answer.code, tuple(ids)


def committed_offset(
    channels: Channels,
    address: tuple[str, str],
    group: str,
    topic: str,
    queue_id: int,
    timeout_ms: int = REQUEST_TIMEOUT_MS,
) -> int | None:
    """Return the group's offset of a queue; None if the broker, given by name and address, has none. Raises ADMIN_ERRORS."""
    broker, place = address
    command = consuming.query_offset(group, topic, broker, queue_id, serialization=Serialization.JSON)
    return consuming.parse_committed(channels.invoke(place, command, timeout_ms))


def delete_subscription_group(channels: Channels, broker_address: str, group: str) -> None:
    """
    Delete a subscription group and its offsets on one broker; its topics stay. Idempotent. Raises ADMIN_ERRORS.

    The offsets' field is removeOffset up to 4.9.x, cleanOffset from 5.0.0; brokers before 4.7 drop offsets by themselves, of
    topics without a member.
    """
    fields = {"groupName": group, "removeOffset": "true", "cleanOffset": "true"}
    command = Command(RequestCode.DELETE_SUBSCRIPTIONGROUP, fields)
    answers.expect_success(channels.invoke(broker_address, command, REQUEST_TIMEOUT_MS), broker_address)
