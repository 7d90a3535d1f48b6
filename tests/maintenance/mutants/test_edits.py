"""Mutation operators make small changes, and only to code that decides something."""

import ast

import pytest

from maintenance.mutants.edits import applied, decisive_nodes, edits_of

ENUMS = {"Tier": ("ANY", "ROTATION", "AVAILABLE")}


def mutants_of(source: str) -> set[str]:
    tree = ast.parse(source)
    edits = [edit for number, node in enumerate(decisive_nodes(tree)) for edit in edits_of(node, number, ENUMS)]
    found = set()
    for edit in edits:
        copy = ast.parse(source)
        applied(edit, copy)
        found.add(ast.unparse(ast.fix_missing_locations(copy)))
    return found


@pytest.mark.parametrize(
    ("source", "some"),
    [
        ("x = a < b", {"x = a <= b", "x = a >= b"}),
        ("x = a == b", {"x = a != b"}),
        ("x = a is None", {"x = a is not None"}),
        ("x = a + b", {"x = a - b"}),
        ("x = a % b", {"x = a // b"}),
        ("x = 5", {"x = 6", "x = 4", "pass"}),
        ("x = 3.0", {"x = 6.0", "x = 1.5"}),
        ("x = 0.0", {"x = 1.0", "x = -1.0"}),
        ("X = (a, b)", {"X = (a,)", "X = (b,)"}),
        ("X: Any = [a, b]", {"X: Any = [a]", "X: Any = [b]"}),
        ("X = frozenset({a, b})", {"X = frozenset({a})", "X = frozenset({b})"}),
        ("X = {a: b, c: d}", {"X = {c: d}", "X = {a: b}"}),
        ("x = True", {"x = False"}),
        ("x = 'a'", {"x = 'mutated'"}),
        ("x = not a", {"x = a"}),
        ("x = a and b", {"x = a or b", "x = a", "x = b"}),
        ("x = a if b else c", {"x = c if b else a"}),
        ("x = Tier.ANY", {"x = Tier.ROTATION", "x = Tier.AVAILABLE"}),
        ("x = min(a, b)", {"x = max(a, b)"}),
        ("def f():\n    return a", {"def f():\n    return None"}),
        ("if a:\n    b()", {"if not a:\n    b()", "if a:\n    pass"}),
        ("for a in b:\n    c()", {"for a in ():\n    c()"}),
        ("while a:\n    b()", {"while not a:\n    b()"}),
        ("x += 1", {"x -= 1", "x += 2", "x += 0", "pass"}),
        ("f(a, key=True)", {"f(a, key=False)"}),
        ("def f(a=1):\n    return None", {"def f(a=2):\n    return None", "def f(a=0):\n    return None"}),
    ],
)
def test_each_operator_produces_the_expected_mutants(source: str, some: set[str]) -> None:
    """Each operator produces the expected mutants of a minimal source."""
    assert some <= mutants_of(source)


@pytest.mark.parametrize(
    "source",
    [
        '"""A module."""\nimport os\nfrom os import path',
        "class A:\n    '''A class.'''\n    __slots__ = ('a', 'b')",
        "x: Any = (a, b)",
        "Item = TypeVar('Item')\nPick = int | Queue",
        "def f(a: Literal[1]) -> Literal[2]:\n    '''Nothing.'''",
        "@dataclass(frozen=True)\nclass A(B, metaclass=C):\n    ...",
    ],
)
def test_documentation_and_types_are_not_mutated(source: str) -> None:
    """Documentation, imports, types, slots and decorators are not mutated, because they decide nothing."""
    assert mutants_of(source) == set()


def test_the_text_of_a_member_is_left_alone() -> None:
    """The text of an enumeration member is not mutated, because code depends on its name only."""
    assert mutants_of("LAST_BROKER = 'last-broker'") == {"pass"}


def test_the_text_of_a_complaint_is_left_alone() -> None:
    """The exception in a ``raise`` is not mutated, but the ``raise`` is dropped."""
    assert mutants_of("raise ValueError('no ' + name)") == {"pass"}


def test_wording_is_left_alone() -> None:
    """A text with a space is wording for people and is not mutated; names and signatures are."""
    assert mutants_of("x = f'{a}/first', 'no send failed'") == {"x = (f'{a}mutated', 'no send failed')", "pass"}
