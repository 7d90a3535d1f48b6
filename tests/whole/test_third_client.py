"""The C++ client against Java, through whole runs: judged by what the wire saw of it, against the baseline's own rules."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.events import Arm
from rocketdiff.judging.ledgers import LedgerChoice
from rocketdiff.judging.ledgers import load as load_ledger
from rocketdiff.ledger.model import Ledger
from rocketdiff.relay.remoting.record import Shut, read_wire
from rocketdiff.traces.run_directory import RunDirectory
from tests.whole.stage import decided, judge, run_pair, signatures, told_sends

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

WENT_ON = "attempts.went-on/retry"

OWN_IDS = "content.key-differs-between-copies/UNIQ_KEY"
"""Every attempt has a client id of its own, which shows wherever a message was stored twice."""


def test_it_goes_on_where_java_gives_up(cluster: Cluster, folder: Path) -> None:
    """
    From 4.3.0 on a paused broker eats Java's whole budget; this client has one a attempt. Nothing else differs here.

    On a quiet machine its retries begin within the ms in which the budget ends, where Java may make one too; the longer pauses of the
    shipped ledger's test below always show it.
    """
    run, judgement = decided(cluster, folder, "java:5.3.3", "cpp:2.1.0", "whole/three-pauses")
    assert judgement.exit_code is ExitCode.DIVERGES
    assert {OWN_IDS} <= signatures(judgement) <= {OWN_IDS, WENT_ON}
    (case,) = json.loads((run / "run.json").read_text())["cases"]
    assert {arm: summary["witness"] for arm, summary in case["arms"].items()} == {
        "baseline": "client",
        "candidate": "wire",
    }


def test_it_goes_on_as_java_did_before_4_3_0(cluster: Cluster, folder: Path) -> None:
    """
    There every attempt had the whole timeout in Java too.

    What is left: after a retry that release's counter has moved by one, this client's by every queue it passed. That shows in
    the next send, and in the next retry where a slow machine lets a send meet two brokers that are paused.
    """
    _, judgement = decided(cluster, folder, "java:4.2.0", "cpp:2.1.0", "whole/three-pauses")
    assert judgement.exit_code is ExitCode.DIVERGES
    found = signatures(judgement) - {OWN_IDS}
    assert {"queue.out-of-turn/first"} <= found <= {"queue.out-of-turn/first", "queue.out-of-turn/retry"}


def test_what_the_wire_cannot_see_is_not_held_against_it(cluster: Cluster, folder: Path) -> None:
    """
    Refused connections leave no trace: with a dead broker nothing is said about queues and attempts.

    That its port was shut the relay wrote down; every send from then on is one that nobody can have seen all of.
    """
    run = run_pair(cluster, folder, "java:5.3.3", "cpp:2.1.0", "whole/dead-broker")
    judgement = judge(run)
    cluster.heal_all()
    (case,) = RunDirectory.open(run).manifest.cases
    records = read_wire(RunDirectory.open(run).case(1).wire_file(Arm.CANDIDATE))
    assert [record.node for record in records if isinstance(record, Shut)] == ["broker-b"]
    (witness,) = [guard.seen for guard in case.guards if guard.name == "witness-candidate"]
    assert int(witness.split()[-4]) > 0, witness
    assert signatures(judgement) == set(), [result for result in judgement.results if result.divergences]
    assert judgement.exit_code is ExitCode.INCONCLUSIVE


def test_the_shipped_ledger_declares_what_is_known_of_it(cluster: Cluster, folder: Path) -> None:
    """
    With default timeouts it retries past a broker that is paused for longer than 3 s, and Java fails: known, so exit 0.

    Without the ledger exit 1 with the signature; 1 again when the entry is removed, and 3 when one is left of something
    that is no more. All four from one run.
    """
    scenario = "retries/past-paused-brokers"
    run, bare = decided(cluster, folder, "java:5.3.3", "cpp:2.1.0", scenario, root=None, is_all_valid=True)
    assert (bare.exit_code, signatures(bare) - {OWN_IDS}) == (ExitCode.DIVERGES, {WENT_ON})
    told = told_sends(run)
    # At the very edge of its budget Java makes one more attempt, which has no time left.
    assert set(told[Arm.BASELINE]) & {"RemotingTooMuchRequestException", "MQClientException"}
    assert set(told[Arm.CANDIDATE]) == {"SEND_OK"}

    shipped = load_ledger(LedgerChoice())
    assert judge(run, shipped).exit_code is ExitCode.CONFORMS
    (entry,) = [one for one in shipped.entries if one.id == "budget-is-per-attempt-past-paused-brokers"]
    others = tuple(one for one in shipped.entries if one is not entry)
    assert judge(run, Ledger(others)).exit_code is ExitCode.DIVERGES
    gone = replace(
        entry, id="gone", check="retries/past-paused-brokers/loss", signatures=("loss.acknowledged-not-stored",)
    )
    assert judge(run, Ledger((*shipped.entries, gone))).exit_code is ExitCode.STALE_LEDGER
