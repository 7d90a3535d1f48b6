"""Rules about the code that ruff cannot state."""

import ast
from collections import Counter

import pytest

from tests.packaging.sources import ROOT, Nodes, read, reader

pytestmark = pytest.mark.xdist_group("sources")  # read once, in one process

ASSERTING = {"raises", "fail", "warns", "fnmatch_lines", "fnmatch_lines_random", "re_match_lines"}
"""Calls of pytest that are assertions."""

PREFIXES = ("assert", "await_")
"""Prefixes of calls that assert: of mocks, of our helpers, and of those that wait."""


def test_every_test_has_a_sentence() -> None:
    """Every test has a docstring, which explains a failure to its reader."""
    assert [f"{file}::{name}" for file, names in read(names_without_sentence, "tests") for name in names] == []


def test_a_test_that_asserts_by_not_raising_has_a_comment() -> None:
    """A test without an assertion must say so by its name; a lost assertion would look the same."""
    assert [
        f"{file}::{name}"
        for file, names in read(names_without_assertion, "tests")
        for name in names
        if not ("accepted" in name or "raise" in name)
    ] == []


@reader
def names_without_sentence(nodes: Nodes) -> list[str]:
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef))
    return [one.name for one in functions if one.name.startswith("test_") and not ast.get_docstring(one)]


@reader
def names_without_assertion(nodes: Nodes) -> list[str]:
    functions = [node for node in body_of(nodes) if isinstance(node, ast.FunctionDef)]
    helpers = {node.name for node in functions if is_asserting(node, set())}
    return [node.name for node in functions if node.name.startswith("test_") and not is_asserting(node, helpers)]


def is_asserting(node: ast.FunctionDef, helpers: set[str]) -> bool:
    """True if a function asserts, or calls a function that does."""
    if any(isinstance(one, ast.Assert) for one in ast.walk(node)):
        return True
    called = {ast.unparse(one.func).rpartition(".")[2] for one in ast.walk(node) if isinstance(one, ast.Call)}
    return bool(called & (ASSERTING | helpers)) or any(name.startswith(PREFIXES) for name in called)


def test_functions_stay_short() -> None:
    """A function has at most 40 lines, besides signature and docstring."""
    assert [f"{file}:{one}" for file, some in read(too_long, "harness", "reference_impl") for one in some] == []


@reader
def too_long(nodes: Nodes) -> list[str]:
    return [
        f"{node.lineno} {node.name}: {lines} lines"
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (lines := body_lines(node)) > 40
    ]


def test_a_folder_has_at_most_sixteen_modules() -> None:
    """A folder has at most sixteen modules; more need another package."""
    files = [file for folder in ("harness", "reference_impl") for file in (ROOT / folder).rglob("*.py")]
    count = Counter(file.parent for file in files if file.name != "__init__.py")
    assert {folder.relative_to(ROOT).as_posix(): n for folder, n in count.items() if n > 16} == {}


def test_a_name_is_imported_from_the_module_that_defines_it() -> None:
    """Only the face of a package, its ``__init__``, offers names of other modules."""
    assert [
        f"{file}: {name}"
        for file, names in read(names_offered_again, "harness", "reference_impl")
        if file.name != "__init__.py"
        for name in names
    ] == []


def body_of(nodes: Nodes) -> list[ast.stmt]:
    (module, *_) = nodes
    assert isinstance(module, ast.Module)
    return module.body


@reader
def names_offered_again(nodes: Nodes) -> list[str]:
    """Names that a module imports and lists in ``__all__``, or imports as themselves."""
    imported = [name for node in body_of(nodes) if isinstance(node, ast.Import | ast.ImportFrom) for name in node.names]
    lists = [
        node for node in body_of(nodes) if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    offered = {name for node in lists for name in ast.literal_eval(node.value)}
    return [name.name for name in imported if name.asname == name.name or (name.asname or name.name) in offered]


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
