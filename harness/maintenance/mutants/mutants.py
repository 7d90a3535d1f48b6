"""All mutants of given modules; each is one module with one small change."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from maintenance.mutants.edits import TABLE, Edit, Enums, applied, decisive_nodes, edits_of
from rocketdiff.core.resources import FOLDER_OF

SHOWN = 120
"""Longest line, in characters, that a mutant's name contains in full."""

ROOT = Path(__file__).parents[3]
RULES = "rocketmq_reference.rules"
WITH_ENUMERATIONS = (
    "rocketdiff.core",
    "rocketdiff.oracle",
    "rocketdiff.analysis",
    "rocketdiff.verdict",
    "rocketdiff.ledger",
    RULES,
)
"""Packages whose enumerations the judging code uses."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """
    One change; name: module, function, and the changed line before and after, with a number if that is not unique.

    The name survives moved lines, so lists of survivors use it. function: qualified name; None at module or class level, where
    the change affects everything.
    """

    name: str
    module: str
    function: str | None
    operator: str
    edit: Edit

    def tree(self) -> ast.Module:
        tree = _parsed(self.module)
        applied(self.edit, tree)
        return ast.fix_missing_locations(tree)


def module_names(package: str = RULES, pattern: str = "**/*.py") -> list[str]:
    folder = file_of(package).with_suffix("")
    return sorted(
        module_of(path.relative_to(ROOT).as_posix()) for path in folder.glob(pattern) if path.stem != "__init__"
    )


def file_of(module: str) -> Path:
    return ROOT / FOLDER_OF[module.partition(".")[0]] / f"{module.replace('.', '/')}.py"


def module_of(file: str) -> str:
    return file.partition("/")[2].removesuffix(".py").replace("/", ".")


def all_mutants(modules: Sequence[str] = (), enumerated_in: Sequence[str] = (RULES,)) -> list[Mutant]:
    """Return mutants in a fixed order; of the rules if no module is named, whose tables keep their entries."""
    enums = _enumerations(enumerated_in)
    every = (mutant for module in modules or module_names() for mutant in mutants_of(module, enums))
    return [mutant for mutant in every if modules or mutant.operator != TABLE]


def mutants_of(module: str, enums: Enums) -> list[Mutant]:
    tree = _parsed(module)
    seen: Counter[str] = Counter()
    mutants = []
    for place in _places(tree):
        for edit in edits_of(place.node, place.number, enums):
            name = f"{module.removeprefix(RULES + '.').removeprefix('rocketdiff.')}{_named(place, edit)}"
            seen[name] += 1
            unique = name if seen[name] == 1 else f"{name} #{seen[name]}"
            mutants.append(Mutant(unique, module, place.function, edit.operator, edit))
    return mutants


@dataclass(frozen=True, slots=True)
class _Place:
    """A node, its enclosing function or class, and the statement whose text shows the change."""

    number: int
    node: ast.AST
    scope: str
    statement: ast.stmt | None
    function: str | None


def _places(tree: ast.Module) -> Iterator[_Place]:
    """Yield all decisive nodes with their context, numbered as in ``decisive_nodes``."""
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
    """Return the outermost function that a change to the node's children affects."""
    return function or (scope.lstrip(".") if isinstance(node, ast.FunctionDef) else None)


def _named(place: _Place, edit: Edit) -> str:
    """Return ``.function: line before → line after``, for the innermost changed statement."""
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
    """Return both lines; of long lines only the part around the difference."""
    if max(len(before), len(after)) <= SHOWN:
        return f"{before} → {after}"
    same = _alike(before, after)
    tail = _alike(before[same:][::-1], after[same:][::-1])
    begin = max(0, same - SHOWN // 3)
    return " → ".join(f"…{line[begin : len(line) - max(0, tail - 20)][:SHOWN]}…" for line in (before, after))


def _alike(one: str, other: str) -> int:
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
    """Read once, so that an edit during the hunt moves no mutant."""
    return file_of(module).read_text(encoding="utf-8")


def _enumerations(packages: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found = {}
    for module in (module for package in packages for module in module_names(package)):
        for node in _parsed(module).body:
            if isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases):
                targets = [part.targets[0] for part in node.body if isinstance(part, ast.Assign)]
                found[node.name] = tuple(target.id for target in targets if isinstance(target, ast.Name))
    return found
