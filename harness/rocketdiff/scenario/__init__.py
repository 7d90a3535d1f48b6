"""Scenarios: YAML files, validated, selected by name, and expanded from a seed into cases and plans."""

from rocketdiff.scenario.expansion import expand, plan_of
from rocketdiff.scenario.loading import file_text, line_of, load, load_all, parse
from rocketdiff.scenario.model import Case, Scenario
from rocketdiff.scenario.selection import select
from rocketdiff.scenario.sending.workload import Workload
from rocketdiff.scenario.stretch import stretched, stretched_sentences

__all__ = [
    "Case",
    "Scenario",
    "Workload",
    "expand",
    "file_text",
    "line_of",
    "load",
    "load_all",
    "parse",
    "plan_of",
    "select",
    "stretched",
    "stretched_sentences",
]
