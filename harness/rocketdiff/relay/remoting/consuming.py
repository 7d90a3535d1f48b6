"""
What the frames of consumers say, without I/O: pulls, offsets, ids, locks, heartbeats, failed messages, and their answers.

A response does not name its request, so an answer is known by its fields. Messages in the answer to a pull are counted, not decoded.
Read in RequestCode and the header classes of 5.3.3 under org.apache.rocketmq.remoting.protocol; 4.0.0-incubating has the same names.
"""

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.errors import RemotingCommandException
from rocketmq_reference.remoting.frames import Command
from rocketmq_reference.remoting.json_text import read_json
from rocketmq_reference.remoting.messages import MAGIC_V1, MAGIC_V2

LOCK_BATCH_MQ, UNLOCK_BATCH_MQ, LITE_PULL_MESSAGE = 41, 42, 361

PULLS = frozenset({RequestCode.PULL_MESSAGE, LITE_PULL_MESSAGE})

COMMITS, MAY_WAIT = 0b01, 0b10
"""Flags of a pull (PullSysFlag): it commits an offset; the broker may hold it."""

_HEAD = struct.Struct(">II12xq")
"""Of a stored message: its size, magic word and queue offset."""


class GroupFrame(msgspec.Struct, frozen=True, omit_defaults=True):
    """
    What a frame of a consumer says; what it does not say is None or empty.

    groups: that it is about. broker: the name of a queue's broker (bname, from 5.0.0). ids: of the client that asks, or of all members in an answer. offset: of a pull, a commit or an
    answer; the physical offset of a message handed back. commit_offset: of a pull with that flag. flags, suspend_ms: of a pull.
    next_offset, min_offset, max_offset, suggested (broker id), count, first_offset, last_offset: of a pull's answer. queues: of a
    lock, as topic, broker and queue id.
    """

    groups: tuple[str, ...] = ()
    broker: str | None = None
    ids: tuple[str, ...] | None = None
    offset: int | None = None
    commit_offset: int | None = None
    flags: int | None = None
    suspend_ms: int | None = None
    delay_level: int | None = None
    next_offset: int | None = None
    min_offset: int | None = None
    max_offset: int | None = None
    suggested: int | None = None
    count: int | None = None
    first_offset: int | None = None
    last_offset: int | None = None
    queues: tuple[tuple[str, str, int], ...] | None = None


def group_request(command: Command) -> GroupFrame | None:
    """
    Return what a consumer's request says, also a broker's notification; None for any other request.

    Raises ValueError, or RemotingCommandException, if it cannot be read.
    """
    read = _REQUESTS.get(command.code)
    return None if read is None else read(command)


def _pull(command: Command) -> GroupFrame:
    fields = command.ext_fields
    flags = _number(fields, "sysFlag") or 0
    return GroupFrame(
        _groups(fields),
        broker=fields.get("bname"),
        offset=_number(fields, "queueOffset"),
        commit_offset=_number(fields, "commitOffset") if flags & COMMITS else None,
        flags=flags,
        suspend_ms=_number(fields, "suspendTimeoutMillis"),
    )


def _of_a_group(command: Command) -> GroupFrame:
    """A commit has an offset; questions have none."""
    fields = command.ext_fields
    return GroupFrame(_groups(fields), fields.get("bname"), offset=_number(fields, "commitOffset"))


def _handed_back(command: Command) -> GroupFrame:
    fields = command.ext_fields
    return GroupFrame(
        _named(fields.get("group")), offset=_number(fields, "offset"), delay_level=_number(fields, "delayLevel")
    )


def _unregistered(command: Command) -> GroupFrame:
    return GroupFrame(_groups(command.ext_fields), ids=_named(command.ext_fields.get("clientID")))


def _heartbeat(command: Command) -> GroupFrame:
    body = _object(command.body)
    consumers = _objects(body.get("consumerDataSet"))
    return GroupFrame(_texts(each.get("groupName") for each in consumers), ids=_named(body.get("clientID")))


