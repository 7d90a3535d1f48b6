"""Golden data against a new execution of the real classes."""

import json
from collections.abc import Mapping

import pytest

from rocketdiff.releases.catalogue import client_releases
from rocketdiff.simulation.golden.files import Golden, golden_folder, load_golden, read_manifest
from rocketdiff.simulation.golden.generate import drift, execute, manifest, stale
from rocketdiff.simulation.golden.standard import load_standard
from rocketdiff.simulation.java_host import JavaHost

FIRST_PICK_STAYS = client_releases()[: client_releases().index("4.8.0")]
"""The published test program is of these releases, up to 4.7.1."""


@pytest.fixture(scope="module")
def executed(java_host: JavaHost) -> Mapping[str, Golden]:
    """Every release's answers to all scripts now."""
    return execute(java_host, client_releases(), load_standard())


@pytest.mark.slow
def test_the_real_classes_answer_what_is_committed(executed: Mapping[str, Golden]) -> None:
    """Every release answers every script exactly as committed."""
    assert list(drift(load_golden(), executed)) == []


def test_the_manifest_matches_artifacts_sources_and_scripts() -> None:
    """The manifest matches the artifacts, host sources and scripts; otherwise run python -m rocketdiff.simulation.golden."""
    assert list(stale(read_manifest(golden_folder()), manifest(client_releases(), load_standard()))) == []


def brokers_tried(name: str, release: str) -> list[tuple[str, ...]]:
    """Brokers of the attempts of each send."""
    group = load_golden()[name].of(release)
    assert group is not None
    sends = [json.loads(line)["send"] for line in group.lines]
    return [tuple(attempt["broker"] for attempt in send["attempts"]) for send in sends]


@pytest.mark.parametrize("release", FIRST_PICK_STAYS)
def test_the_published_program_stays_at_broker1_when_all_succeeds(release: str) -> None:
    """Up to 4.7.1 the published program uses broker1, broker2, then broker1 eight times."""
    expected = [("broker1",), ("broker2",), *[("broker1",)] * 8]
    assert brokers_tried("published-program-success", release) == expected


@pytest.mark.parametrize("release", FIRST_PICK_STAYS)
def test_the_published_program_retries_broker1_when_all_fails(release: str) -> None:
    """Up to 4.7.1 failed sends try (broker1, broker1), (broker2, broker1), then (broker1, broker1) eight times."""
    expected = [("broker1", "broker1"), ("broker2", "broker1"), *[("broker1", "broker1")] * 8]
    assert brokers_tried("published-program-failure", release) == expected


def test_later_releases_retry_the_other_broker_first() -> None:
    """From 4.8.0 on the first retry leaves broker1."""
    assert brokers_tried("published-program-failure", "4.8.0")[0] == ("broker1", "broker2")
