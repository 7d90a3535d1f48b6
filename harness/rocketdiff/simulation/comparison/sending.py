"""How the answer lines of a producer differ: sends with their attempts, and selections."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rocketdiff.simulation.comparison.line_parts import Compared, LineParts, Part, parts_of

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


def _send_parts(left: dict[str, Any], right: dict[str, Any]) -> Iterator[Part]:
    yield from _of_attempts(left.get("attempts") or [], right.get("attempts") or [])
    yield from parts_of(_OF_CALL, left, right, "send")


def _selection_parts(left: dict[str, Any], right: dict[str, Any]) -> Iterator[Part]:
    return parts_of(_OF_SELECTION, left, right, "select")


def _of_attempts(one: Sequence[dict[str, Any]], other: Sequence[dict[str, Any]]) -> Iterator[Part]:
    for number, (left, right) in enumerate(zip(one, other, strict=False)):
        yield from parts_of(_OF_ATTEMPT, left, right, f"send.attempts[{number}]")
    if len(one) != len(other):
        yield Compared.ATTEMPTS, "send.attempts", (len(one), len(other))


SENDING_LINES: Mapping[str, LineParts] = {"send": _send_parts, "select": _selection_parts}
"""By kind of line."""
