"""Every mutant of the rules: each a module of ``reference_impl.rules`` with one small change."""

import ast
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import reference_impl
from tests.mutants.edits import Edit, Enums, applied, decisive_nodes, edits_of

SHOWN = 120
"""Characters of a line that a mutant's name shows whole."""

PACKAGE = "reference_impl.rules"
FOLDER = Path(reference_impl.__file__).parent / "rules"


@dataclass(frozen=True, slots=True)
class Mutant:
    """
    One change. name: module, function and the changed line before and after, with a number if that is not unique.

    It stays the same when lines move, so that a list of survivors can speak of it. function: qualified name of the function
    it is in; None at module or class level, where it acts on everything.
    """

    name: str
    module: str
    function: str | None
    operator: str
    edit: Edit

    def tree(self) -> ast.Module:
        """The changed module, ready to be compiled."""
        tree = _parsed(self.module)
        applied(self.edit, tree)
        return ast.fix_missing_locations(tree)


def module_names() -> list[str]:
    """Modules of the rules, in order."""
    return sorted(f"{PACKAGE}.{path.stem}" for path in FOLDER.glob("*.py") if path.stem != "__init__")


def all_mutants() -> list[Mutant]:
    """Mutants of all modules, in a fixed order."""
    enums = _enumerations()
    return [mutant for module in module_names() for mutant in mutants_of(module, enums)]


def mutants_of(module: str, enums: Enums) -> list[Mutant]:
    """Mutants of one module in the order of its source."""
    tree = _parsed(module)
    seen: Counter[str] = Counter()
    mutants = []
    for place in _places(tree):
        for edit in edits_of(place.node, place.number, enums):
            name = f"{module.removeprefix(PACKAGE + '.')}{_named(place, edit)}"
            seen[name] += 1
            unique = name if seen[name] == 1 else f"{name} #{seen[name]}"
            mutants.append(Mutant(unique, module, place.function, edit.operator, edit))
    return mutants


@dataclass(frozen=True, slots=True)
class _Place:
    """A node, the function or class it is in, and the statement whose text shows a change."""

    number: int
    node: ast.AST
    scope: str
    statement: ast.stmt | None
    function: str | None


def _places(tree: ast.Module) -> Iterator[_Place]:
    """All decisive nodes with their surroundings, numbered as ``decisive_nodes`` numbers them."""
    surroundings: dict[int, tuple[str, ast.stmt | None, str | None]] = {id(tree): ("", None, None)}
    for number, node in enumerate(decisive_nodes(tree)):
        scope, statement, function = surroundings[id(node)]
        if isinstance(node, ast.stmt):
            statement = node
        inside = scope
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inside = f"{scope}.{node.name}"
        for child in ast.iter_child_nodes(node):
            # Defaults of parameters are evaluated where the function is defined.
            is_body = isinstance(node, ast.FunctionDef) and child is not node.args
            surroundings[id(child)] = (inside, statement, (function or inside.lstrip(".")) if is_body else function)
        yield _Place(number, node, inside, statement, _function_of(node, inside, function))


def _function_of(node: ast.AST, scope: str, function: str | None) -> str | None:
    """Outermost function in which a change to the node's children acts."""
    return function or (scope.lstrip(".") if isinstance(node, ast.FunctionDef) else None)


def _named(place: _Place, edit: Edit) -> str:
    """``.function: line before → line after``; for a statement within a block, the statement itself."""
    old = getattr(place.node, edit.field)
    old = old if edit.position is None else old[edit.position]
    if isinstance(old, ast.stmt):
        before, after = old, edit.new
    else:
        assert place.statement is not None, "a module's children are statements"
        before = place.statement
        after = _statement_after(place, edit)
    return f"{place.scope}: {_around_the_change(_line(before), _line(after))}"


def _around_the_change(before: str, after: str) -> str:
    """Both lines; of long ones only what surrounds the difference."""
    if max(len(before), len(after)) <= SHOWN:
        return f"{before} → {after}"
    same = _alike(before, after)
    tail = _alike(before[same:][::-1], after[same:][::-1])
    begin = max(0, same - SHOWN // 3)
    return " → ".join(f"…{line[begin : len(line) - max(0, tail - 20)][:SHOWN]}…" for line in (before, after))


def _alike(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))


def _statement_after(place: _Place, edit: Edit) -> ast.AST:
    assert place.statement is not None, "see above"
    memo: dict[int, object] = {}
    after = deepcopy(place.statement, memo)
    parent = memo[id(place.node)]
    if edit.position is None:
        setattr(parent, edit.field, edit.new)
    else:
        getattr(parent, edit.field)[edit.position] = edit.new
    return after


def _line(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(deepcopy(node))).splitlines()[0]


def _parsed(module: str) -> ast.Module:
    return ast.parse(_source(module))


@cache
def _source(module: str) -> str:
    """Read once, so that an edit meanwhile does not move a mutant to another place."""
    return (FOLDER / f"{module.rpartition('.')[2]}.py").read_text(encoding="utf-8")


def _enumerations() -> dict[str, tuple[str, ...]]:
    """Members of every enumeration of the rules."""
    found = {}
    for module in module_names():
        for node in _parsed(module).body:
            if isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases):
                targets = [part.targets[0] for part in node.body if isinstance(part, ast.Assign)]
                found[node.name] = tuple(target.id for target in targets if isinstance(target, ast.Name))
    return found
