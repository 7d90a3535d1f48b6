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

FOUND = {
    "answers-twice": ("whole/calm", "protocol.answered-twice"),
    "dies-mid-send": ("whole/calm", "protocol.died"),
    "stalls": ("whole/calm", "protocol.stalled"),
    "speaks-nonsense": ("whole/calm", "protocol.bad-line"),
    "lies-about-queue": ("whole/calm", "queue"),
    "sends-twice": ("whole/calm", "duplication.stored-more-than-attempted"),
    "drops": ("whole/calm", "loss.acknowledged-not-stored"),
    "fails-in-calm": ("whole/calm", "outcomes.failed-without-cause"),
    "loses-answers": ("whole/calm", "outcomes.failed-without-cause"),
    "leaks-connections": ("whole/calm", "outcomes.connections-left-open/name-server"),
    "never-calls-back": ("whole/asynchronous", "callbacks.never-called"),
    "calls-back-twice": ("whole/asynchronous", "callbacks.called-more-than-once"),
    "reorders": ("whole/ordered", "order.stored-before-an-earlier-message"),
    "drops-a-property": ("whole/carried", "content.property-missing/colour"),
    "forgets-delays": ("whole/carried", "delay.not-kept-back"),
    "ignores-mode": ("whole/asynchronous", "protocol.other-mode"),
    "ignores-retries": ("whole/dead-broker", "attempts.stopped-early/retry"),
    "keeps-no-timeout": ("whole/short-pause", "attempts.outlasted-timeout"),
    "early": ("whole/short-pause", "attempts.stopped-early/retry"),
    "ok-without-answer": ("whole/short-pause", "outcomes.acknowledged-by-a-stopped-broker"),
    "keeps-addresses": ("whole/moved-broker", "outcomes.failed-without-cause/RemotingConnectException"),
    "async-no-failover": ("whole/asynchronous-dead-broker", "retry.returned-to-failed-broker/retry"),
}
"""The scenario in which each toy differs, and the signature of its defect, or its beginning."""

BESIDE_JAVA = ("async-no-failover",)
"""The queue of an asynchronous retry is compared with the real client."""


@pytest.fixture(autouse=True)
def _what_never_comes_is_waited_for_briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """No wait for silent name servers, which these scenarios do not have."""
    monkeypatch.setattr("rocketdiff.subjects.sending.limits._NAME_SERVER_TIMEOUT_S", 0.0)


@pytest.mark.parametrize("defect", FOUND)
def test_a_defect_is_found_by_its_signature(cluster: Cluster, folder: Path, defect: str) -> None:
    """Each toy diverges with its own signature, in calm, in its mode or under the fault that shows its defect."""
    scenario, signature = FOUND[defect]
    baseline = "java:5.3.3" if defect in BESIDE_JAVA else "python:5.3.3"
    _, judgement = decided(cluster, folder, baseline, f"toy:{defect}", scenario)
    assert judgement.exit_code is ExitCode.DIVERGES
    assert any(one.startswith(signature) for one in signatures(judgement)), signatures(judgement)


@pytest.mark.parametrize(
    "scenario", ["whole/asynchronous", "whole/carried", "whole/dead-broker", "whole/moved-broker", "whole/ordered"]
)
def test_a_toy_without_a_defect_conforms(cluster: Cluster, folder: Path, scenario: str) -> None:
    """The honest toy conforms to Java in every mode, beside a dead broker and a moved one."""
    _, judgement = decided(cluster, folder, "java:5.3.3", "toy:honest", scenario)
    assert not signatures(judgement)
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