def _locked(command: Command) -> GroupFrame:
    body = _object(command.body)
    queues = _queues(body.get("mqSet"))
    return GroupFrame(_named(body.get("consumerGroup")), ids=_named(body.get("clientId")), queues=queues)


def group_answer(command: Command) -> GroupFrame | None:
    """
    Return what the answer to a consumer's request says; None for an answer that says nothing about groups.

    Raises ValueError, or RemotingCommandException, if it cannot be read.
    """
    fields, body = command.ext_fields, command.body
    if "nextBeginOffset" in fields:
        count, first, last = counted(body)
        return GroupFrame(
            next_offset=_number(fields, "nextBeginOffset"),
            min_offset=_number(fields, "minOffset"),
            max_offset=_number(fields, "maxOffset"),
            suggested=_number(fields, "suggestWhichBrokerId"),
            count=count,
            first_offset=first,
            last_offset=last,
        )
    if "offset" in fields and "queueOffset" not in fields:
        return GroupFrame(offset=_number(fields, "offset"))
    if b'"consumerIdList"' in body:
        return GroupFrame(ids=_texts(_object(body).get("consumerIdList") or ()))
    if b'"lockOKMQSet"' in body:
        return GroupFrame(queues=_queues(_object(body).get("lockOKMQSet")))
    return None


def counted(body: bytes) -> tuple[int, int | None, int | None]:
    """
    Return the number of messages in the answer to a pull, and the queue offsets of the first and the last one.

    Raises ValueError at the first bytes that are no message.
    """
    at = count = 0
    first = last = None
    while at < len(body):
        if at + _HEAD.size > len(body):
            raise ValueError(f"expected message {count + 1} of an answer, saw {len(body) - at} bytes")
        size, magic, last = _HEAD.unpack_from(body, at)
        if magic not in (MAGIC_V1, MAGIC_V2) or size < _HEAD.size or at + size > len(body):
            raise ValueError(f"expected message {count + 1} of an answer at byte {at}, saw {size} bytes, {magic:#x}")
        first = last if first is None else first
        count += 1
        at += size
    return count, first, last


def _number(fields: Mapping[str, str], name: str) -> int | None:
    text = fields.get(name)
    return None if text is None else int(text)


def _groups(fields: Mapping[str, str]) -> tuple[str, ...]:
    return _named(fields.get("consumerGroup"))


def _named(name: object) -> tuple[str, ...]:
    return (str(name),) if name else ()


def _texts(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(str(each) for each in values)


def _object(body: bytes) -> Mapping[str, Any]:
    found = read_json(body)
    if not isinstance(found, dict):
        raise RemotingCommandException(f"expected a JSON object, saw {body[:50]!r}")
    return found


def _objects(values: object) -> list[Mapping[str, Any]]:
    if not isinstance(values, list):
        return []
    return [each for each in values if isinstance(each, dict)]


def _queues(values: object) -> tuple[tuple[str, str, int], ...]:
    return tuple(
        (str(each.get("topic")), str(each.get("brokerName")), int(each.get("queueId", 0))) for each in _objects(values)
    )


_REQUESTS: Mapping[int, Callable[[Command], GroupFrame]] = {
    **dict.fromkeys(PULLS, _pull),
    RequestCode.QUERY_CONSUMER_OFFSET: _of_a_group,
    RequestCode.UPDATE_CONSUMER_OFFSET: _of_a_group,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: _of_a_group,
    RequestCode.GET_MAX_OFFSET: _of_a_group,
    RequestCode.GET_CONSUMER_LIST_BY_GROUP: _of_a_group,
    RequestCode.NOTIFY_CONSUMER_IDS_CHANGED: _of_a_group,
    RequestCode.HEART_BEAT: _heartbeat,
    RequestCode.UNREGISTER_CLIENT: _unregistered,
    RequestCode.CONSUMER_SEND_MSG_BACK: _handed_back,
    LOCK_BATCH_MQ: _locked,
    UNLOCK_BATCH_MQ: _locked,
}

GROUP_CODES = _REQUESTS.keys()
"""Codes of the requests that are decoded."""
