"""The project's Python sources, parsed once in a process for all tests that look at them."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDERS = ("harness", "reference_impl", "tests")

Nodes = Sequence[ast.AST]
"""All nodes of a module, itself first."""

Reader = Callable[[Nodes], Any]

_READERS: list[Reader] = []


def reader(function: Reader) -> Reader:
    """Have a function called with each module's nodes; the trees would take a gigabyte, so that only results are kept."""
    _READERS.append(function)
    return function


def read(function: Reader, *folders: str) -> Iterator[tuple[Path, Any]]:
    """Each file below the folders, relative to the root, and what a reader has returned for it."""
    for file, results in _results().items():
        if any(file.is_relative_to(folder) for folder in folders):
            yield file, results[function]


@cache
def _results() -> Mapping[Path, Mapping[Reader, Any]]:
    files = sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
    return {file.relative_to(ROOT): _of(file) for file in files}


def _of(file: Path) -> Mapping[Reader, Any]:
    nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
    return {function: function(nodes) for function in _READERS}
