"""
Every field in which a dialect differs from its parent has a standard script that shows it.

The real classes of both ranges answer it differently (golden data), and so does the reference with only this field
changed.
"""

from dataclasses import dataclass

import pytest

from rocketdiff.simulation.golden.files import load_golden
from rocketdiff.simulation.golden.standard import StandardScript, load_standard, up_to
from rocketdiff.simulation.script import Depth
from rocketdiff.simulation.virtual import run_reference
from rocketmq_reference.dialects import DIALECTS, Rule, differing, exchanged
from rocketmq_reference.rules.dialect import Dialect

BY_NAME = {dialect.name: dialect for dialect in DIALECTS}

INVISIBLE = {
    "remoting.name_server_scan": "connecting takes no time, so only the order within a millisecond can show it",
    "remoting.tries_every_name_server": "a script has one name server",
    "remoting.unregisters_between_heartbeats": "no step of a producer ends it; consumer-slow-leave shows it of a consumer",
    "reads_broker_again": "no thread of a script is interrupted between the lookup of an address and the request",
}
"""Fields that no script can show, with the reason."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field in which a dialect differs from its parent."""

    dialect: Dialect
    parent: Dialect
    before: Rule

    def __str__(self) -> str:
        return f"{self.dialect.name}:{self.before.name}"

    @property
    def reverted(self) -> Dialect:
        """The dialect with this field as in its parent."""
        return exchanged(self.dialect, self.before)


FIELDS = [
    Field(dialect, BY_NAME[dialect.parent], before)
    for dialect in DIALECTS
    if dialect.parent is not None
    for _, before in differing(dialect, BY_NAME[dialect.parent])
    if before.name != "index.name"  # a label
]


def is_separating(one: Field, script: StandardScript) -> bool:
    """True if the classes of both ranges answer differently."""
    golden = load_golden()[script.name]
    return golden.of(one.dialect.releases.first) != golden.of(one.parent.releases.last)


def is_about(one: Field, script: StandardScript) -> bool:
    """True if the field alone changes the reference's answer."""
    answers = [run_reference(dialect, script.name, script.script) for dialect in (one.dialect, one.reverted)]
    return answers[0] != answers[1]


@pytest.mark.parametrize("one", FIELDS, ids=str)
def test_each_visible_field_is_shown_by_a_script(one: Field) -> None:
    """Each visible field is shown by a script."""
    shown = any(
        is_separating(one, script) and is_about(one, script) for script in up_to(Depth.REMOTING, load_standard())
    )
    assert shown != (one.before.name in INVISIBLE)
