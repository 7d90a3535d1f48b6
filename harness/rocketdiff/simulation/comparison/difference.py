"""
The first difference between two answers to one script, compared line by line.

The comparison is exact: the hosts share script, clock and random tape, so every difference is a difference of behaviour.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.simulation.comparison.answers import AnswerLine, answer_line
from rocketdiff.simulation.comparison.consuming import CONSUMING_LINES
from rocketdiff.simulation.comparison.line_parts import Compared, LineParts, Part, dump_parts, state_parts
from rocketdiff.simulation.comparison.sending import SENDING_LINES

ROLE_LINES: Mapping[ClientRole, Mapping[str, LineParts]] = {
    ClientRole.PRODUCER: SENDING_LINES,
    ClientRole.CONSUMER: CONSUMING_LINES,
}
"""How the answer lines of each role differ, by kind of line."""


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


_PARTS: Mapping[str, LineParts] = {
    "dump": dump_parts,
    **{kind: parts for of_role in ROLE_LINES.values() for kind, parts in of_role.items()},
}


def _parts(left: AnswerLine, right: AnswerLine) -> Iterator[Part]:
    """All differences between two lines of the same kind, causes first."""
    if left.kind in _PARTS:
        yield from _PARTS[left.kind](left.content, right.content)
    yield from state_parts(left.state or {}, right.state or {}, "state")


def _named(line: AnswerLine | None) -> str | None:
    """Kind and place of a line; lines that differ here are not compared further."""
    return None if line is None else f"{line.kind} of {line.place}"
