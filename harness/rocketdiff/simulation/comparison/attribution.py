"""
Attributes a difference to a rule: the single rule of the other dialect that makes the reference answer like it.

Each field in which the two dialects differ is exchanged alone, and the script runs again. The causes are the fields after
whose exchange the line agrees with the other side.

If both sides have the same dialect, nothing can be exchanged. Between two builds, the build that departs from the rules is
named. Between Java classes and their reference, the rules that decide the line are quoted: one of them, or the host, is
wrong.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import reduce
from typing import Any

from rocketdiff.simulation.comparison.answers import answer_line
from rocketdiff.simulation.comparison.difference import AnswerDifference, places_of_difference
from rocketdiff.simulation.comparison.line_parts import Compared
from rocketdiff.simulation.comparison.story import story
from rocketdiff.simulation.script.model import NamedScript
from rocketdiff.simulation.virtual import run_reference
from rocketmq_reference.dialects import dialect_of, flatten
from rocketmq_reference.rules.dialect import Dialect

View = Callable[[list[str]], list[str]]
"""The compared part of a trace: all of it, or what an application can see."""

_NOT_BEHAVIOUR = {"name", "releases", "parent"}


@dataclass(frozen=True, slots=True)
class _Exchange:
    path: tuple[str, ...]
    left: object
    right: object

    def describe(self, left: str, right: str) -> str:
        return f"{'.'.join(self.path)}: {_text(self.left)} in {left}, {_text(self.right)} in {right}"


def rules_behind(
    script: NamedScript, difference: AnswerDifference, left: str, right: str, view: View
) -> tuple[str, ...]:
    """Return sentences about the responsible rules; left and right are releases."""
    this, that = dialect_of(left), dialect_of(right)
    if this.name == that.name:
        return (*_as_written(left, difference.compared), *_story(script, difference, right))
    question = _Question(script, difference, view, _lines(this, script, view), _lines(that, script, view))
    if (question.line(question.ours), question.line(question.theirs)) != difference.lines:
        return ("not known: the reference does not answer like both",)
    exchanges = list(_exchanges(this, that, ()))
    causes = [x for x in exchanges if question.is_settled_by(_with(this, x.path, x.right))]
    if causes:
        return tuple(cause.describe(left, right) for cause in causes)
    parts = [x for x in exchanges if not question.is_settled_by(_with(that, x.path, x.left))]
    if not parts:
        return (f"not known: none of the {len(exchanges)} rules in which they differ accounts for it alone",)
    return tuple(f"together with others, {part.describe(left, right)}" for part in parts)


def which_departs(
    script: NamedScript, difference: AnswerDifference, left: str, right: str, view: View
) -> tuple[str, ...]:
    """Return a sentence that names the build that departs from its rules; left and right are releases with the same dialect."""
    lines, number = _lines(dialect_of(left), script, view), difference.line
    by_rules = lines[number] if number < len(lines) else None
    base = left.partition("+")[0]
    for line, conforming, departing in ((difference.lines[0], left, right), (difference.lines[1], right, left)):
        if line == by_rules:
            return (f"{departing} departs from the rules of {base}, by which {conforming} answers",)
    return (f"not known: by the rules of {base} neither answer is as expected",)


def _story(script: NamedScript, difference: AnswerDifference, release: str) -> Iterator[str]:
    line = difference.lines[1] or difference.lines[0]
    assert line is not None
    yield from story(script, release, answer_line(line))


@dataclass(frozen=True, slots=True)
class _Question:
    """A difference between the reference's answers in two dialects."""

    script: NamedScript
    difference: AnswerDifference
    view: View
    ours: list[str]
    theirs: list[str]

    def line(self, lines: list[str]) -> str | None:
        number = self.difference.line
        return lines[number] if number < len(lines) else None

    def is_settled_by(self, dialect: Dialect) -> bool:
        """True if this dialect removes the difference and adds no new one."""
        lines, number = _lines(dialect, self.script, self.view), self.difference.line
        seen, wanted, before = self.line(lines), self.line(self.theirs), self.line(self.ours)
        if lines[:number] != self.theirs[:number]:
            return False
        if None in (seen, wanted, before):
            return seen == wanted
        assert seen is not None
        assert wanted is not None
        assert before is not None
        rest = places_of_difference(before, wanted) - {self.difference.where}
        return places_of_difference(seen, wanted) <= rest


def _lines(dialect: Dialect, script: NamedScript, view: View) -> list[str]:
    """The dialect's answer; empty if the run fails, as a mixture of dialects may."""
    try:
        return view(run_reference(dialect, script.name, script.script, trace=True))
    except Exception:  # noqa: BLE001 - see the docstring
        return []


def _exchanges(one: Any, other: Any, path: tuple[str, ...]) -> Iterator[_Exchange]:
    for field in fields(one):
        here = (*path, field.name)
        left, right = getattr(one, field.name), getattr(other, field.name)
        if left == right or here[0] in _NOT_BEHAVIOUR:
            continue
        if is_dataclass(left) and type(left) is type(right):
            yield from _exchanges(left, right, here)
        else:
            yield _Exchange(here, left, right)


def _with(value: Any, path: tuple[str, ...], new: object) -> Any:
    name, *rest = path
    return replace(value, **{name: _with(getattr(value, name), tuple(rest), new) if rest else new})


def _text(value: object) -> str:
    if isinstance(value, frozenset | tuple):
        return " ".join(str(item) for item in (sorted(value) if isinstance(value, frozenset) else value))
    return str(getattr(value, "__name__", value))


_DECIDES: dict[Compared, tuple[str, ...]] = {
    Compared.QUEUE: ("index.", "select_", "fault_table.", "loop.shared_budget"),
    Compared.INDEX: ("index.", "select_"),
    Compared.WORST_INDEX: ("index.", "fault_table."),
    Compared.QUEUES: ("select_queue", "write_queues_need_permission", "create_topic_key_ignored"),
    Compared.FAULTS: ("penalties.", "failure_counts_as_ms", "fault_table.", "loop."),
    Compared.ATTEMPT_TIMEOUT: ("loop.", "remoting.budgeted"),
    Compared.ATTEMPT_PORT: ("remoting.vip_channel",),
    Compared.STATUS: ("loop.",),
}
"""Prefixes of the deciding fields. Everything else is decided by the send loop and remoting fields."""


def _as_written(release: str, compared: Compared) -> Iterator[str]:
    """The deciding fields, with the docstrings that describe them."""
    dialect = dialect_of(release)
    beginnings = _DECIDES.get(compared, ("loop.", "asynchronous.", "remoting."))
    chosen = {name: text for name, text in flatten(dialect).items() if name.startswith(beginnings)}
    yield f"{release}: " + ", ".join(f"{name} {text}" for name, text in chosen.items())
    for name in chosen:
        if words := _quoted(dialect, name):
            yield f"{name}: {words}"


def _quoted(dialect: Dialect, name: str) -> str:
    """The description of a field: the docstring of its rule, else its sentence in the group's docstring, else empty."""
    *groups, field = name.split(".")
    group = reduce(getattr, groups, dialect)
    rule = getattr(group, field)
    own = _first_paragraph(rule) if callable(rule) else ""
    if own or not groups:
        return own
    match = re.search(rf"(?:^|\. ){field}: (.+?\.)(?= \w+: |$)", " ".join((group.__doc__ or "").split()))
    return match[1] if match else ""


def _first_paragraph(rule: Callable[..., object]) -> str:
    return " ".join((rule.__doc__ or "").strip().split("\n\n")[0].split())
