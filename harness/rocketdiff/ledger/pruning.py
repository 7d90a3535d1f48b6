"""Removes entries from a ledger's text; all other lines stay unchanged."""

from collections.abc import Collection, Iterator

import yaml

from rocketdiff.core.errors import UsageError
from rocketdiff.documents.yaml_source import parse_yaml


def without(text: str, origin: str, ids: Collection[str]) -> str:
    """
    Return the text without the entries of these ids and the comments directly above them.

    Raises UsageError for entries in flow style ([…]), which have no lines of their own.
    """
    source = parse_yaml(text, origin)
    node = _entries(source.node)
    if node is None:
        return text
    if node.flow_style:
        hint = "write the entries below each other, each with a dash"
        raise UsageError(f"one entry per line in {origin}", seen="[…]", hint=hint)
    lines = text.splitlines(keepends=True)
    gone = set(_lines_of(node, ids, lines))
    left = [line for number, line in enumerate(lines) if number not in gone]
    if all(_id(entry) in ids for entry in node.value):
        left = ["entries: []\n" if line.startswith("entries:") else line for line in left]
    return "".join(left)


def _entries(root: yaml.Node | None) -> yaml.SequenceNode | None:
    if not isinstance(root, yaml.MappingNode):
        return None
    found = (value for key, value in root.value if key.value == "entries")
    return next((value for value in found if isinstance(value, yaml.SequenceNode)), None)


def _id(entry: yaml.Node) -> str:
    pairs = entry.value if isinstance(entry, yaml.MappingNode) else []
    return next((str(value.value) for key, value in pairs if key.value == "id"), "")


def _lines_of(node: yaml.SequenceNode, ids: Collection[str], lines: list[str]) -> Iterator[int]:
    """Line numbers of the entry, comments directly above it, and blank lines after it."""
    for entry in node.value:
        if _id(entry) not in ids:
            continue
        first, last = entry.start_mark.line, _last_line(entry, lines)
        while first > 0 and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        while last + 1 < len(lines) and not lines[last + 1].strip():
            last += 1
        yield from range(first, last + 1)


def _last_line(node: yaml.Node, lines: list[str]) -> int:
    """PyYAML ends a block at the next token, which may follow comments and blank lines."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        return max(_last_line(child, lines) for child in _children(node))
    end = node.end_mark
    last = end.line if end.column else end.line - 1
    while last > node.start_mark.line and not lines[last].strip():
        last -= 1
    return int(last)


def _children(node: yaml.CollectionNode) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value)
