"""
Digests of the judging code, one per check: a change of one check outdates only that check's judgements.

A check's digest covers ``BASE`` (shared judging code: steps, oracle, reference …) and the modules of ``analysis/checks`` that
write its facts, with their imports. A module's ``NAME`` names its check.
"""

import ast
import hashlib
import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from rocketdiff.analysis import case_pass, checks
from rocketdiff.core.resources import FOLDER_OF, locate
from rocketdiff.core.tables.checks import CHECKS
from rocketdiff.judging.gate_rates import code_of, judging_digest

BASE = "base"
"""Owner of facts that belong to no single check: counts of sends, bars, faults."""

_CHECKS = "rocketdiff.analysis.checks."

_DIGITS = 12


def owner_of(name: str) -> str:
    """Return the check whose rules made a fact, from the fact's name (``outcomes.more`` belongs to ``outcomes``)."""
    check = name.partition(".")[0]
    return check if check in CHECKS else BASE


@cache
def rules_now() -> dict[str, str]:
    """Return the digest of each check and of ``BASE``, for the code at the first call in this process."""
    modules = _modules_by_check()
    own = {check: frozenset(name for name in _closure(found) if _is_check(name)) for check, found in modules.items()}
    shared = sorted(name for name in _closure([case_pass.__name__], skipping=_observers()) if name not in _observers())
    base = _digest(shared)
    return {BASE: base} | {check: _digest(sorted(names), base) for check, names in sorted(own.items())}


def scope_now(*more: str) -> str:
    """Return a digest of what answers depend on besides facts: all judging code, and ``more``."""
    parts = (judging_digest(), *more)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_DIGITS]


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


def _closure(roots: Iterable[str], skipping: frozenset[str] = frozenset()) -> set[str]:
    """Our modules that ``roots`` import, directly or not, ``roots`` included."""
    seen: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in seen or name in skipping or _source(name) is None:
            continue
        seen.add(name)
        waiting += _imports(name)
    return seen


@cache
def _imports(name: str) -> tuple[str, ...]:
    source = _source(name)
    assert source is not None, "asked for before"
    return tuple(_imported(ast.parse(source.read_bytes())))


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def _source(name: str) -> Path | None:
    """The file of one of our modules, or None."""
    package, _, rest = name.partition(".")
    if package not in FOLDER_OF:
        return None
    path = f"{FOLDER_OF[package]}/{package}/{rest.replace('.', '/')}".rstrip("/")
    found = locate(f"{path}.py") or locate(f"{path}/__init__.py")
    return found if found is not None and found.is_file() else None


def _digest(names: Iterable[str], *begin: str) -> str:
    digest = hashlib.sha256("\0".join(begin).encode())
    for name in names:
        source = _source(name)
        assert source is not None, "part of a closure"
        digest.update(name.encode() + b"\0" + code_of(source) + b"\0")
    return digest.hexdigest()[:_DIGITS]
