"""
A subject with a known defect never passes; the honest toy does.

Two toys share a run, each as the other's partner; the honest toy runs against Java.
"""

from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judge import RunJudgement
from tests.whole.stage import decided, judge, run_pair, signatures

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

FOUND = {
    "answers-twice": "protocol.answered-twice",
    "dies-mid-send": "protocol.died",
    "stalls": "protocol.stalled",
    "speaks-nonsense": "protocol.bad-line",
    "ignores-mode": "protocol.other-mode",
    "lies-about-queue": "witness.queue-or-offset-wrong",
    "sends-twice": "duplication.stored-more-than-attempted",
    "drops": "loss.acknowledged-not-stored",
    "fails-in-calm": "outcomes.failed-without-cause",
    "loses-answers": "outcomes.failed-without-cause",
    "leaks-connections": "outcomes.connections-left-open/name-server",
    "never-calls-back": "callbacks.never-called",
    "calls-back-twice": "callbacks.called-more-than-once",
    "reorders": "order.stored-before-an-earlier-message",
    "drops-a-property": "content.property-missing/colour",
    "forgets-delays": "delay.not-kept-back",
    "ignores-retries": "attempts.stopped-early/retry",
    "ok-without-answer": "outcomes.acknowledged-by-a-stopped-broker",
    "keeps-addresses": "outcomes.failed-without-cause/RemotingConnectException",
    "async-no-failover": "retry.returned-to-failed-broker/retry",
}
"""The signature of each toy's defect, or its beginning. The bank (tests/analysis/sending/bank.py) has those that misjudge time."""

RUNS = (
    ("whole/calm", "toy:stalls", "toy:dies-mid-send"),
    ("whole/calm", "toy:speaks-nonsense", "toy:answers-twice"),
    ("whole/calm", "toy:fails-in-calm", "toy:sends-twice"),
    ("whole/calm", "toy:loses-answers", "toy:drops"),
    ("whole/calm", "python:5.3.3", "toy:leaks-connections"),
    ("whole/asynchronous", "toy:never-calls-back", "toy:calls-back-twice"),
    ("whole/asynchronous", "python:5.3.3", "toy:ignores-mode"),
    ("whole/ordered", "python:5.3.3", "toy:reorders"),
    ("whole/carried", "toy:drops-a-property", "toy:forgets-delays"),
    ("whole/short-pause", "toy:ok-without-answer", "toy:lies-about-queue"),
    ("whole/dead-broker", "python:5.3.3", "toy:ignores-retries"),
    ("whole/asynchronous-dead-broker", "python:5.3.3", "toy:async-no-failover"),
)
"""Two toys share a run if each is found by what it did itself; the others are found by the rules or the connections of a partner."""


@pytest.fixture(autouse=True)
def _what_never_comes_is_waited_for_briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """No wait for silent name servers, which these scenarios do not have."""
    monkeypatch.setattr("rocketdiff.subjects.sending.limits._NAME_SERVER_TIMEOUT_S", 0.0)


def found_of(judgement: RunJudgement, subject: str) -> set[str]:
    """Signatures of the divergences of one subject; a baseline's may begin with ``rules/``."""
    found = (one for result in judgement.results for one in result.divergences if one.subject == subject)
    return {one.signature.removeprefix("rules/") for one in found}


@pytest.mark.parametrize(("scenario", "baseline", "candidate"), RUNS)
def test_defects_are_found_by_their_signatures(
    cluster: Cluster, folder: Path, scenario: str, baseline: str, candidate: str
) -> None:
    """Each toy diverges with its own signature, in calm, in its mode or under the fault that shows its defect."""
    _, judgement = decided(cluster, folder, baseline, candidate, scenario)
    assert judgement.exit_code is ExitCode.DIVERGES
    for subject in (baseline, candidate):
        expected, found = FOUND.get(subject.removeprefix("toy:")), found_of(judgement, subject)
        assert any(seen.startswith(expected) for seen in found) if expected else not found, signatures(judgement)


def test_a_client_that_keeps_a_moved_brokers_address_differs_from_java(cluster: Cluster, folder: Path) -> None:
    """The toy fails at the old address of a broker that moved; Java, which goes to the new one, has no divergence."""
    toy = "keeps-addresses"
    _, judgement = decided(cluster, folder, "java:5.3.3", f"toy:{toy}", "whole/moved-broker")
    assert judgement.exit_code is ExitCode.DIVERGES
    assert any(seen.startswith(FOUND[toy]) for seen in found_of(judgement, f"toy:{toy}")), signatures(judgement)
    assert not found_of(judgement, "java:5.3.3")


@pytest.mark.parametrize("scenario", ["whole/asynchronous-dead-broker", "whole/carried"])
def test_a_toy_without_a_defect_conforms(cluster: Cluster, folder: Path, scenario: str) -> None:
    """The honest toy conforms to Java in its modes, also beside a dead broker."""
    _, judgement = decided(cluster, folder, "java:5.3.3", "toy:honest", scenario)
    assert not signatures(judgement)
    assert judgement.exit_code is ExitCode.CONFORMS, [r for r in judgement.results if r.divergences or r.reason]


def test_a_client_without_hooks_has_the_relay_as_its_witness(cluster: Cluster, folder: Path) -> None:
    """For a client that claims no attempts the relay is the witness even without --wire."""
    run, judgement = decided(cluster, folder, "python:5.3.3", "toy:no-hooks", "whole/calm")
    (case,) = RunDirectory.open(run).manifest.cases
    assert case.arms[Arm.CANDIDATE].witness == "wire"
    assert judgement.exit_code is ExitCode.CONFORMS, [r for r in judgement.results if r.divergences or r.reason]


def test_a_client_that_does_not_claim_a_mode_never_passes_it(cluster: Cluster, folder: Path) -> None:
    """A client that does not claim asynchronous sends makes the asynchronous case inconclusive."""
    judgement = judge(run_pair(cluster, folder, "python:5.3.3", "toy:plain-only", "whole/asynchronous"))
    assert judgement.exit_code is ExitCode.INCONCLUSIVE
    assert all("toy:plain-only cannot be asked for async sends" in result.reason for result in judgement.results)
