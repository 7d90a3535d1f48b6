"""The compared values of answer lines, and how two states differ."""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any


class Compared(StrEnum):
    """The compared values, in search order: causes before effects."""

    ORDER = "order of answers"
    QUEUE = "queue"
    ATTEMPT_TIMEOUT = "attempt timeout"
    ATTEMPT_OUTCOME = "outcome of an attempt"
    ATTEMPT_CODE = "response code of an attempt"
    ATTEMPT_ELAPSED = "duration of an attempt"
    ATTEMPT_PORT = "port of an attempt"
    ATTEMPTS = "number of attempts"
    RESULT = "result"
    STATUS = "send status"
    EXCEPTION = "exception"
    CODE = "code of the exception"
    CAUSE = "cause of the exception"
    ELAPSED = "duration of the call"
    CALLBACKS = "number of callbacks"
    SHARE = "share of the queues"
    POLLED = "call of the application"
    ROUNDS = "requests of rounds and pulls"
    OWNED = "queues worked on"
    OFFSETS = "offsets of a queue"
    PROCESS = "messages of a queue"
    INDEX = "index"
    WORST_INDEX = "index of the search for the best known broker"
    QUEUES = "publish list"
    FAULTS = "fault table"
    CLOCK = "clock"
    CONNECTIONS = "connections"
    ANSWER = "answer"


Part = tuple[Compared, str, tuple[Any, Any]]
"""What differs, its path in the line, and both values."""

LineParts = Callable[[Any, Any], Iterator[Part]]
"""All differences between the contents of two lines of one kind, causes first."""

_OF_STATE = {
    "index": Compared.INDEX,
    "worst_index": Compared.WORST_INDEX,
    "queues": Compared.QUEUES,
    "faults": Compared.FAULTS,
    "clock": Compared.CLOCK,
    "connections": Compared.CONNECTIONS,
    "owned": Compared.OWNED,
    "process": Compared.PROCESS,
}


def dump_parts(left: dict[str, Any], right: dict[str, Any]) -> Iterator[Part]:
    """Yield the differences of two dumps."""
    return state_parts(left, right, "dump")


def state_parts(left: dict[str, Any], right: dict[str, Any], where: str) -> Iterator[Part]:
    """Yield the differences of two states; where: the path of the state in its line."""
    return parts_of(_OF_STATE, left, right, where)


def parts_of(fields: Mapping[str, Compared], left: dict[str, Any], right: dict[str, Any], where: str) -> Iterator[Part]:
    """Yield the fields that differ, in the order of ``fields``."""
    for name, compared in fields.items():
        before, after = left.get(name), right.get(name)
        if before == after:
            continue
        if compared is Compared.QUEUE:
            yield compared, where, (_queue(left), _queue(right))
        elif compared is Compared.FAULTS and before and after:
            yield from _of_faults(before, after, f"{where}.{name}")
        else:
            yield compared, f"{where}.{name}", (before, after)


def _of_faults(one: dict[str, Any], other: dict[str, Any], where: str) -> Iterator[Part]:
    for broker in sorted({*one, *other}):
        if one.get(broker) != other.get(broker):
            yield Compared.FAULTS, f"{where}.{broker}", (one.get(broker), other.get(broker))


def _queue(content: dict[str, Any]) -> str | None:
    if "queue_id" not in content:
        return None
    return f"queue {content['queue_id']} of {content.get('broker')}"
