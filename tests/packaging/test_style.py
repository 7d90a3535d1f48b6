"""House rules about the code that ruff cannot state."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]


def modules(*folders: str) -> list[Path]:
    """All Python files of these folders of the repository."""
    return sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))


def test_every_test_says_in_a_sentence_what_it_shows() -> None:
    """The name is for the machine, the sentence for whoever reads the failure."""
    silent = [
        f"{file.relative_to(ROOT)}::{node.name}"
        for file in modules("tests")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not ast.get_docstring(node)
    ]
    assert not silent


def test_functions_stay_short() -> None:
    """At most 40 lines each, besides signature and docstring."""
    too_long = [
        f"{file.relative_to(ROOT)}:{node.lineno} {node.name}: {lines} lines"
        for file in modules("harness", "reference_impl")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (lines := body_lines(node)) > 40
    ]
    assert not too_long


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from the first statement that is not the docstring to the last."""
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
