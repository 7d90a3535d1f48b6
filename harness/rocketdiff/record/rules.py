"""
Digests of the judging code, one per check: a change of one check outdates only that check's judgements.

A check's digest covers ``BASE`` (shared judging code: steps, oracle, reference …) and the modules of checks that write
its facts, with their imports.
"""

import hashlib
import re
from functools import cache
from typing import Any

from rocketdiff.analysis import registry
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.registry import CODES
from rocketdiff.core.tables.checks import CHECKS
from rocketdiff.judging.judging_code import DIGITS, digest_of, imported_by, judging_digest

BASE = "base"
"""Owner of facts that belong to no single check: counts of sends, bars, faults."""

_CHECKS = re.compile(r"rocketdiff\.analysis\.(\w+\.)?checks\.")
"""Modules of checks, common ones and those of a role."""


def owner_of(name: str) -> str:
    """Return the check whose rules made a fact, from the fact's name (``outcomes.more`` belongs to ``outcomes``)."""
    check = name.partition(".")[0]
    return check if check in CHECKS else BASE


@cache
def rules_now() -> dict[str, str]:
    """Return the digest of each check and of ``BASE``, for the code at the first call in this process."""
    modules = frozenset(module for code in CODES.values() for module in code.modules)
    base = digest_of(sorted(imported_by([registry.__name__], skipping=modules)))
    return {BASE: base} | {name: digest_of(sorted(_own_modules(code)), base) for name, code in sorted(CODES.items())}


def _own_modules(code: CheckCode[Any, Any]) -> set[str]:
    return {name for name in imported_by(code.modules) if _CHECKS.match(name)}


def scope_now(*more: str) -> str:
    """Return a digest of what answers depend on besides facts: all judging code, and ``more``."""
    parts = (judging_digest(), *more)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:DIGITS]
