"""
Compares a judged run with an earlier one: a pull request's with main's, this week's with last week's.

Divergences are equal if check, signature, arm and scenario are; versions may differ. One is new only if the earlier run
answered that check of that scenario, and gone only if the later run did.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import scipy

from rocketdiff.core.answers.verdict import DECISIVE, CheckResult, Example
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.tables.signatures import gravity
from rocketdiff.core.text.machine_line import machine_line
from rocketdiff.core.text.markdown import code, inline
from rocketdiff.report.clusters import Weight, weight_of
from rocketdiff.report.document import Document
from rocketdiff.report.words.signatures import signature_in_words
from rocketdiff.report.words.signs import plural, sentence, short_case

ALPHA_RATE = 0.001
"""Significance level, as for other counts (``verdict.counts``): the chance that random variation is reported as a change."""


class Change(StrEnum):
    """State of a divergence, most important first. NOT_COMPARED: only one run answered that check of that scenario."""

    NEW = "new"
    MORE_OFTEN = "more often"
    LESS_OFTEN = "less often"
    GONE = "gone"
    NOT_COMPARED = "not compared"
    UNCHANGED = "unchanged"


_FAILING = (Change.NEW, Change.MORE_OFTEN)

BRIEFLY = 3
"""Divergences in the head of a comment."""


class ScenarioCheck(NamedTuple):
    """One check of one scenario, without the pair of clients."""

    scenario: str
    check: str


class Key(NamedTuple):
    """Identity of a divergence in both runs; arm: ``baseline`` or ``candidate``."""

    question: ScenarioCheck
    signature: str
    arm: str


@dataclass(slots=True)
class Seen:
    """Number of answers in one run (or several judged together), how many show a divergence, and an example."""

    answers: int = 0
    showing: int = 0
    does_gate: bool = False
    example: Example | None = None


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """
    One divergence before and after. does_gate: whether it alone would fail the later run (the earlier one, if it is gone).
    """

    change: Change
    key: Key
    before: Seen
    after: Seen

    @property
    def does_gate(self) -> bool:
        return (self.after if self.after.showing else self.before).does_gate


@dataclass(frozen=True, slots=True)
class RunDifference:
    """rows: most important first. unanswered: gating questions that the earlier run answered and the later one did not."""

    before: str
    after: str
    rows: tuple[DifferenceRow, ...]
    unanswered: tuple[ScenarioCheck, ...]

    @property
    def exit_code(self) -> ExitCode:
        """DIVERGES if a gating divergence is new or more frequent, else INCONCLUSIVE if a question lost its answer."""
        if any(row.does_gate and row.change in _FAILING for row in self.rows):
            return ExitCode.DIVERGES
        return ExitCode.INCONCLUSIVE if self.unanswered else ExitCode.CONFORMS

    def count(self, change: Change) -> int:
        return sum(row.change is change for row in self.rows)

    @property
    def machine_line(self) -> str:
        counts = {change: self.count(change) for change in Change}
        return machine_line("DIFF", **counts, unanswered=len(self.unanswered), before=self.before, after=self.after)


@dataclass(slots=True)
class _Side:
    answers: defaultdict[ScenarioCheck, int] = field(default_factory=lambda: defaultdict(int))
    gating: set[ScenarioCheck] = field(default_factory=set)
    seen: defaultdict[Key, Seen] = field(default_factory=lambda: defaultdict(Seen))

    @classmethod
    def of(cls, document: Document) -> "_Side":
        side = cls()
        for result in document.results:
            question = ScenarioCheck(short_case(result.case, document.run), result.check)
            if result.verdict in DECISIVE:
                side._add(question, result, document)
        return side

    def _add(self, question: ScenarioCheck, result: CheckResult, document: Document) -> None:
        self.answers[question] += 1
        if document.policy.gates(result):
            self.gating.add(question)
        shown = {(d.signature, _arm(d.subject, d.signature, document)): d for d in result.divergences}
        for (signature, arm), divergence in shown.items():
            seen = self.seen[Key(question, signature, arm)]
            seen.showing += 1
            seen.does_gate |= weight_of(result, divergence, document.policy) is Weight.NEW
            seen.example = seen.example or divergence.example

    def at(self, key: Key) -> Seen:
        seen = self.seen.get(key, Seen())
        seen.answers = self.answers.get(key.question, 0)
        return seen


def _arm(subject: str, signature: str, document: Document) -> str:
    """If a client runs against itself, only what its own rules do not explain counts as the baseline's."""
    run = document.run
    if run.baseline.subject == run.candidate.subject:
        return "baseline" if signature.startswith("rules/") else "candidate"
    return "baseline" if subject == run.baseline.subject else "candidate"


