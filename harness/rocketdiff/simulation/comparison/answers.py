"""One answer line of a host, parsed: its step, the answer, and in a trace the state."""

import json
from dataclasses import dataclass
from typing import Any

from rocketdiff.core.errors import HarnessError

_PLACE = ("script", "step", "at", "n", "callback")
_STATE = "state"

Place = tuple[int, int, int, int]
"""Step, entry of a timeline, number of the send and of the callback; 0 where there is only one."""


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """
    A line; ``kind`` is the key of what it answers (select, send, dump, or in a trace the key of any step).

    content: what stands under it. state: the client's state after it, when it was asked to be traced.
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
        """In words: ``step 4, entry 2, send 3``."""
        parts = [f"step {self.step}"]
        parts += [f"entry {self.at}"] if self.at is not None else []
        parts += [f"send {self.n}"] if self.n is not None else []
        parts += [f"callback {self.callback}"] if self.callback is not None else []
        return ", ".join(parts)


def answer_line(text: str) -> AnswerLine:
    """A parsed line; HarnessError for one that no host may print."""
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
    """A trace without what an application cannot see: no states, and no lines for steps that answer nothing."""
    return [shown for line in lines if (shown := _visible(line)) is not None]


def _visible(text: str) -> str | None:
    data = json.loads(text)
    data.pop(_STATE, None)
    (kind,) = data.keys() - set(_PLACE)
    return None if data[kind] is True else json.dumps(data, ensure_ascii=False)
