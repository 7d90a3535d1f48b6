"""Comparison of two answers to one script: the first difference, what differs, and the responsible rule."""

from rocketdiff.simulation.comparison.answers import AnswerLine, answer_line, visible
from rocketdiff.simulation.comparison.attribution import rules_behind
from rocketdiff.simulation.comparison.difference import AnswerDifference, first_difference
from rocketdiff.simulation.comparison.initial_state import with_initial_state
from rocketdiff.simulation.comparison.line_parts import Compared
from rocketdiff.simulation.comparison.outcomes import Outcome, OutcomeDifference, outcome_of, sends_end
from rocketdiff.simulation.comparison.render import difference_data, difference_lines

__all__ = [
    "AnswerDifference",
    "AnswerLine",
    "Compared",
    "Outcome",
    "OutcomeDifference",
    "answer_line",
    "difference_data",
    "difference_lines",
    "first_difference",
    "outcome_of",
    "rules_behind",
    "sends_end",
    "visible",
    "with_initial_state",
]
