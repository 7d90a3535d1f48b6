"""
Requests of consumers as commands, and their answers as values.

Read in the header classes of 5.3.3 under org.apache.rocketmq.remoting.protocol.header and in protocol.heartbeat.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rocketmq_reference.remoting.answers import expect_success
from rocketmq_reference.remoting.codes import RequestCode, ResponseCode
from rocketmq_reference.remoting.frames import Command, Serialization
from rocketmq_reference.remoting.json_text import read_json, write_json
from rocketmq_reference.remoting.local_offsets import decode_local_offsets

_COMMIT, _SUSPEND, _SUBSCRIPTION, _LITE = 0b01, 0b10, 0b100, 0b10000
"""Flags of a pull: it commits an offset; the broker may hold it; it names its expression; of a lite pull consumer (PullSysFlag)."""

EVERYTHING = "*"


@dataclass(frozen=True, slots=True)
class Subscription:
    """One topic of a group, with a tag expression; version: when it was made or its queues last changed (ms since 1970)."""

    topic: str
    expression: str
    version: int

    @property
    def tags(self) -> tuple[str, ...]:
        """The wanted tags, empty for all (FilterAPI.buildSubscriptionData)."""
        if self.expression in ("", EVERYTHING):
            return ()
        return tuple(tag.strip() for tag in self.expression.split("||") if tag.strip())


@dataclass(frozen=True, slots=True)
class ConsumerGroup:
    """A group as heartbeats name it (ConsumerData). polls: its application asks for messages."""

    name: str
    consume_from_where: str
    message_model: str
    subscriptions: tuple[Subscription, ...]
    polls: bool = False

    def as_json(self, hash_of: Callable[[str], int]) -> dict[str, object]:
        """hash_of: Java's hash of a tag, by which brokers filter."""
        return {
            "consumeFromWhere": self.consume_from_where,
            "consumeType": "CONSUME_ACTIVELY" if self.polls else "CONSUME_PASSIVELY",
            "groupName": self.name,
            "messageModel": self.message_model,
            "subscriptionDataSet": [
                {
                    "classFilterMode": False,
                    "codeSet": [hash_of(tag) for tag in one.tags],
                    "expressionType": "TAG",
                    "subString": one.expression,
                    "subVersion": one.version,
                    "tagsSet": list(one.tags),
                    "topic": one.topic,
                }
                for one in self.subscriptions
            ],
            "unitMode": False,
        }


@dataclass(frozen=True, slots=True)
class Pull:
    """
    A pull of one queue, from ``offset`` (PullMessageRequestHeader).

    max_bytes: None before releases that have it (5.0.0). commit: offset to commit, None for none. suspend_ms: how long the broker
    may hold it. expression: of a lite pull consumer, which names it in each pull; else None. has_own_code: such a pull is a
    LITE_PULL_MESSAGE.
    """

    group: str
    topic: str
    broker: str
    queue_id: int
    offset: int
    max_messages: int
    max_bytes: int | None
    commit: int | None
    suspend_ms: int
    version: int
    expression: str | None = None
    has_own_code: bool = False

    @property
    def flags(self) -> int:
        """As one number (sysFlag)."""
        commits = 0 if self.commit is None else _COMMIT
        return _SUSPEND | commits | (0 if self.expression is None else _SUBSCRIPTION | _LITE)


def pull(asked: Pull, *, serialization: Serialization) -> Command:
    """Pull messages of a queue; answer: parse_pull."""
    fields = {
        "consumerGroup": asked.group,
        "topic": asked.topic,
        "queueId": str(asked.queue_id),
        "queueOffset": str(asked.offset),
        "maxMsgNums": str(asked.max_messages),
        "sysFlag": str(asked.flags),
        "commitOffset": str(asked.commit or 0),
        "suspendTimeoutMillis": str(asked.suspend_ms),
        "subVersion": str(asked.version),
        "expressionType": "TAG",
        "bname": asked.broker,
    }
    if asked.max_bytes is not None:
        fields["maxMsgBytes"] = str(asked.max_bytes)
    if asked.expression is not None:
        fields["subscription"] = asked.expression
    code = RequestCode.LITE_PULL_MESSAGE if asked.has_own_code else RequestCode.PULL_MESSAGE
    return Command(code, fields, serialization=serialization)


def query_offset(group: str, topic: str, broker: str, queue_id: int, *, serialization: Serialization) -> Command:
    """Ask for a group's committed offset; answer: parse_committed."""
    fields = {**_queue_of(group, topic, queue_id), "bname": broker}
    return Command(RequestCode.QUERY_CONSUMER_OFFSET, fields, serialization=serialization)


