"""Scenarios are chosen by suite and by globs, and a glob that chooses nothing is an error."""

from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.scenario import Scenario, load, select

SMALLEST = Path(__file__).parents[2] / "fixtures" / "format" / "valid-pass" / "smallest.yaml"


@pytest.fixture
def known() -> tuple[Scenario, ...]:
    """Four scenarios, one of them in the suite quick."""
    smallest = load(SMALLEST)
    names = ("fault-latency/calm", "fault-latency/pause/long", "round-robin/calm", "round-robin/pause")
    return tuple(
        replace(smallest, name=name, suites=("quick", "full") if name == "round-robin/calm" else ("full",))
        for name in names
    )


@pytest.mark.parametrize(
    ("suite", "patterns", "chosen"),
    [
        (None, (), ["fault-latency/calm", "fault-latency/pause/long", "round-robin/calm", "round-robin/pause"]),
        ("quick", (), ["round-robin/calm"]),
        (None, ("round-robin/pause",), ["round-robin/pause"]),
        (None, ("fault-latency/*",), ["fault-latency/calm"]),
        (None, ("fault-latency/**",), ["fault-latency/calm", "fault-latency/pause/long"]),
        (None, ("**/calm",), ["fault-latency/calm", "round-robin/calm"]),
        (None, ("round-robin/p????", "*/calm"), ["fault-latency/calm", "round-robin/calm", "round-robin/pause"]),
        ("full", ("round-robin/calm",), ["round-robin/calm"]),
    ],
)
def test_scenarios_are_chosen_by_suite_and_globs(
    known: tuple[Scenario, ...], suite: str | None, patterns: tuple[str, ...], chosen: list[str]
) -> None:
    """One star stays within a part of a name, two stars cross parts; one matching glob is enough."""
    assert [scenario.name for scenario in select(known, suite, patterns)] == chosen


@pytest.mark.parametrize(
    ("suite", "patterns", "message"),
    [
        ("nightly", (), "one of the suites quick, full"),
        (None, ("round-robin/clam",), "try: round-robin/calm"),
        (None, ("round-robin/*", "zzz"), "a glob that matches a scenario"),
        (None, ("round-robin",), "a glob that matches"),
        ("quick", ("fault-latency/calm",), "fault-latency/calm is not in suite quick"),
        (None, ("round-robin.calm",), "a glob that matches"),
    ],
)
def test_nothing_chosen_is_an_error(
    known: tuple[Scenario, ...], suite: str | None, patterns: tuple[str, ...], message: str
) -> None:
    """A selection of nothing is an error, because a typing error must not pass."""
    with pytest.raises(UsageError, match=message.replace(".", r"\.")):
        select(known, suite, patterns)
