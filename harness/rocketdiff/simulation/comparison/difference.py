"""
The first difference between two answers to one script, compared line by line.

The comparison is exact: the hosts share script, clock and random tape, so every difference is a difference of behaviour.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import Any

from rocketdiff.simulation.comparison.answers import AnswerLine, answer_line


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
    INDEX = "index"
    WORST_INDEX = "index of the search for the best known broker"
    QUEUES = "publish list"
    FAULTS = "fault table"
    CLOCK = "clock"
    CONNECTIONS = "connections"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class AnswerDifference:
    """
    The first difference of two answers; pairs are (left, right).

    where: path of the value in its line, such as ``send.attempts[1].timeout_ms``. states: the states in the differing lines
    (None without a trace or a line). before: the common state after the last equal line. rules: the known reasons; filled in
    from ``rules_behind``.
    """

    script: str
    step: int
    place: str
    compared: Compared
    where: str
    values: tuple[Any, Any]
    before: dict[str, Any] | None
    states: tuple[dict[str, Any] | None, dict[str, Any] | None]
    line: int
    lines: tuple[str | None, str | None]
    rules: tuple[str, ...] = ()


def first_difference(script: str, left: Sequence[str], right: Sequence[str]) -> AnswerDifference | None:
    """Return the first difference, or None if the answers are equal."""
    for number, (left_line, right_line) in enumerate(zip_longest(left, right)):
        if left_line != right_line:
            before = answer_line(left[number - 1]).state if number else None
            return _difference(script, number, left_line, right_line, before)
    return None


def places_of_difference(one: str, other: str) -> frozenset[str]:
    """Return the paths of all differences between two lines, in the form of ``Difference.where``."""
    left, right = answer_line(one), answer_line(other)
    if _named(left) != _named(right):
        return frozenset({""})
    return frozenset(where for _, where, _ in _parts(left, right))


def _difference(
    script: str, number: int, one: str | None, other: str | None, before: dict[str, Any] | None
) -> AnswerDifference:
    left, right = (answer_line(line) if line is not None else None for line in (one, other))
    known = left or right
    assert known is not None
    compared, where, values = Compared.ORDER, "", (_named(left), _named(right))
    if left is not None and right is not None and _named(left) == _named(right):
        compared, where, values = next(_parts(left, right), (Compared.ANSWER, left.kind, (one, other)))
    return AnswerDifference(
        script=script,
        step=known.step if left is None or right is None else min(left.step, right.step),
        place=known.place,
        compared=compared,
        where=where,
        values=values,
        before=before,
        states=(left.state if left else None, right.state if right else None),
        line=number,
        lines=(one, other),
    )


Part = tuple[Compared, str, tuple[Any, Any]]

_OF_ATTEMPT = {
    "broker": Compared.QUEUE,
    "queue_id": Compared.QUEUE,
    "timeout_ms": Compared.ATTEMPT_TIMEOUT,
    "outcome": Compared.ATTEMPT_OUTCOME,
    "code": Compared.ATTEMPT_CODE,
    "elapsed_ms": Compared.ATTEMPT_ELAPSED,
    "vip": Compared.ATTEMPT_PORT,
}
_OF_CALL = {
    "result": Compared.RESULT,
    "status": Compared.STATUS,
    "exception": Compared.EXCEPTION,
    "code": Compared.CODE,
    "cause": Compared.CAUSE,
    "broker": Compared.QUEUE,
    "queue_id": Compared.QUEUE,
    "elapsed_ms": Compared.ELAPSED,
    "callbacks": Compared.CALLBACKS,
}
_OF_SELECTION = {"exception": Compared.EXCEPTION, "broker": Compared.QUEUE, "queue_id": Compared.QUEUE}
_OF_STATE = {
    "index": Compared.INDEX,
    "worst_index": Compared.WORST_INDEX,
    "queues": Compared.QUEUES,
    "faults": Compared.FAULTS,
    "clock": Compared.CLOCK,
    "connections": Compared.CONNECTIONS,
}


def _parts(left: AnswerLine, right: AnswerLine) -> Iterator[Part]:
    """All differences between two lines of the same kind, causes first."""
    kind, before, after = left.kind, left.content, right.content
    if kind == "send":
        yield from _of_attempts(before.get("attempts") or [], after.get("attempts") or [])
        yield from _of(_OF_CALL, before, after, kind)
    elif kind == "select":
        yield from _of(_OF_SELECTION, before, after, kind)
    elif kind == "dump":
        yield from _of(_OF_STATE, before, after, kind)
    yield from _of(_OF_STATE, left.state or {}, right.state or {}, "state")


def _of_attempts(one: Sequence[dict[str, Any]], other: Sequence[dict[str, Any]]) -> Iterator[Part]:
    for number, (left, right) in enumerate(zip(one, other, strict=False)):
        yield from _of(_OF_ATTEMPT, left, right, f"send.attempts[{number}]")
    if len(one) != len(other):
        yield Compared.ATTEMPTS, "send.attempts", (len(one), len(other))


def _of(fields: dict[str, Compared], left: dict[str, Any], right: dict[str, Any], where: str) -> Iterator[Part]:
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


def _named(line: AnswerLine | None) -> str | None:
    """Kind and place of a line; lines that differ here are not compared further."""
    return None if line is None else f"{line.kind} of {line.place}"
