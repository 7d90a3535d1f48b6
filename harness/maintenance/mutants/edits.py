"""
The mutation operators: small changes to the syntax tree of Python code.

mutmut 3 and cosmic-ray 8 are not used: their operators are bound to runners that start a test command per mutant, and omit
module-level values, dropped statements, swapped branches or enumeration members.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

Entry = TypeVar("Entry")

TABLE = "table"
"""Operator: an entry of a table of constants is dropped."""

Enums = Mapping[str, tuple[str, ...]]
"""Members that may be swapped, by class name."""

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
_TYPES_ONLY = {"annotation", "returns", "decorator_list"}
_DROPPED = (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True, slots=True)
class Edit:
    """A new value for a field of a node; node: its number among ``decisive_nodes``; position: index if the field is a list."""

    node: int
    field: str
    position: int | None
    new: ast.AST
    operator: str


def decisive_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes in a fixed order, without those that decide nothing: documentation, types, imports, slots."""
    yield node
    for _, _, child in _children(node):
        yield from decisive_nodes(child)


def edits_of(node: ast.AST, number: int, enums: Enums) -> Iterator[Edit]:
    for field, position, child in _children(node):
        for operator, new in _replacements(child, enums):
            yield Edit(number, field, position, new, operator)
        if field == "value" and _is_of_a_constant(node):
            for table in _shorter(child):
                yield Edit(number, field, position, table, TABLE)


def applied(edit: Edit, tree: ast.Module) -> ast.AST:
    """Apply the edit in place; return the changed node."""
    parent = next(islice(decisive_nodes(tree), edit.node, None))
    if edit.position is None:
        setattr(parent, edit.field, edit.new)
    else:
        getattr(parent, edit.field)[edit.position] = edit.new
    return parent


def _children(node: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    for field, value in ast.iter_fields(node):
        if field in _TYPES_ONLY or (isinstance(node, ast.ClassDef) and field in {"bases", "keywords"}):
            continue
        if isinstance(node, ast.Raise) or (
            field == "value" and _is_label(node)
        ):  # the exception in a raise, or the text of a member
            continue
        places: list[tuple[int | None, object]] = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for position, child in places:
            if isinstance(child, ast.AST) and not _is_idle(child):
                yield field, position, child


def _replacements(child: ast.AST, enums: Enums) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(child, ast.expr):
        yield from _expressions(child, enums)
    elif isinstance(child, ast.stmt):
        yield from _statements(child)
    elif isinstance(child, ast.cmpop):
        yield from (("comparison", new()) for new in _COMPARISONS[type(child)])
    elif isinstance(child, ast.operator) and type(child) in _OPERATORS:
        yield "arithmetic", _OPERATORS[type(child)]()


def _expressions(child: ast.expr, enums: Enums) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(child, ast.Constant):
        yield from _constants(child)
    elif isinstance(child, ast.UnaryOp) and isinstance(child.op, ast.Not | ast.USub):
        yield "sign", child.operand
    elif isinstance(child, ast.BoolOp):
        yield from _booleans(child)
    elif isinstance(child, ast.IfExp):
        yield "branches", ast.IfExp(child.test, child.orelse, child.body)
    elif isinstance(child, ast.Attribute) and isinstance(child.value, ast.Name) and child.value.id in enums:
        others = [member for member in enums[child.value.id] if member != child.attr]
        yield from (("member", ast.Attribute(child.value, other, ast.Load())) for other in others[:2])
    elif isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id in _CALLS:
        yield "call", ast.Call(ast.Name(_CALLS[child.func.id], ast.Load()), child.args, child.keywords)


def _constants(child: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(child.value, bool):
        yield "constant", ast.Constant(not child.value)
    elif isinstance(child.value, int):
        yield "constant", ast.Constant(child.value + 1)
        yield "constant", ast.Constant(child.value - 1)
    elif isinstance(child.value, float):
        yield "constant", ast.Constant(child.value * 2 if child.value else 1.0)
        yield "constant", ast.Constant(child.value / 2 if child.value else -1.0)
    elif isinstance(child.value, str) and child.value and not _is_wording(child.value):
        yield "text", ast.Constant("mutated")


def _shorter(value: ast.AST) -> Iterator[ast.expr]:
    """Yield a tuple, list, set or mapping, or the call that is given it, without each of several entries."""
    if isinstance(value, ast.Call) and len(value.args) == 1:
        yield from (ast.Call(value.func, [table], value.keywords) for table in _shorter(value.args[0]))
    elif isinstance(value, ast.Tuple | ast.List) and len(value.elts) > 1:
        yield from (type(value)(rest, ast.Load()) for rest in _without_each(value.elts))
    elif isinstance(value, ast.Set) and len(value.elts) > 1:
        yield from (ast.Set(rest) for rest in _without_each(value.elts))
    elif isinstance(value, ast.Dict) and len(value.values) > 1:
        pairs = zip(_without_each(value.keys), _without_each(value.values), strict=True)
        yield from (ast.Dict(keys, values) for keys, values in pairs)


def _without_each(entries: list[Entry]) -> Iterator[list[Entry]]:
    return (entries[:place] + entries[place + 1 :] for place in range(len(entries)))


def _booleans(child: ast.BoolOp) -> Iterator[tuple[str, ast.AST]]:
    other = ast.Or() if isinstance(child.op, ast.And) else ast.And()
    yield "and-or", ast.BoolOp(other, child.values)
    for i in range(len(child.values)):
        rest = child.values[:i] + child.values[i + 1 :]
        yield "operand", rest[0] if len(rest) == 1 else ast.BoolOp(child.op, rest)


def _statements(child: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(child, _DROPPED):
        yield "statement", ast.Pass()
    elif isinstance(child, ast.If | ast.While):
        negated = ast.UnaryOp(ast.Not(), child.test)
        yield "condition", type(child)(negated, child.body, child.orelse)
    elif isinstance(child, ast.For):
        yield "loop", ast.For(child.target, ast.Tuple([], ast.Load()), child.body, child.orelse)
    elif isinstance(child, ast.Return) and child.value is not None and not _is_none(child.value):
        yield "return", ast.Return(ast.Constant(None))


def _is_idle(child: ast.AST) -> bool:
    """True for documentation, imports, slots, and (recognized by the capital letter) type variables and type aliases."""
    if isinstance(child, ast.Expr):
        return isinstance(child.value, ast.Constant)
    if isinstance(child, ast.Assign) and isinstance(child.targets[0], ast.Name):
        name = child.targets[0].id
        return name == "__slots__" or (name.lstrip("_")[:1].isupper() and not name.isupper())
    return isinstance(child, ast.Import | ast.ImportFrom)


def _is_label(node: ast.AST) -> bool:
    """True for ``AVOIDED = "avoided"``: an enumeration member in the rules; no code depends on its text."""
    if (
        not isinstance(node, ast.Assign)
        or not isinstance(node.targets[0], ast.Name)
        or not isinstance(node.value, ast.Constant)
    ):
        return False
    text = node.value.value
    return isinstance(text, str) and text.replace("-", "_").upper() == node.targets[0].id and text == text.lower()


def _is_of_a_constant(node: ast.AST) -> bool:
    """True for an assignment of one name in capital letters."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return any(isinstance(target, ast.Name) and target.id.isupper() for target in targets)


def _is_wording(text: str) -> bool:
    """True for a text with a space, which is for people; names, signatures and kinds have no space."""
    return " " in text


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
