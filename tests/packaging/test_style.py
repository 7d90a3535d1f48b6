"""Rules about the code that ruff cannot state."""

import ast
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

ASSERTING = {"raises", "fail", "warns", "fnmatch_lines", "fnmatch_lines_random", "re_match_lines"}
"""Calls of pytest that are assertions."""

PREFIXES = ("assert", "await_")
"""Prefixes of calls that assert: of mocks, of our helpers, and of those that wait."""


def modules(*folders: str) -> list[Path]:
    return sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))


@pytest.fixture(scope="module")
def silent() -> Mapping[str, list[str]]:
    """Each module is parsed once."""
    found: dict[str, list[str]] = {"sentence": [], "assertion": []}
    for file in modules("tests"):
        name, tree = file.relative_to(ROOT), ast.parse(file.read_text())
        found["sentence"] += [f"{name}::{test}" for test in names_without_sentence(tree)]
        found["assertion"] += [f"{name}::{test}" for test in names_without_assertion(tree)]
    return found


def test_every_test_has_a_sentence(silent: Mapping[str, list[str]]) -> None:
    """Every test has a docstring, which explains a failure to its reader."""
    assert silent["sentence"] == []


def test_a_test_that_asserts_by_not_raising_has_a_comment(silent: Mapping[str, list[str]]) -> None:
    """A test without an assertion must say so by its name; a lost assertion would look the same."""
    names = {one: one.rpartition("::")[2] for one in silent["assertion"]}
    assert [one for one, name in names.items() if not ("accepted" in name or "raise" in name)] == []


def names_without_sentence(tree: ast.Module) -> list[str]:
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return [one.name for one in functions if one.name.startswith("test_") and not ast.get_docstring(one)]


def names_without_assertion(tree: ast.Module) -> list[str]:
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
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
    too_long = [
        f"{file.relative_to(ROOT)}:{node.lineno} {node.name}: {lines} lines"
        for file in modules("harness", "reference_impl")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (lines := body_lines(node)) > 40
    ]
    assert not too_long


def test_a_folder_has_at_most_sixteen_modules() -> None:
    """A folder has at most sixteen modules; more need another package."""
    count = Counter(file.parent for file in modules("harness", "reference_impl") if file.name != "__init__.py")
    assert {folder.relative_to(ROOT).as_posix(): n for folder, n in count.items() if n > 16} == {}


def test_a_name_is_imported_from_the_module_that_defines_it() -> None:
    """Only the face of a package, its ``__init__``, offers names of other modules."""
    assert [
        f"{file.relative_to(ROOT)}: {name}"
        for file in modules("harness", "reference_impl")
        if file.name != "__init__.py"
        for name in names_offered_again(ast.parse(file.read_text()))
    ] == []


def names_offered_again(tree: ast.Module) -> list[str]:
    """Names that a module imports and lists in ``__all__``, or imports as themselves."""
    imported = [name for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom) for name in node.names]
    lists = [node for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
    offered = {name for node in lists for name in ast.literal_eval(node.value)}
    return [name.name for name in imported if name.asname == name.name or (name.asname or name.name) in offered]


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
