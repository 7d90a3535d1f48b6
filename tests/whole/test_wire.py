"""Faults on the wire."""

from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.run_directory import RunDirectory
from tests.whole.stage import decided, send_ends, signatures

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


def test_a_lost_answer_fails_the_send_and_both_arms_conform(cluster: Cluster, folder: Path) -> None:
    """A fault on the wire starts its relays and is proven in both directions; both arms conform."""
    run, judgement = decided(cluster, folder, "java:5.3.3", "python:5.3.3", "wire/swallowed-responses", root=None)
    (case,) = RunDirectory.open(run).manifest.cases
    proof = {guard.name: guard.seen for guard in case.guards}["fault-1"]
    assert proof == "proven"
    assert signatures(judgement) == set()
    assert judgement.exit_code is ExitCode.CONFORMS, [result for result in judgement.results if result.reason]
    reported = [set(sends) for sends in send_ends(run).values()]
    # On a busy machine one arm may not send while answers are lost. A wait that ends in the millisecond of the timeout leaves
    # 0 ms for a retry, which fails as well, and the send has another error.
    errors = [each - {"SEND_OK"} for each in reported]
    assert any(errors)
    assert all(each <= {"RemotingTooMuchRequestException", "MQClientException"} for each in errors)
