"""The table of behaviours: documented rows that scenarios cover and checks report."""

import re

import pytest

from rocketdiff.core.resources import resource
from rocketdiff.core.tables.behaviours import BEHAVIOURS
from rocketdiff.core.tables.checks import CHECKS, implicit_for
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.scenario import load_all


def rows_of_the_document() -> set[str]:
    """Rows of cells such as ``A1``, ``B8, B9`` and ``D1–D3``."""
    found: set[str] = set()
    for cell in re.findall(r"^\| ([A-F][0-9][^|]*) \|", resource("fixtures/behaviours.md").read_text(), re.MULTILINE):
        for part in cell.split(", "):
            first, _, last = part.partition("–")
            found |= {f"{first[0]}{number}" for number in range(int(first[1:]), int((last or first)[1:]) + 1)}
    return found


def test_the_rows_are_those_of_the_document() -> None:
    """The table has the rows of fixtures/behaviours.md."""
    assert set(BEHAVIOURS) == rows_of_the_document()


def test_a_row_that_scenarios_cover_has_a_check_in_one_of_them_for_each_role() -> None:
    """A row that scenarios of a role cover has a check in one of them; one that is called unmeasured is covered by none."""
    for row, behaviour in BEHAVIOURS.items():
        covering = [one for one in load_all() if row in one.covers]
        for role in ClientRole:
            mine = [one for one in covering if one.role is role]
            asking = [one.name for one in mine if {*behaviour.checks} & {*one.checks, *implicit_for(role)}]
            assert bool(asking) == bool(mine), (row, role)
        assert bool(behaviour.unmeasured) == (not covering), row


def test_each_row_names_checks_or_a_reason() -> None:
    """A row names checks or a reason why it has none."""
    for behaviour in BEHAVIOURS.values():
        assert bool(behaviour.checks) != bool(behaviour.unmeasured)
        assert set(behaviour.checks) <= set(CHECKS)


@pytest.mark.parametrize(
    ("row", "signature", "is_match"),
    [
        ("A1", "queue.out-of-turn/first", True),
        ("A1", "queue.out-of-turn/retry", False),
        ("A1", "retry.returned-to-failed-broker", False),
        ("A3", "retry.returned-to-failed-broker", True),
        ("A3", "queue.out-of-turn/first", False),
        ("A3", "attempts.stopped-early", True),
        ("C3", "queue.out-of-turn/first", False),
        ("C3", "attempts.gave-up-before-timeout", True),
        ("F1", "pulling.too-soon", True),
        ("F1", "pulling.other-broker", False),
        ("F7", "pulling.other-broker", True),
        ("F7", "pulling.too-soon", False),
    ],
)
def test_a_difference_matches_its_own_row(row: str, signature: str, *, is_match: bool) -> None:
    """A difference is reported by its own row: first attempts and retries, pulls and reads from a slave are different behaviours."""
    assert BEHAVIOURS[row].matches(signature) is is_match
