"""
Every field in which a dialect differs from its parent has a standard script that shows it.

The real classes of both ranges answer it differently (golden data), and so does the reference with only this field
changed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import pytest

from rocketdiff.simulation.golden.files import load_golden
from rocketdiff.simulation.golden.standard import StandardScript, load_standard
from rocketdiff.simulation.virtual import run_reference
from rocketmq_reference.dialects import DIALECTS
from rocketmq_reference.rules.dialect import Dialect

BY_NAME = {dialect.name: dialect for dialect in DIALECTS}
NOT_BEHAVIOUR = {"name", "releases", "parent"}

INVISIBLE = {
    "remoting.name_server_scan": "connecting takes no time, so only the order within a millisecond can show it",
    "remoting.names_compression": "messages have no bodies in the script format",
    "remoting.tries_every_name_server": "a script has one name server",
}
"""Fields that no script can show, with the reason."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field in which a dialect differs from its parent."""

    dialect: Dialect
    parent: Dialect
    path: tuple[str, ...]
    value: object

    def __str__(self) -> str:
        return f"{self.dialect.name}:{'.'.join(self.path)}"

    @property
    def reverted(self) -> Dialect:
        """The dialect with this field as in its parent."""
        changed: Dialect = _with(self.dialect, self.path, self.value)
        return changed


def _differing(one: Any, parent: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    for field in fields(one):
        mine, theirs = getattr(one, field.name), getattr(parent, field.name)
        if mine == theirs or field.name in NOT_BEHAVIOUR:
            continue
        if is_dataclass(mine) and type(mine) is type(theirs):
            yield from _differing(mine, theirs, (*path, field.name))
        else:
            yield (*path, field.name), theirs


def _with(value: Any, path: Sequence[str], new: object) -> Any:
    name, *rest = path
    return replace(value, **{name: _with(getattr(value, name), rest, new) if rest else new})


FIELDS = [
    Field(dialect, BY_NAME[dialect.parent], path, value)
    for dialect in DIALECTS
    if dialect.parent is not None
    for path, value in _differing(dialect, BY_NAME[dialect.parent])
]


def told_apart(one: Field, script: StandardScript) -> bool:
    """True if the classes of both ranges answer differently."""
    golden = load_golden()[script.name]
    return golden.of(one.dialect.releases.first) != golden.of(one.parent.releases.last)


def is_about(one: Field, script: StandardScript) -> bool:
    """True if the field alone changes the reference's answer."""
    answers = [run_reference(dialect, script.name, script.script) for dialect in (one.dialect, one.reverted)]
    return answers[0] != answers[1]


@pytest.mark.parametrize("one", FIELDS, ids=str)
def test_a_script_tells_the_field(one: Field) -> None:
    """Each visible field is shown by a script."""
    shown = any(told_apart(one, script) and is_about(one, script) for script in load_standard())
    assert shown != (".".join(one.path) in INVISIBLE)
