"""Parsed answer lines of a host."""

import json
from dataclasses import dataclass
from typing import Any

from rocketdiff.core.errors import HarnessError

_PLACE = ("script", "step", "at", "n", "callback")
_STATE = "state"

Place = tuple[int, int, int, int]
"""Step, timeline entry, send number and callback number; 0 where there is only one."""


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """
    An answer line.

    kind: the line's key (select, send, dump; in a trace, any step's key). content: the value under that key. state: the
    client state after the step, in a trace.
    """

    step: int
    at: int | None
    n: int | None
    callback: int | None
    kind: str
    content: Any
    state: dict[str, Any] | None

    @property
    def place(self) -> str:
        """The place in words: ``step 4, entry 2, send 3``."""
        parts = [f"step {self.step}"]
        parts += [f"entry {self.at}"] if self.at is not None else []
        parts += [f"send {self.n}"] if self.n is not None else []
        parts += [f"callback {self.callback}"] if self.callback is not None else []
        return ", ".join(parts)


def answer_line(text: str) -> AnswerLine:
    """Parse a line; HarnessError if it is malformed."""
    try:
        data = json.loads(text)
        (kind,) = data.keys() - {*_PLACE, _STATE}
        return AnswerLine(
            step=data["step"],
            at=data.get("at"),
            n=data.get("n"),
            callback=data.get("callback"),
            kind=kind,
            content=data[kind],
            state=data.get(_STATE),
        )
    except (ValueError, KeyError, AttributeError):
        raise HarnessError("an answer line of a simulation host", seen=text[:200]) from None


def visible(lines: list[str]) -> list[str]:
    """Reduce a trace to what an application can see: without states and without lines of steps that have no answer."""
    return [shown for line in lines if (shown := _visible(line)) is not None]


def _visible(text: str) -> str | None:
    data = json.loads(text)
    data.pop(_STATE, None)
    (kind,) = data.keys() - set(_PLACE)
    return None if data[kind] is True else json.dumps(data, ensure_ascii=False)
