"""
Which modules judge, and digests of them: a judgement or a rate made with other judging code is not of the present program.

The judging code is what ``ROOTS`` import, directly or not; no list of it is kept by hand.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from threading import Lock

from rocketdiff.core.resources import FOLDER_OF, locate

ROOTS = ("rocketdiff.analysis.run_analysis", "rocketdiff.verdict.judge")
"""Modules that decide: the facts of a case, the evidence of a run, and its verdicts."""

SKIPPED = frozenset({"rocketdiff.analysis.spark.session"})
"""Starts Spark's processes and so imports JDKs and downloads; it decides nothing."""

DIGITS = 12

_PARSING = Lock()
"""Python 3.11 raises SystemError if two threads are in ast.parse, as the preparation of a judgement and the judgement were."""


@cache
def judging_modules() -> tuple[str, ...]:
    """Return the names of the modules that decide whether a trace is an alarm, sorted. Other modules may change freely."""
    return tuple(sorted(imported_by(ROOTS, SKIPPED)))


@cache
def judging_digest() -> str:
    """
    Return the digest of the judging code as it was at the first call in this process; takes about 0.3 s.

    Docstrings do not count: prose changes no answer, and judged runs and measured rates stay valid. Equal in a checkout and in
    an installed wheel. Empty if there are no sources; it is then compared with nothing.
    """
    modules = judging_modules()
    return digest_of(modules) if modules else ""


def imported_by(roots: Iterable[str], skipping: frozenset[str] = frozenset()) -> set[str]:
    """Return our modules that ``roots`` import, also inside functions, directly or not; ``roots`` are included."""
    seen: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in seen or name in skipping or source_of(name) is None:
            continue
        seen.add(name)
        waiting += _imports(name)
    return seen


def digest_of(modules: Iterable[str], *begin: str) -> str:
    """Return a digest over ``begin`` and the names and code of modules that have sources."""
    digest = hashlib.sha256("\0".join(begin).encode())
    for name in modules:
        source = source_of(name)
        assert source is not None, f"the source of {name}"
        digest.update(name.encode() + b"\0" + code_of(source) + b"\0")
    return digest.hexdigest()[:DIGITS]


@cache
def source_of(name: str) -> Path | None:
    """Return the file of one of our modules; None for other modules and for names inside modules."""
    package, _, rest = name.partition(".")
    if package not in FOLDER_OF:
        return None
    path = f"{FOLDER_OF[package]}/{package}/{rest.replace('.', '/')}".rstrip("/")
    found = locate(f"{path}.py") or locate(f"{path}/__init__.py")
    return found if found is not None and found.is_file() else None


def code_of(source: Path) -> bytes:
    """Return a Python source without docstrings, documentation of attributes and blank lines."""
    return _read(source)[0]


@cache
def _read(source: Path) -> tuple[bytes, tuple[str, ...]]:
    """Return the code of a source and the names that it imports, as they were at the first call in this process."""
    content = source.read_bytes()
    with _PARSING:
        tree = ast.parse(content)
    lines = content.splitlines()
    for text in _documentation(tree):
        if lines[text.lineno - 1].lstrip().startswith((b'"', b"r")):  # not behind other code in its line
            lines[text.lineno - 1 : text.end_lineno] = [b""] * ((text.end_lineno or text.lineno) - text.lineno + 1)
    return b"\n".join(line for line in lines if line.strip()), tuple(_imported(tree))


def _documentation(block: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Expr]:
    for statement in block.body:
        match statement:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _documentation(statement)
            case ast.Expr(value=ast.Constant(value=str())):
                yield statement


def _imports(name: str) -> tuple[str, ...]:
    source = source_of(name)
    assert source is not None, "asked for before"
    return _read(source)[1]


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _statements(block: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a block and, of each, the inner ones; expressions, most of a tree, hold none."""
    for name in ("body", "orelse", "finalbody"):
        for statement in getattr(block, name, ()):
            yield statement
            yield from _statements(statement)
    for inner in (*getattr(block, "handlers", ()), *getattr(block, "cases", ())):
        yield from _statements(inner)
