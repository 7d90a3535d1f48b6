"""
A subject with a known defect never passes; the honest toy does.

Most run against the reference, which starts at a fraction of the cost of a JVM; the honest toy runs against Java.
"""

from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.run_directory import RunDirectory
from tests.whole.stage import decided, judge, run_pair, signatures

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

FOUND_IN_CALM = {
    "answers-twice": "protocol.answered-twice",
    "dies-mid-send": "protocol.died",
    "stalls": "protocol.stalled",
    "speaks-nonsense": "protocol.bad-line",
    "lies-about-queue": "queue",
    "sends-twice": "duplication.stored-more-than-attempted",
    "drops": "loss.acknowledged-not-stored",
    "fails-in-calm": "outcomes.failed-without-cause",
    "loses-answers": "outcomes.failed-without-cause",
    "leaks-connections": "outcomes.connections-left-open/name-server",
}

FOUND_IN_MODES = {
    "never-calls-back": ("whole/asynchronous", "callbacks.never-called"),
    "calls-back-twice": ("whole/asynchronous", "callbacks.called-more-than-once"),
    "reorders": ("whole/ordered", "order.stored-before-an-earlier-message"),
    "drops-a-property": ("whole/carried", "content.property-missing/colour"),
    "forgets-delays": ("whole/carried", "delay.not-kept-back"),
    "ignores-mode": ("whole/asynchronous", "protocol.other-mode"),
}

FOUND_UNDER_FAULTS = {
    "ignores-retries": ("whole/dead-broker", "attempts.stopped-early/retry"),
    "keeps-no-timeout": ("whole/short-pause", "attempts.outlasted-timeout"),
    "early": ("whole/short-pause", "attempts.stopped-early/retry"),
    "async-no-failover": ("whole/asynchronous-dead-broker", "retry.returned-to-failed-broker/retry"),
}


BESIDE_JAVA = ("async-no-failover",)
"""The queue of an asynchronous retry is compared with the real client."""


@pytest.fixture(autouse=True)
def _what_never_comes_is_waited_for_briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """No wait for silent name servers, which these scenarios do not have."""
    monkeypatch.setattr("rocketdiff.subjects.sending.limits._NAME_SERVER_TIMEOUT_S", 0.0)


@pytest.mark.parametrize("defect", FOUND_UNDER_FAULTS)
def test_a_defect_that_a_fault_shows_is_found_by_its_signature(cluster: Cluster, folder: Path, defect: str) -> None:
    """Each toy that is correct in calm shows its signature under the matching fault."""
    scenario, signature = FOUND_UNDER_FAULTS[defect]
    baseline = "java:5.3.3" if defect in BESIDE_JAVA else "python:5.3.3"
    _, judgement = decided(cluster, folder, baseline, f"toy:{defect}", scenario)
    assert judgement.exit_code is ExitCode.DIVERGES
    assert signature in signatures(judgement), signatures(judgement)


def test_an_ok_of_a_broker_that_is_stopped_is_found(cluster: Cluster, folder: Path) -> None:
    """A toy that reports success once its request is written is found during a pause."""
    _, judgement = decided(cluster, folder, "python:5.3.3", "toy:ok-without-answer", "whole/short-pause")
    assert judgement.exit_code is ExitCode.DIVERGES
    assert "outcomes.acknowledged-by-a-stopped-broker" in signatures(judgement), signatures(judgement)


@pytest.mark.parametrize("defect", FOUND_IN_MODES)
def test_a_defect_of_a_mode_is_found_by_its_signature(cluster: Cluster, folder: Path, defect: str) -> None:
    """Each toy with a defect of one send mode shows its signature in that mode."""
    scenario, signature = FOUND_IN_MODES[defect]
    _, judgement = decided(cluster, folder, "python:5.3.3", f"toy:{defect}", scenario)
    assert judgement.exit_code is ExitCode.DIVERGES
    assert signature in signatures(judgement), signatures(judgement)


@pytest.mark.parametrize("scenario", sorted({scenario for scenario, _ in FOUND_IN_MODES.values()}))
def test_no_mode_alarms_without_a_defect(cluster: Cluster, folder: Path, scenario: str) -> None:
    """The honest toy conforms in the scenarios of these modes."""
    _, judgement = decided(cluster, folder, "java:5.3.3", "toy:honest", scenario)
    assert not signatures(judgement)
    assert judgement.exit_code is ExitCode.CONFORMS, [r for r in judgement.results if r.divergences or r.reason]


@pytest.mark.parametrize("defect", FOUND_IN_CALM)
def test_a_defect_that_needs_no_fault_is_found_by_its_signature(cluster: Cluster, folder: Path, defect: str) -> None:
    """Each toy whose defect needs no fault diverges in calm with its own signature."""
    _, judgement = decided(cluster, folder, "python:5.3.3", f"toy:{defect}", "whole/calm")
    assert judgement.exit_code is ExitCode.DIVERGES
    assert any(one.startswith(FOUND_IN_CALM[defect]) for one in signatures(judgement)), signatures(judgement)


def test_a_toy_without_a_defect_conforms(cluster: Cluster, folder: Path) -> None:
    """The honest toy conforms to Java."""
    _, judgement = decided(cluster, folder, "java:5.3.3", "toy:honest")
    assert judgement.exit_code is ExitCode.CONFORMS, [r for r in judgement.results if r.divergences or r.reason]


def test_a_client_without_hooks_has_the_relay_as_its_witness(cluster: Cluster, folder: Path) -> None:
    """For a client that claims no attempts the relay is the witness even without --wire."""
    run, judgement = decided(cluster, folder, "python:5.3.3", "toy:no-hooks", "whole/three-pauses")
    (case,) = RunDirectory.open(run).manifest.cases
    assert case.arms[Arm.CANDIDATE].witness == "wire"
    assert judgement.exit_code is ExitCode.CONFORMS, [r for r in judgement.results if r.divergences or r.reason]


def test_a_client_that_does_not_claim_a_mode_never_passes_it(cluster: Cluster, folder: Path) -> None:
    """A client that does not claim asynchronous sends makes the asynchronous case inconclusive."""
    judgement = judge(run_pair(cluster, folder, "python:5.3.3", "toy:plain-only", "whole/asynchronous"))
    assert judgement.exit_code is ExitCode.INCONCLUSIVE
    assert all("toy:plain-only cannot be asked for async sends" in result.reason for result in judgement.results)
