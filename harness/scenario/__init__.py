"""Scenarios: YAML files of a published format, checked, selected by name, and expanded into cases and plans from a seed."""

from harness.scenario.expansion import expand, plan_of
from harness.scenario.loading import line_of, load, load_all, parse
from harness.scenario.model import CHECKS, SUITES, Case, Scenario, Tolerance, Workload, fault_sentence
from harness.scenario.selection import select

__all__ = [
    "CHECKS",
    "SUITES",
    "Case",
    "Scenario",
    "Tolerance",
    "Workload",
    "expand",
    "fault_sentence",
    "line_of",
    "load",
    "load_all",
    "parse",
    "plan_of",
    "select",
]