def difference_of(before: Document, after: Document) -> RunDifference:
    """Compare two judged runs; declared divergences are compared but do not gate."""
    old, new = _Side.of(before), _Side.of(after)
    rows = [_row(key, old.at(key), new.at(key)) for key in {**old.seen, **new.seen}]
    order = list(Change)
    rows.sort(key=lambda row: (order.index(row.change), not row.does_gate, gravity(row.key.signature), row.key))
    lost = sorted(question for question in old.gating if not new.answers.get(question))
    return RunDifference(before.run.run, after.run.run, tuple(rows), tuple(lost))


def _row(key: Key, before: Seen, after: Seen) -> DifferenceRow:
    return DifferenceRow(_change(before, after), key, before, after)


def _change(before: Seen, after: Seen) -> Change:
    if not (before.answers and after.answers):
        return Change.NOT_COMPARED
    if not (before.showing and after.showing):
        return Change.NEW if after.showing else Change.GONE
    table = np.array([[side.showing, side.answers - side.showing] for side in (before, after)])
    if scipy.stats.fisher_exact(table).pvalue > ALPHA_RATE:
        return Change.UNCHANGED
    is_more = after.showing * before.answers > before.showing * after.answers
    return Change.MORE_OFTEN if is_more else Change.LESS_OFTEN


def lines_of(difference: RunDifference, before: Document, after: Document) -> Iterator[str]:
    """Yield Markdown that is readable on a terminal; the last line is for programs."""
    yield f"# {inline(_title(after))}, compared with {inline(_title(before))}"
    yield ""
    yield ", ".join(f"{difference.count(change)} {change}" for change in Change) + "."
    for change in Change:
        rows = [row for row in difference.rows if row.change is change]
        if rows:
            yield from ("", f"## {change.capitalize()}", "")
            yield from (line for row in rows for line in _lines(row))
    if difference.unanswered:
        yield from ("", f"## Answered before, not now ({plural(len(difference.unanswered), 'question')})", "")
        yield from (f"* {inline(question.check)} in {inline(question.scenario)}" for question in difference.unanswered)
    yield from ("", difference.machine_line)


def briefly(before: Document, after: Document) -> tuple[str, ...]:
    """Return the difference as Markdown for the head of a comment: a line with counts, and one for each of the first that gate."""
    difference = difference_of(before, after)
    counts = [f"{difference.count(change)} {change}" for change in Change if difference.count(change)]
    lost = f", {plural(len(difference.unanswered), 'question')} without the answer of then" * bool(
        difference.unanswered
    )
    failing = [row for row in difference.rows if row.does_gate and row.change in _FAILING]
    alike: dict[tuple[str, str], list[DifferenceRow]] = {}
    for row in failing:
        alike.setdefault((row.key.signature, row.key.arm), []).append(row)
    more = [f"* and {len(alike) - BRIEFLY} more"] if len(alike) > BRIEFLY else []
    head = f"**Since {inline(before.run.run)}**: {', '.join(counts) or 'no divergence, as then'}{lost}."
    return (head, *(_line_in_words(rows, after) for rows in list(alike.values())[:BRIEFLY]), *more)


def _line_in_words(rows: Sequence[DifferenceRow], document: Document) -> str:
    run, key = document.run, rows[0].key
    baseline, candidate = run.baseline.subject, run.candidate.subject
    subject, other = (candidate, baseline) if key.arm == "candidate" else (baseline, candidate)
    words = sentence(signature_in_words(key.signature.removeprefix("rules/"), subject, other, baseline))
    where = ", ".join(dict.fromkeys(row.key.question.scenario for row in rows))
    return f"* {inline(words)}: {code(key.signature)} in {inline(where)}"


def _title(document: Document) -> str:
    run = document.run
    return f"{run.candidate.title} beside {run.baseline.title} ({run.run})"


def _line(row: DifferenceRow) -> str:
    notes = [f"{_share(row.before)} → {_share(row.after)}", *(() if row.does_gate else ("does not gate",))]
    question = row.key.question
    return f"* {code(row.key.signature)} of the {row.key.arm}, {inline(question.check)} in {inline(question.scenario)} ({', '.join(notes)})"


def _lines(row: DifferenceRow) -> Iterator[str]:
    yield _line(row)
    if row.change in (Change.NEW, Change.MORE_OFTEN, Change.NOT_COMPARED) and row.after.example is not None:
        yield f"  expected: {inline(row.after.example.expected)}"
        yield f"  observed: {inline(row.after.example.observed)}"


def _share(seen: Seen) -> str:
    return f"{seen.showing} of {plural(seen.answers, 'case')}" if seen.answers else "no answer"


def render(documents: Sequence[Document]) -> tuple[tuple[str, ...], ExitCode]:
    """Return lines and exit code of the difference of two documents, the earlier one first."""
    before, after = documents
    difference = difference_of(before, after)
    return tuple(lines_of(difference, before, after)), difference.exit_code
