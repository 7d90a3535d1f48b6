"""
Parse YAML text to plain data that knows the line of each value.

Only hand-written YAML is accepted: mappings with text keys, lists, text, numbers, dates, true, false and null. Tags,
merge keys, duplicate keys, control characters and overlong numbers are refused with their line. Anchors are limited:
no cycles, and no expansion of a small file into a huge one.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import yaml
from yaml._yaml import CParser
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from rocketdiff.core import files
from rocketdiff.core.errors import UsageError
from rocketdiff.core.text.quoted import printable, shown

Location = tuple[str | int, ...]

MOST_VALUES = 20_000
"""Aliases count each time they are used. The largest shipped file has some 700."""

DEEPEST = 32
"""Our formats have at most seven levels."""

LONGEST_NUMBER = 40
"""Characters. No field of ours takes more than twenty digits, and Python refuses to print thousands."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_NUMBERS = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}
_TEXT = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"


@dataclass(frozen=True, slots=True)
class YamlSource:
    """A parsed document; ``origin`` names it in messages."""

    origin: str
    text: str
    data: Any
    node: yaml.Node | None

    def place(self, location: Location) -> str:
        """``file line 12`` of the value at a location, or of its nearest existing ancestor."""
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


def read_text(path: Path, what: str = "scenario file", hint: str = "check the path") -> str:
    """Return the file's text; raise UsageError if it is not regular, too large, unreadable or not UTF-8."""
    return files.read_text(path, what, hint=hint)


def parse_yaml(text: str, origin: str) -> YamlSource:
    """
    Parse one YAML document.

    Raises UsageError, with the line, for invalid YAML and for what this module does not accept.
    """
    if len(text) > files.MOST_BYTES:
        raise UsageError(f"YAML of at most {files.MOST_BYTES:,} characters in {origin}", seen=f"{len(text):,}")
    try:
        loader = _PlainLoader(text)
        node = loader.get_single_node()
        _Walk(origin).through(node)
        data = None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        line = f" line {mark.line + 1}" if mark is not None else ""
        raise UsageError(
            f"YAML in {origin}{line}", seen=str(problem.problem), hint="check the indentation"
        ) from problem
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as problem:
        seen = " ".join(str(problem).split())
        raise UsageError(f"YAML in {origin}", seen=seen, hint="write plain UTF-8 text") from problem
    return YamlSource(origin, text, data, node)


class _PlainLoader(Composer, CParser, SafeConstructor, Resolver):
    """
    PyYAML's safe loader, which stops at a tag or at too deep nesting.

    libyaml parses the events, ten times as fast as Python. Composing is in Python, because only that can be stopped.
    """

    def __init__(self, text: str) -> None:
        CParser.__init__(self, text)
        Composer.__init__(self)
        SafeConstructor.__init__(self)
        Resolver.__init__(self)
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()
        if getattr(event, "tag", None) is not None:
            raise yaml.MarkedYAMLError(
                problem=f"the tag {shown(event.tag)}; write the value alone", problem_mark=event.start_mark
            )
        if self._depth >= DEEPEST:
            raise yaml.MarkedYAMLError(problem=f"more than {DEEPEST} levels of nesting", problem_mark=event.start_mark)
        self._depth += 1
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Add the line to the error for an impossible date or an empty binary number."""
        try:
            return super().construct_object(node, deep)
        except (ValueError, OverflowError) as problem:
            raise yaml.MarkedYAMLError(problem=str(problem), problem_mark=node.start_mark) from problem


class _Walk:
    """Visits every value of a document, following aliases each time, up to a limit."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._values = 0

    def through(self, node: yaml.Node | None, depth: int = 0) -> None:
        """Raises UsageError for the first value that is not accepted."""
        if node is None:
            return
        self._values += 1
        if self._values > MOST_VALUES or depth > DEEPEST:
            what = f"at most {MOST_VALUES:,} values" if depth <= DEEPEST else f"at most {DEEPEST} levels"
            self._refuse(node, f"{what}, aliases written out,", "more", "write the values out, or leave them out")
        if isinstance(node, yaml.MappingNode):
            self._require_keys(node)
        if isinstance(node, yaml.ScalarNode):
            self._require_plain(node)
        for child in _children(node):
            self.through(child, depth + 1)

    def _require_keys(self, node: yaml.MappingNode) -> None:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.tag == _MERGE:
                self._refuse(key, "no merge key", "<<", "write the fields out")
            if not isinstance(key, yaml.ScalarNode) or key.tag != _TEXT:
                what = shown(key.value) if isinstance(key, yaml.ScalarNode) else "a list or a mapping"
                self._refuse(key, "a key that is text", what, "put it in quotes")
            self._require_plain(key)
            if key.value in seen:
                raise UsageError(
                    f"each key once in {self._origin}",
                    seen=f"{shown(key.value)} again on line {key.start_mark.line + 1}",
                    hint="remove one of them",
                )
            seen.add(key.value)

    def _require_plain(self, node: yaml.ScalarNode) -> None:
        if node.tag in _NUMBERS and len(node.value) > LONGEST_NUMBER:
            self._refuse(node, f"a number of at most {LONGEST_NUMBER} characters", f"{len(node.value):,} characters")
        if _CONTROL.search(node.value):
            self._refuse(node, "text without control characters", printable(node.value, 60))

    def _refuse(self, node: yaml.Node, expected: str, seen: str, hint: str = "") -> NoReturn:
        raise UsageError(f"{expected} in {self._origin} line {node.start_mark.line + 1}", seen=seen, hint=hint)


def _children(node: yaml.Node | None) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [value for _, value in node.value]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _child(node: yaml.Node, step: str | int) -> tuple[yaml.Node | None, yaml.Node | None]:
    """Key and value nodes one step down; (None, None) if there is no such step (a union's tag, for example)."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return key, value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    return None, None
