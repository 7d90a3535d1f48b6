"""Suggestions for an unknown release."""

from rocketdiff.core.text.nearest import nearest_releases

KNOWN = ("4.7.0", "4.7.1", "4.8.0", "5.3.2", "5.3.3", "5.5.0")


def test_three_near_releases_and_the_newest_are_suggested() -> None:
    """At most three near releases and the newest are suggested."""
    hint = nearest_releases("5.3.4", KNOWN, "java:")
    assert hint.endswith("; the newest is java:5.5.0")
    assert {"java:5.3.2", "java:5.3.3"} <= set(hint.split(";")[0].split(" or "))
    assert len(hint.split(" or ")) <= 3


def test_text_unlike_any_release_gets_the_newest() -> None:
    """Text unlike any release gets only the newest."""
    assert nearest_releases("abc", KNOWN) == "the newest is 5.5.0"
