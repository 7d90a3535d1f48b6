"""
Can the case be judged: is it complete, did every guard hold, did every fault take effect and end?

Examines the runner's guards (``run.json``) and the faults' proofs. A broken guard says nothing about a client; it only
keeps the case from passing.
"""

from collections.abc import Iterator
from typing import Any

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Measure
from rocketdiff.core.tables.checks import VALIDITY
from rocketdiff.core.tables.fault import KILLS

NAME = VALIDITY


def evaluate(facts: CaseFacts) -> Evidence:
    """Return INVALID evidence that names every broken guard and unproven fault, else decisive."""
    broken = tuple(_broken(facts))
    measures = tuple(Measure(name, float(value), _unit_of(name), 1) for name, value in facts.entry.measured.items())
    standing = Standing.INVALID if broken else Standing.DECISIVE
    checked = len(facts.entry.guards) + len(facts.faults)
    return facts.evidence(NAME, standing, "; ".join(broken), decisions=checked, measures=measures)


def _broken(facts: CaseFacts) -> Iterator[str]:
    yield from (guard.why_broken for guard in facts.entry.broken_guards)
    for fault in facts.faults:
        what = f"{fault.kind} of {fault.node} in episode {fault.episode}"
        if fault.proven_ns is None:
            yield f"{what} was never shown to be in effect"
        if fault.kind not in KILLS and fault.heal_proven_ns is None:
            yield f"the end of the {what} was never shown"


_UNITS = {"ns": "ns", "ms": "ms", "per_s": "1/s", "s": "s"}


def _unit_of(name: str) -> str:
    """Unit in a number's name, as in ``start_spread_ns`` or ``late_ns_baseline``."""
    return next((unit for word, unit in _UNITS.items() if f"_{word}_" in f"_{name}_"), "count")


CODE: CheckCode[Any, Any] = CheckCode(NAME, evaluate=evaluate)
