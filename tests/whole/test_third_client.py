"""Whole runs of the C++ client against Java, with the wire as its witness."""

from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.arm import CANDIDATE, Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.judging.ledgers import LedgerChoice
from rocketdiff.judging.ledgers import load as load_ledger
from rocketdiff.ledger.model import Ledger
from rocketdiff.relay.remoting.record import Shut, read_wire
from rocketdiff.traces.run_directory import RunDirectory
from tests.live import repeated
from tests.whole.stage import GUARDED_TRIES, decided, judge, run_pair, send_ends, signatures, why_invalid

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

WENT_ON = "attempts.went-on/retry"

OWN_IDS = "content.key-differs-between-copies/UNIQ_KEY"
"""Every attempt has its own client id, which shows when a message is stored twice."""


def test_a_refused_connection_is_no_divergence_on_the_wire(cluster: Cluster, folder: Path) -> None:
    """
    Refused connections leave no trace on the wire, so a dead broker causes no divergence of queues or attempts.

    The relay records that the port was shut; from then on no send counts as fully observed.
    """

    def played(number: int) -> Path:
        run = run_pair(cluster, folder / str(number), "java:5.3.3", "cpp:2.1.0", "whole/dead-broker")
        cluster.heal_all()
        return run

    run = repeated(played, why_invalid, GUARDED_TRIES)
    judgement = judge(run)
    (case,) = RunDirectory.open(run).manifest.cases
    records = read_wire(RunDirectory.open(run).case(1).wire_file(CANDIDATE))
    assert [record.node for record in records if isinstance(record, Shut)] == ["broker-b"]
    (witness,) = [guard.seen for guard in case.guards if guard.name == "witness-candidate"]
    assert int(witness.split()[-4]) > 0, witness
    assert signatures(judgement) == set(), [result for result in judgement.results if result.divergences]
    assert judgement.exit_code is ExitCode.INCONCLUSIVE


def test_a_member_that_only_relays_see_is_settled_and_judged(cluster: Cluster, folder: Path) -> None:
    """
    A group of this client, which reports its calls only, consumes as Java's does, beside a pause as well: exit 0.

    Its shutdown kills its process, which the shipped ledger declares.
    """
    run, bare = decided(
        cluster, folder, "java:5.3.3", "cpp:2.1.0", "consuming/pause-one-of-two-briefly", root=None, is_all_valid=True
    )
    assert (bare.exit_code, signatures(bare)) == (ExitCode.DIVERGES, {"consumption.leave-fails/SIGSEGV"})
    (case,) = RunDirectory.open(run).manifest.cases
    assert [summary.deliveries for summary in case.arms.values()] == [240, 240]
    assert judge(run, load_ledger(LedgerChoice())).exit_code is ExitCode.CONFORMS


def test_the_shipped_ledger_declares_what_is_known_of_it(cluster: Cluster, folder: Path) -> None:
    """
    The shipped ledger declares that this client retries past a broker paused for over 3 s, where Java fails: exit 0.

    From 4.3.0 on a paused broker uses up Java's whole budget; the C++ client has one budget per attempt.
    The same run exits with 1 without the ledger or that entry, and with 3 if an entry no longer occurs.
    """
    scenario = "retries/past-paused-brokers"
    run, bare = decided(cluster, folder, "java:5.3.3", "cpp:2.1.0", scenario, root=None, is_all_valid=True)
    assert (bare.exit_code, signatures(bare) - {OWN_IDS}) == (ExitCode.DIVERGES, {WENT_ON})
    reported = send_ends(run)
    # At the very edge of its budget Java makes one more attempt, which has no time left.
    assert set(reported[Arm.BASELINE]) & {"RemotingTooMuchRequestException", "MQClientException"}
    assert set(reported[Arm.CANDIDATE]) == {"SEND_OK"}
    witnesses = {arm: summary.witness for arm, summary in RunDirectory.open(run).entry(1).arms.items()}
    assert witnesses == {Arm.BASELINE: "client", Arm.CANDIDATE: "wire"}

    shipped = load_ledger(LedgerChoice())
    assert judge(run, shipped).exit_code is ExitCode.CONFORMS
    (entry,) = [one for one in shipped.entries if one.id == "budget-is-per-attempt-past-paused-brokers"]
    others = tuple(one for one in shipped.entries if one is not entry)
    assert judge(run, Ledger(others)).exit_code is ExitCode.DIVERGES
    gone = replace(
        entry, id="gone", check="retries/past-paused-brokers/loss", signatures=("loss.acknowledged-not-stored",)
    )
    assert judge(run, Ledger((*shipped.entries, gone))).exit_code is ExitCode.STALE_LEDGER