def update_offset(
    group: str, topic: str, broker: str, queue_id: int, offset: int, *, serialization: Serialization
) -> Command:
    """Commit a group's offset."""
    fields = {**_queue_of(group, topic, queue_id), "commitOffset": str(offset), "bname": broker}
    return Command(RequestCode.UPDATE_CONSUMER_OFFSET, fields, serialization=serialization)


def list_consumer_ids(group: str, *, serialization: Serialization) -> Command:
    """Ask for the ids of a group's members; answer: parse_consumer_ids."""
    return Command(RequestCode.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": group}, serialization=serialization)


def send_back(
    group: str,
    physical_offset: int,
    delay_level: int,
    max_reconsume_times: int,
    *,
    topic: str,
    message_id: str,
    broker: str | None,
    serialization: Serialization,
) -> Command:
    """Hand a failed message back to its broker, named or not (ConsumerSendMsgBackRequestHeader); answer: expect_success."""
    fields = {
        "group": group,
        "offset": str(physical_offset),
        "delayLevel": str(delay_level),
        "originMsgId": message_id,
        "originTopic": topic,
        "unitMode": "false",
        "maxReconsumeTimes": str(max_reconsume_times),
    } | ({} if broker is None else {"bname": broker})
    return Command(RequestCode.CONSUMER_SEND_MSG_BACK, fields, serialization=serialization)


LockedQueue = tuple[str, str, int]
"""Topic, broker and queue id."""


def lock_queues(group: str, client_id: str, queues: Iterable[LockedQueue], *, serialization: Serialization) -> Command:
    """Ask for the locks of queues of one broker, or renew them; answer: parse_locked."""
    return _of_locks(RequestCode.LOCK_BATCH_MQ, group, client_id, queues, serialization)


def unlock_queues(
    group: str, client_id: str, queues: Iterable[LockedQueue], *, serialization: Serialization
) -> Command:
    """Give the locks of queues of one broker back; answer: expect_success."""
    return _of_locks(RequestCode.UNLOCK_BATCH_MQ, group, client_id, queues, serialization)


def _of_locks(
    code: RequestCode, group: str, client_id: str, queues: Iterable[LockedQueue], serialization: Serialization
) -> Command:
    named = [{"brokerName": broker, "queueId": queue_id, "topic": topic} for topic, broker, queue_id in queues]
    body = write_json({"clientId": client_id, "consumerGroup": group, "mqSet": named, "onlyThisBroker": False})
    return Command(code, body=body, serialization=serialization)


def parse_locked(answer: Command) -> set[LockedQueue]:
    """Return the queues that are now locked for the member; raises MQBrokerException for an error answer."""
    found = read_json(expect_success(answer).body).get("lockOKMQSet") or ()
    return {(str(one["topic"]), str(one["brokerName"]), int(one["queueId"])) for one in found}


def unregister_consumer(client_id: str, group: str, *, serialization: Serialization) -> Command:
    """Unregister a client's consumer from a broker; answer: expect_success."""
    fields = {"clientID": client_id, "consumerGroup": group}
    return Command(RequestCode.UNREGISTER_CLIENT, fields, serialization=serialization)


def parse_committed(answer: Command) -> int | None:
    """
    Return a committed offset; None if the broker knows none (QUERY_NOT_FOUND).

    Raises MQBrokerException for any other error answer.
    """
    if answer.code == ResponseCode.QUERY_NOT_FOUND:
        return None
    return int(expect_success(answer).ext_fields["offset"])


def parse_consumer_ids(answer: Command) -> list[str]:
    """
    Return the ids of a group's members, one for each registered connection, so that ids may repeat.

    Raises MQBrokerException for an error answer, which also a broker that does not know the group gives.
    """
    return [str(one) for one in read_json(expect_success(answer).body).get("consumerIdList") or ()]


def parse_reset(asked: Command) -> tuple[str, dict[LockedQueue, int]]:
    """
    Return the group that a broker asks to go on at other offsets, and the new offset of each queue of the topic (ResetOffsetBody).

    Raises ValueError for a body that is no table of offsets, KeyError without a group or a topic.
    """
    topic, text = asked.ext_fields["topic"], asked.body.decode()
    offsets = decode_local_offsets(text) if text else {}
    return asked.ext_fields["group"], {of: offset for of, offset in offsets.items() if of[0] == topic}


def _queue_of(group: str, topic: str, queue_id: int) -> dict[str, str]:
    return {"consumerGroup": group, "topic": topic, "queueId": str(queue_id)}
