"""Known changes that no script can show, at the steps between releases."""

import pytest

from rocketdiff.lab.history.beyond_scripts import known_at, known_changes
from rocketdiff.lab.history.lineage import Edge, every_edge
from rocketdiff.releases.catalogue import client_releases


def test_every_known_change_is_at_a_step() -> None:
    """Each row is of a published release, has an issue, and is listed at the step to it; no sentence depends on another."""
    listed = [sentence for edge in every_edge() for sentence in known_at(edge)]
    assert len(listed) == len(known_changes()) >= 11
    for change in known_changes():
        assert change.release in client_releases()
        assert change.ref.startswith("#") and change.ref[1:].isdigit()
        assert not {change.now.split()[0], change.before.split()[0]} & {"it", "they"}
    assert [change.release for change in known_changes()] == sorted(change.release for change in known_changes())


@pytest.mark.parametrize(
    ("before", "after", "refs"),
    [
        ("4.7.0", "4.7.1", ["#1463", "#1957", "#2042"]),
        ("4.9.0", "4.9.1", ["#2883", "#3453"]),
        ("5.3.0", "5.3.1", []),
        ("5.3.3", "5.3.3+0123456789ab", []),
    ],
)
def test_known_changes_of_a_step(before: str, after: str, refs: list[str]) -> None:
    """A step has the changes of its newer release, and a build none."""
    assert [sentence.rpartition("(")[2].rstrip(")") for sentence in known_at(Edge(before, after))] == refs


def test_a_step_back_undoes_a_change() -> None:
    """Backward, what was before is now."""
    forward, back = (next(known_at(Edge(*step))) for step in (("5.2.0", "5.3.0"), ("5.3.0", "5.2.0")))
    assert forward.startswith(
        "now a client connects only to the name server that it asks; before, a client connects to every"
    )
    assert back.startswith("now a client connects to every name server of its list; before, a client connects only")
