"""YAML text to plain data that still knows on which line each value stood."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness.core.errors import UsageError

Location = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class YamlSource:
    """A parsed document; ``origin`` names it in messages."""

    origin: str
    text: str
    data: Any
    node: yaml.Node | None

    def place(self, location: Location) -> str:
        """``file line 12`` of the value at a location, or of the nearest thing above it that is there."""
        node = self.node
        if node is None:
            return self.origin
        line = node.start_mark.line
        for step in location:
            key, value = _child(node, step)
            if value is None:
                continue
            node = value
            line = (key or value).start_mark.line
        return f"{self.origin} line {line + 1}"


def read_text(path: Path) -> str:
    """The file's text; UsageError when it cannot be read or is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        seen = problem.strerror if isinstance(problem, OSError) else str(problem)
        raise UsageError(f"a readable scenario file {path}", seen=str(seen), hint="check the path") from problem


def parse_yaml(text: str, origin: str) -> YamlSource:
    """
    Parse one YAML document with string, number, list and mapping values.

    Raises UsageError, with the line, for anything that is no YAML and for a key written twice (YAML itself would let the
    second one win).
    """
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        _refuse_double_keys(node, origin, set())
        data = None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        line = f" line {mark.line + 1}" if mark is not None else ""
        raise UsageError(
            f"YAML in {origin}{line}", seen=str(problem.problem), hint="check the indentation"
        ) from problem
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        seen = " ".join(str(problem).split())
        raise UsageError(f"YAML in {origin}", seen=seen, hint="write plain UTF-8 text") from problem
    return YamlSource(origin, text, data, node)


def _refuse_double_keys(node: yaml.Node | None, origin: str, visited: set[int]) -> None:
    """``visited``: nodes seen before, since aliases may lead to one node often, and in circles."""
    if id(node) in visited:
        return
    visited.add(id(node))
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise UsageError(
                    f"each key once in {origin}",
                    seen=f"{key.value!r} again on line {key.start_mark.line + 1}",
                    hint="remove one of them",
                )
            seen.add(str(key.value))
    for child in _children(node):
        _refuse_double_keys(child, origin, visited)


def _children(node: yaml.Node | None) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [value for _, value in node.value]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _child(node: yaml.Node, step: str | int) -> tuple[yaml.Node | None, yaml.Node | None]:
    """Key and value nodes one step down; (None, None) when there is no such step (a union's tag, say)."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return key, value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    return None, None
