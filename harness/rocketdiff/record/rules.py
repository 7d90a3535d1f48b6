"""
Digests of the judging code, one per check: a change of one check outdates only that check's judgements.

A check's digest covers ``BASE`` (shared judging code: steps, oracle, reference …) and the modules of ``analysis/checks`` that
write its facts, with their imports. A module's ``NAME`` names its check.
"""

import hashlib
import importlib
import pkgutil
from functools import cache

from rocketdiff.analysis import case_pass, checks
from rocketdiff.core.tables.checks import CHECKS
from rocketdiff.judging.judging_code import DIGITS, digest_of, imported_by, judging_digest

BASE = "base"
"""Owner of facts that belong to no single check: counts of sends, bars, faults."""

_CHECKS = "rocketdiff.analysis.checks."


def owner_of(name: str) -> str:
    """Return the check whose rules made a fact, from the fact's name (``outcomes.more`` belongs to ``outcomes``)."""
    check = name.partition(".")[0]
    return check if check in CHECKS else BASE


@cache
def rules_now() -> dict[str, str]:
    """Return the digest of each check and of ``BASE``, for the code at the first call in this process."""
    modules = _modules_by_check()
    own = {check: frozenset(name for name in imported_by(found) if _is_check(name)) for check, found in modules.items()}
    shared = sorted(
        name for name in imported_by([case_pass.__name__], skipping=_observers()) if name not in _observers()
    )
    base = digest_of(shared)
    return {BASE: base} | {check: digest_of(sorted(names), base) for check, names in sorted(own.items())}


def scope_now(*more: str) -> str:
    """Return a digest of what answers depend on besides facts: all judging code, and ``more``."""
    parts = (judging_digest(), *more)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:DIGITS]


def _modules_by_check() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in _observers():
        check = owner_of(str(getattr(importlib.import_module(name), "NAME", "")))
        found.setdefault(check, []).append(name)
    found.pop(BASE, None)
    return found


@cache
def _observers() -> frozenset[str]:
    """
    Modules of checks that write facts of their own (``checks/sending`` and the like); modules they share belong to ``BASE``.
    """
    names = (
        found.name
        for found in pkgutil.walk_packages(checks.__path__, _CHECKS)
        if found.name.count(".") > _CHECKS.count(".")
    )
    return frozenset(name for name in names if hasattr(importlib.import_module(name), "NAME"))


def _is_check(name: str) -> bool:
    return name.startswith(_CHECKS)
