"""
Attributes a difference to a rule: the single rule of the other dialect that makes the reference answer like it.

Each field in which the two dialects differ is exchanged alone, and the script runs again. The causes are the fields after
whose exchange the line agrees with the other side.

If both sides have the same dialect, nothing can be exchanged. Between two builds, the build that departs from the rules is
named. Between Java classes and their reference, the rules that decide the line are quoted: one of them, or the host, is
wrong.
"""

import ast
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, reduce
from itertools import pairwise

from rocketdiff.simulation.comparison.answers import answer_line
from rocketdiff.simulation.comparison.difference import AnswerDifference, places_of_difference
from rocketdiff.simulation.comparison.line_parts import Compared
from rocketdiff.simulation.comparison.story import story
from rocketdiff.simulation.script.model import NamedScript
from rocketdiff.simulation.virtual import dialect_for, run_reference
from rocketmq_reference.dialects import Rule, differing, exchanged, rules_of
from rocketmq_reference.rules.dialect import ConsumerDialect, Dialect

AnyDialect = Dialect | ConsumerDialect

View = Callable[[list[str]], list[str]]
"""The compared part of a trace: all of it, or what an application can see."""


def rules_behind(
    script: NamedScript, difference: AnswerDifference, left: str, right: str, view: View
) -> tuple[str, ...]:
    """Return sentences about the responsible rules; left and right are releases."""
    this, that = dialect_for(script.script, left), dialect_for(script.script, right)
    if this.name == that.name:
        return (*_as_written(this, left, difference.compared), *_story(script, difference, right))
    question = _Question(script, difference, view, _lines(this, script, view), _lines(that, script, view))
    if (question.line(question.ours), question.line(question.theirs)) != difference.lines:
        return ("not known: the reference does not answer like both",)
    pairs = differing(this, that)
    causes = [pair for pair in pairs if question.is_settled_by(exchanged(this, pair[1]))]
    if causes:
        return tuple(_described(cause, left, right) for cause in causes)
    parts = [pair for pair in pairs if not question.is_settled_by(exchanged(that, pair[0]))]
    if not parts:
        return (f"not known: none of the {len(pairs)} rules in which they differ accounts for it alone",)
    return tuple(f"together with others, {_described(part, left, right)}" for part in parts)


def which_departs(
    script: NamedScript, difference: AnswerDifference, left: str, right: str, view: View
) -> tuple[str, ...]:
    """Return a sentence that names the build that departs from its rules; left and right are releases with the same dialect."""
    lines, number = _lines(dialect_for(script.script, left), script, view), difference.line
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

    def is_settled_by(self, dialect: AnyDialect) -> bool:
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


def _lines(dialect: AnyDialect, script: NamedScript, view: View) -> list[str]:
    """The dialect's answer; empty if the run fails, as a mixture of dialects may."""
    try:
        return view(run_reference(dialect, script.name, script.script, trace=True))
    except Exception:  # noqa: BLE001 - see the docstring
        return []


def _described(rules: tuple[Rule, Rule], left: str, right: str) -> str:
    here, there = rules
    return f"{here.name}: {here.text} in {left}, {there.text} in {right}"


_DECIDES: dict[Compared, tuple[str, ...]] = {
    Compared.QUEUE: ("index.", "select_", "fault_table.", "loop.shared_budget"),
    Compared.INDEX: ("index.", "select_"),
    Compared.WORST_INDEX: ("index.", "fault_table."),
    Compared.QUEUES: ("select_queue", "write_queues_need_permission", "create_topic_key_ignored"),
    Compared.FAULTS: ("penalties.", "failure_counts_as_ms", "fault_table.", "loop."),
    Compared.ATTEMPT_TIMEOUT: ("loop.", "remoting.budgeted"),
    Compared.ATTEMPT_PORT: ("remoting.vip_channel",),
    Compared.STATUS: ("loop.",),
    Compared.SHARE: ("strategies", "machine_room_"),
}
"""Prefixes of the deciding fields. Everything else is decided by the send loop and remoting fields."""


def _as_written(dialect: AnyDialect, release: str, compared: Compared) -> Iterator[str]:
    """The deciding fields, with the docstrings that describe them."""
    beginnings = _DECIDES.get(compared, ("loop.", "asynchronous.", "remoting."))
    chosen = [rule for rule in rules_of(dialect) if rule.name.startswith(beginnings)]
    yield f"{release}: " + ", ".join(f"{rule.name} {rule.text}" for rule in chosen)
    for rule in chosen:
        if words := _quoted(dialect, rule):
            yield f"{rule.name}: {words}"


def _quoted(dialect: AnyDialect, rule: Rule) -> str:
    """The description of a field: the docstring of its rule, else the field's own, else empty."""
    part, *groups, field = rule.path
    own = _first_paragraph(rule.value) if callable(rule.value) else ""
    if own or not groups:
        return own
    group = type(reduce(getattr, (part, *groups), dialect))
    words = _field_docstrings(group.__module__, group.__name__).get(field, "")
    return words[:1].lower() + words[1:]


@cache
def _field_docstrings(module: str, group: str) -> dict[str, str]:
    """The string below each field of a class, as one line; Python keeps it in the source alone."""
    (defined,) = ast.parse(inspect.getsource(getattr(sys.modules[module], group))).body
    assert isinstance(defined, ast.ClassDef)
    found = {}
    for field, below in pairwise(defined.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str() as words)):
                found[name] = " ".join(words.split())
    return found


def _first_paragraph(rule: Callable[..., object]) -> str:
    return " ".join((rule.__doc__ or "").strip().split("\n\n")[0].split())
