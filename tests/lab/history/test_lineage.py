"""Paths between releases."""

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.lab.history.lineage import Edge, Way, every_edge, releases_on, way


def on_the_way(before: str, after: str) -> tuple[Edge, ...]:
    return tuple(edge for edge in way(before, after).edges if not edge.side)


def test_forward_goes_over_the_fork_at_4_9_4() -> None:
    """The path leads from 4.9.4, where 5.0.0 began, without the branch 4.9.5 to 4.9.8."""
    assert on_the_way("4.9.3", "5.1.0") == (Edge("4.9.3", "4.9.4"), Edge("4.9.4", "5.0.0"), Edge("5.0.0", "5.1.0"))


def test_branches_that_ended_stand_where_they_leave_the_way() -> None:
    """Ended branches are listed where they leave: 5.0.0-ALPHA at 4.9.3, unmerged 4.9.8 at 4.9.4."""
    edges = way("4.9.3", "5.1.0").edges
    assert edges[0] == Edge("4.9.3", "5.0.0-ALPHA", side=True)
    assert edges[2:6] == tuple(
        Edge(*pair, side=True)
        for pair in (("4.9.4", "4.9.5"), ("4.9.5", "4.9.6"), ("4.9.6", "4.9.7"), ("4.9.7", "4.9.8"))
    )
    assert edges[6] == Edge("4.9.4", "5.0.0")


def test_only_branches_between_the_two_are_followed() -> None:
    """Only branches between the two releases are followed."""
    assert way("5.1.3", "5.2.0").edges == (Edge("5.1.3", "5.1.4"), Edge("5.1.4", "5.2.0"))
    assert way("4.9.3", "4.9.6").edges == (Edge("4.9.3", "4.9.4"), Edge("4.9.4", "4.9.5"), Edge("4.9.5", "4.9.6"))


def test_back_is_the_same_way_turned_round() -> None:
    """A downgrade is the same path reversed."""
    assert on_the_way("5.1.0", "4.9.4") == (Edge("5.1.0", "5.0.0"), Edge("5.0.0", "4.9.4"))


def test_between_branches_the_way_turns_at_the_common_ancestor() -> None:
    """Between branches the path turns at the common ancestor: from 4.9.6 over 4.9.4 to 5.0.0."""
    found = way("4.9.6", "5.0.0")
    assert found.turns_at == "4.9.4"
    assert on_the_way("4.9.6", "5.0.0") == (Edge("4.9.6", "4.9.5"), Edge("4.9.5", "4.9.4"), Edge("4.9.4", "5.0.0"))
    assert Edge("4.9.6", "4.9.7", side=True) in found.edges


def test_the_way_from_a_release_to_itself_is_empty() -> None:
    """The path from a release to itself is empty."""
    assert way("5.3.3", "5.3.3") == Way(())


def test_every_release_but_the_first_has_an_edge() -> None:
    """The 39 releases have 38 edges; previews are attached where they left."""
    edges = every_edge()
    assert len(edges) == 38
    assert Edge("4.9.0", "5.0.0-PREVIEW") in edges
    assert Edge("4.9.3", "5.0.0-ALPHA") in edges
    assert Edge("4.9.8", "5.0.0") not in edges


def test_each_release_on_a_path_is_listed_once() -> None:
    """Each release on a path is listed once."""
    assert releases_on(on_the_way("4.9.3", "5.0.0")) == ("4.9.3", "4.9.4", "5.0.0")


def test_an_unknown_release_is_refused() -> None:
    """An unknown release is refused, with the known ones listed."""
    with pytest.raises(UsageError, match=r"saw 6\.0\.0.*5\.5\.0"):
        way("4.9.4", "6.0.0")
