"""What an answer means to an operator: looked up by the answer among the golden ones, never by its release."""

import json
from collections.abc import Mapping

from rocketdiff.simulation.comparison import Difference, first_difference
from rocketdiff.simulation.golden.answers import Lines
from rocketdiff.simulation.golden.files import Golden
from rocketdiff.simulation.golden.standard import StandardScript


def meaning(script: StandardScript, golden: Golden | None, lines: Lines) -> str | None:
    """The words for an answer; None for one that no golden data knows."""
    groups = golden.groups if golden else ()
    known = next((group for group in groups if group.lines == lines), None)
    if known is None:
        return None
    return next((words for release, words in script.about.answers.items() if release in known.releases), None)


def change_sentence(script: StandardScript, golden: Mapping[str, Golden], before: Lines, after: Lines) -> str:
    """One sentence on what a change of the answer means."""
    was, now = (meaning(script, golden.get(script.name), lines) for lines in (before, after))
    if was is not None and now is not None:
        return f"now {now}; before, {was}"
    return f"{unworded(script.name, before, after)} ({script.about.shows.rstrip('.')})"


def unworded(name: str, before: Lines, after: Lines) -> str:
    """The sentence for a change without words in ``about``."""
    difference = first_difference(name, before, after)
    return f"the answer changed in a way that has no words yet: {difference_words(difference) if difference else 'not at all'}"


def difference_words(difference: Difference) -> str:
    """The first difference of two answers in a line."""
    before, after = difference.values
    return f"{difference.place}, {difference.compared}: {_value(before)} → {_value(after)}"


def _value(value: object) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
