"""Table of the most requested rules over all releases: where retries go and how long a broker is avoided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocketdiff.lab.history.execution_cache import Executions
from rocketdiff.simulation.golden.answers import Lines
from rocketdiff.simulation.golden.files import Golden
from rocketdiff.simulation.golden.standard import StandardScript
from rocketdiff.simulation.golden.wording import meaning

COLUMNS: Mapping[str, str] = {
    "retry-walk": "Retry, fault latency off",
    "retry-avoiding": "Retry, fault latency on",
    "avoidance-of-failure": "After a failure",
    "success-after-failure": "Success after a failure",
    "fallback-four-brokers": "Every broker avoided",
    "silent-broker": "Silent broker",
}
"""Column headings by standard script; a cell is the meaning of the script's answer."""

NO_WORDS = "as no published release"


@dataclass(frozen=True, slots=True)
class RuleRow:
    """Consecutive releases with equal cells."""

    releases: tuple[str, ...]
    cells: tuple[str, ...]


def rule_rows(
    executions: Executions,
    standard: Sequence[StandardScript],
    golden: Mapping[str, Golden],
    releases: Sequence[str],
) -> tuple[RuleRow, ...]:
    """Return one row per range of consecutive releases with equal cells."""
    by_name = {script.name: script for script in standard}
    scripts = [by_name[name] for name in COLUMNS if name in by_name]
    answers = executions.lines((release, script) for release in releases for script in scripts)
    rows: list[RuleRow] = []
    for release in releases:
        cells = tuple(_cell(script, golden, answers[release, script.name]) for script in scripts)
        if rows and rows[-1].cells == cells:
            rows[-1] = RuleRow((*rows[-1].releases, release), cells)
        else:
            rows.append(RuleRow((release,), cells))
    return tuple(rows)


def _cell(script: StandardScript, golden: Mapping[str, Golden], lines: Lines) -> str:
    return meaning(script, golden.get(script.name), lines) or NO_WORDS
