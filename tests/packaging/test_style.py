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


def test_files_stay_short_or_say_why() -> None:
    """At most 300 lines, unless the module's docstring gives the reason with the word 'long'."""
    too_long = [
        f"{file.relative_to(ROOT)}: {lines} lines"
        for file in modules("harness", "reference_impl")
        if (lines := len(file.read_text().splitlines())) > 300
        and "long" not in (ast.get_docstring(ast.parse(file.read_text())) or "")
    ]
    assert not too_long
