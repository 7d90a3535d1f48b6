"""Names state what happens, in the words of the field."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.packaging.sources import Nodes, read, reader

pytestmark = pytest.mark.xdist_group("sources")  # read once, in one process

REFUSED = {"told", "tell", "tells", "say", "says", "said", "nobody", "nobodys", "whoever"}
"""Words that hide who does what: a record reports, a message states, an event is emitted, a value is returned."""

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@pytest.mark.parametrize("folder", ["harness", "reference_impl", "tests"])
def test_no_name_has_a_refused_word(folder: str) -> None:
    """Functions, classes, arguments and tests are named in the words of RocketMQ and of testing; no test begins with `what`."""
    assert [f"{file}:{one}" for file, some in read(refused_names, folder) for one in some] == []


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("told", True),
        ("_was_told", True),
        ("SaidView", True),
        ("SAY_WHY", True),
        ("nobodys_message", True),
        ("test_what_is_sent_arrives", True),
        ("test_a_message_that_is_sent_arrives", False),
        ("essay", False),
        ("Storyteller", False),
        ("what_is_asked", False),
    ],
)
def test_words_are_recognised_in_both_spellings(name: str, refused: bool) -> None:
    """A word counts whole, in snake_case and in CamelCase."""
    assert is_refused(name) is refused


@reader
def refused_names(nodes: Nodes) -> list[str]:
    return [f"{line} {name}" for line, name in names_of(nodes) if is_refused(name)]


def names_of(nodes: Nodes) -> Iterator[tuple[int, str]]:
    """Line and name of functions, classes and arguments."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def is_refused(name: str) -> bool:
    return name.startswith("test_what_") or any(word.lower() in REFUSED for word in WORD.findall(name))
