"""Renders a difference as terminal lines and as JSON data."""

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from rocketdiff.simulation.comparison.answers import answer_line
from rocketdiff.simulation.comparison.difference import AnswerDifference

_SHOWN_CHARACTERS = 600
"""Longest answer or state that is printed whole; the differing value is printed separately."""

_SHOWN_RULES = 12
"""Most rules that are printed; the JSON form has all of them."""


def difference_lines(difference: AnswerDifference, left: str, right: str, outcome: str = "") -> Iterator[str]:
    """Yield what differs, where and why; left and right are the names of the subjects, outcome what the right one gets."""
    where = f" ({difference.where})" if difference.where else ""
    yield f"{difference.script}: differs in the {difference.compared} at {difference.place}{where}"
    rows = [("outcome", outcome)] if outcome else []
    rows += [(left, _value(difference.values[0])), (right, _value(difference.values[1])), *_states(difference)]
    rows += [(name, _answer(line)) for name, line in zip((left, right), difference.lines, strict=True)]
    rows += [("rule", rule) for rule in difference.rules[:_SHOWN_RULES]]
    if len(difference.rules) > _SHOWN_RULES:
        rows.append(("", f"… and {len(difference.rules) - _SHOWN_RULES} more"))
    width = max(len(name) for name, _ in rows)
    yield from (f"  {name:<{width}}  {text}" for name, text in rows)


def difference_data(difference: AnswerDifference) -> dict[str, Any]:
    """Return the difference as plain data, with the field names of Difference."""
    return {field.name: getattr(difference, field.name) for field in fields(difference)}


def _states(difference: AnswerDifference) -> Iterator[tuple[str, str]]:
    if difference.before is not None:
        yield "state before", _json(difference.before)
    left, right = difference.states
    if left is not None and right is not None:
        for name in left:
            if left[name] != right.get(name):
                yield f"{name} after", f"{_json(left[name])} | {_json(right.get(name))}"


def _answer(line: str | None) -> str:
    if line is None:
        return "has no such answer"
    answer = answer_line(line)
    return f"{answer.kind} {_json(answer.content)}"


def _value(value: Any) -> str:
    return "nothing" if value is None else value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + " …"
