"""
The digest of the judging code, split by check: a change of one check makes a judgement of that check out of date, and of no other.

The digest of a check is over ``BASE`` (all that judges but the checks: steps, oracle, reference …) and over the modules of ``analysis/checks``
that write its facts, with what these import. A module belongs to the check that its ``NAME`` names.
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
from rocketdiff.judging.gate_rates import judging_digest

BASE = "base"
"""Owner of what no check alone has written: counts of sends, bars, faults."""

_CHECKS = "rocketdiff.analysis.checks."

_DIGITS = 12


def owner_of(name: str) -> str:
    """The check whose rules made a fact, by the name that the fact carries (``outcomes.more`` is of ``outcomes``)."""
    check = name.partition(".")[0]
    return check if check in CHECKS else BASE


@cache
def rules_now() -> dict[str, str]:
    """Digest of each check, and of ``BASE``, as the code was when this process first asked."""
    modules = _modules_by_check()
    own = {check: frozenset(name for name in _closure(found) if _is_check(name)) for check, found in modules.items()}
    shared = sorted(name for name in _closure([case_pass.__name__], skipping=_observers()) if name not in _observers())
    base = _digest(shared)
    return {BASE: base} | {check: _digest(sorted(names), base) for check, names in sorted(own.items())}


def scope_now(*more: str) -> str:
    """Digest of what answers depend on besides facts: everything that judges, and more that the caller names."""
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
    """Modules of the checks that write facts of their own, in ``checks/sending`` and its like; what they share is of BASE."""
    names = (
        one.name for one in pkgutil.walk_packages(checks.__path__, _CHECKS) if one.name.count(".") > _CHECKS.count(".")
    )
    return frozenset(name for name in names if hasattr(importlib.import_module(name), "NAME"))


def _is_check(name: str) -> bool:
    return name.startswith(_CHECKS)


def _closure(roots: Iterable[str], skipping: frozenset[str] = frozenset()) -> set[str]:
    """Modules of ours that these import, themselves included, directly or not."""
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
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)


@cache
def _source(name: str) -> Path | None:
    """The file of a module of ours; None for what is not ours, or no module."""
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
        digest.update(name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:_DIGITS]
