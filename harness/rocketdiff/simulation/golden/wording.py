"""The meaning of an answer in words, looked up by the answer itself, not by its release."""

import json
from collections.abc import Mapping

from rocketdiff.simulation.comparison import AnswerDifference, Compared, first_difference, outcome_of
from rocketdiff.simulation.golden.answers import Lines
from rocketdiff.simulation.golden.files import Golden
from rocketdiff.simulation.golden.standard import StandardScript


def meaning(script: StandardScript, golden: Golden | None, lines: Lines) -> str | None:
    """Return the words for an answer, or None if it is not a golden answer."""
    groups = golden.groups if golden else ()
    known = next((group for group in groups if group.lines == lines), None)
    if known is None:
        return None
    return next((words for release, words in script.about.answers.items() if release in known.releases), None)


def _meanings(
    script: StandardScript, golden: Mapping[str, Golden], before: Lines, after: Lines
) -> tuple[str | None, str | None]:
    known = golden.get(script.name)
    return meaning(script, known, before), meaning(script, known, after)


def change_sentence(script: StandardScript, golden: Mapping[str, Golden], before: Lines, after: Lines) -> str:
    """Return a sentence on a changed answer; without words for both: what the script shows, and the outcome, or before → after."""
    was, now = _meanings(script, golden, before, after)
    if was is not None and now is not None:
        return f"now {now}; before, {was}"
    difference = first_difference(script.name, before, after)
    assert difference is not None, "answers that are equal are no change"
    outcome = outcome_of(before, after)
    return f"{script.about.shows.rstrip('.')}: {outcome.words if outcome else before_after(difference)}"


def known_side(script: StandardScript, golden: Mapping[str, Golden], before: Lines, after: Lines) -> str:
    """Return ``before: …`` or ``after: …`` if exactly one answer has words, else an empty string."""
    was, now = _meanings(script, golden, before, after)
    if (was is None) == (now is None):
        return ""
    return f"before: {was}" if now is None else f"after: {now}"


def before_after(difference: AnswerDifference) -> str:
    """Return the difference without its place: ``number of attempts 2 → 1``, ``available_at_ms of a 10000 → 2000``."""
    left, right = difference.values
    if isinstance(left, dict) and isinstance(right, dict):
        whose = (
            f" of {difference.where.partition('faults.')[2] or 'the fault table'}"
            if difference.compared is Compared.FAULTS
            else ""
        )
        names = [name for name in {**left, **right} if left.get(name) != right.get(name)]
        return ", ".join(f"{name}{whose} {_value(left.get(name))} → {_value(right.get(name))}" for name in names)
    names_itself = difference.compared is Compared.QUEUE and left is not None and right is not None
    return f"{'' if names_itself else f'{difference.compared} '}{_value(left)} → {_value(right)}"


def difference_words(difference: AnswerDifference) -> str:
    """Return the place, the compared value, and both values in one line."""
    before, after = difference.values
    return f"{difference.place}, {difference.compared}: {_value(before)} → {_value(after)}"


def _value(value: object) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
