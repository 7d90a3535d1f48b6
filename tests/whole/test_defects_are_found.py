"""A subject with a known defect never passes; an honest one does."""

from pathlib import Path

import pytest

from harness.cluster.interface import Cluster
from harness.core.errors import ExitCode
from tests.whole.stage import judge, run_pair, signatures

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

FOUND_BY = {
    "answers-twice": "protocol.answered-twice",
    "dies-mid-send": "protocol.died",
    "stalls": "protocol.stalled",
    "speaks-nonsense": "protocol.bad-line",
    "lies-about-queue": "queue",
    "sends-twice": "duplication.stored-more-than-attempted",
    "drops": "loss.acknowledged-not-stored",
    "ignores-retries": "attempts.stopped-early",
}


@pytest.mark.parametrize("defect", FOUND_BY)
def test_a_defect_is_found_by_its_signature(cluster: Cluster, folder: Path, defect: str) -> None:
    """Every toy is judged as diverging, for the reason it was made for."""
    judgement = judge(run_pair(cluster, folder, "java:5.3.3", f"toy:{defect}"))
    assert judgement.exit_code is ExitCode.DIVERGES
    assert any(signature.startswith(FOUND_BY[defect]) for signature in signatures(judgement)), signatures(judgement)


def test_a_toy_without_a_defect_conforms(cluster: Cluster, folder: Path) -> None:
    """The toys' own machinery raises no alarm."""
    judgement = judge(run_pair(cluster, folder, "java:5.3.3", "toy:honest"))
    assert judgement.exit_code is ExitCode.CONFORMS, [r for r in judgement.results if r.divergences or r.reason]
