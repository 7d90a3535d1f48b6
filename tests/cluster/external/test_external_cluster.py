"""A cluster that is somebody else's: topics of its prefix, the owner's commands, and everything as it was in the end."""

import json
import re
import threading
import time
from pathlib import Path

import pytest

from rocketdiff.cluster.external import connect
from rocketdiff.cluster.external.cluster import ExternalCluster
from rocketdiff.cluster.external.undo_log import UndoLog, active_runs
from rocketdiff.cluster.faults.schedule import ScheduleOutcome, run_schedule
from rocketdiff.cluster.interface import NodeState
from rocketdiff.core.errors import ClusterError, EnvironmentMissing, UsageError
from rocketdiff.core.tables.fault import FaultKind, FaultSpec
from tests.cluster.external.owned import PREFIX, Owned, joined, retry_at_once


def undo_log_of(cluster: ExternalCluster) -> UndoLog:
    return cluster._undo_log


def paused(cluster: ExternalCluster, for_s: float = 0.3) -> ScheduleOutcome:
    spec = FaultSpec(1, FaultKind.PAUSE, "broker-b", 0.0, for_s)
    return run_schedule(cluster, [spec], time.monotonic_ns(), lambda _: None, threading.Event())


def test_brokers_have_the_owners_names_and_scenarios_their_letters(owned: Owned) -> None:
    """Addresses and release are what the servers tell."""
    with joined(owned) as cluster:
        assert [(node.letter, node.name) for node in cluster.brokers] == [("a", "mq-red"), ("b", "mq-blue")]
        assert cluster.brokers[1].address == owned.brokers["mq-blue"].address
        assert cluster.server_release == "5.3.3"
        assert {cluster.topology.broker_named(text) for text in ("b", "broker-b", "mq-blue")} == {"mq-blue"}
        with pytest.raises(UsageError, match="mq-red, mq-blue"):
            cluster.topology.broker_named("broker-c")


def test_a_topology_of_one_uses_one(owned: Owned) -> None:
    """The second broker gets no topic."""
    with joined(owned, topology="one-master") as cluster:
        cluster.create_topic(f"{PREFIX}-t", 4)
        assert [node.name for node in cluster.brokers] == ["mq-red"]
        assert not owned.brokers["mq-blue"].topics


def test_every_topic_is_gone_in_the_end(owned: Owned, home: Path) -> None:
    """Those of cases and that of probes; nobody else's is touched, and no entry is left."""
    owned.brokers["mq-red"].topics["orders"] = 8
    with joined(owned) as cluster:
        cluster.create_topic(f"{PREFIX}-t", {"a": 3, "b": 1})
        assert owned.brokers["mq-red"].topics[f"{PREFIX}-t"] == 3
        assert owned.brokers["mq-blue"].topics[f"{PREFIX}-t"] == 1
        assert [owner.cluster for owner in active_runs()] == ["unit"]
        cluster.delete_topic(f"{PREFIX}-t")
        cluster.delete_topic("orders")
    assert owned.topics == {"orders"}
    assert not list(home.iterdir())


def test_a_topic_without_the_prefix_or_of_somebody_else_is_refused(owned: Owned) -> None:
    """It would be changed now and deleted in the end."""
    owned.brokers["mq-red"].topics[f"{PREFIX}-theirs"] = 8
    owned.brokers["mq-red"]._register(f"{PREFIX}-theirs")
    with joined(owned) as cluster:
        with pytest.raises(UsageError, match=f"begins with {PREFIX}-"):
            cluster.create_topic("orders", 4)
        with pytest.raises(ClusterError, match="before this run creates it"):
            cluster.create_topic(f"{PREFIX}-theirs", 4)
    assert owned.topics == {f"{PREFIX}-theirs"}


def test_a_pause_is_the_owners_command_and_the_probe_its_proof(owned: Owned) -> None:
    """The record names the broker as clients see it; every command is noted, and who witnessed it."""
    with joined(owned) as cluster:
        outcome = paused(cluster)
        assert cluster.state("mq-blue") is NodeState.RUNNING
    (record,) = outcome.records
    assert not outcome.problems
    assert record.node == "mq-blue"
    assert None not in (record.proven_ns, record.heal_proven_ns)
    lines = [json.loads(line) for line in (owned.folder / "cluster" / "commands.ndjson").read_text().splitlines()]
    assert [(line["node"], line["verb"], line["exit_code"]) for line in lines] == [
        ("mq-blue", "pause", 0),
        ("mq-blue", "resume", 0),
    ]
    assert {line["witness"] for line in lines} == {"probe alone"}


def test_a_state_command_that_did_not_reach_the_node_tells_nothing(owned: Owned) -> None:
    """No output is how ps speaks of what is gone, but ssh without a connection says nothing either."""
    unreachable = owned.described(timeout_s=0.5, kill="touch {flag}", restart="rm {flag} ", state="exit 255")
    cluster = joined(owned, unreachable)
    with pytest.raises(ClusterError, match=r"mq-red to be gone .* exit code 255"):
        cluster.kill("mq-red")
    cluster.close()
    assert not owned.brokers["mq-red"].flag.exists()


def test_what_an_earlier_run_left_paused_is_resumed_before_it_is_asked_anything(owned: Owned) -> None:
    """It could not answer."""
    cluster = joined(owned)
    cluster.pause("mq-blue")
    cluster._undo_log._file.close()  # as the kernel does for a run that was killed, whose guardian was too
    cluster._guardian.close()
    cluster._channels.close()
    release, brokers = connect.clean_and_inspect(owned.described())
    assert (release, set(brokers)) == ("5.3.3", {"mq-red", "mq-blue"})
    assert not owned.topics


def test_a_state_command_must_agree(owned: Owned) -> None:
    """A pause that it denies is a problem, even if the command has ended well."""
    told = "test -e {flag} && echo paused || echo running"
    with joined(owned, owned.described(state=told)) as cluster:
        assert not paused(cluster).problems
    with joined(owned, owned.described(timeout_s=0.5, state="echo running")) as cluster:
        (problem,) = paused(cluster).problems
    assert "mq-blue to be paused" in str(problem)
    assert "its state command says running" in str(problem)
    assert not owned.brokers["mq-blue"].flag.exists()


def test_a_pause_command_that_fails_tells_exit_code_and_stderr(owned: Owned) -> None:
    """The case is invalid with that cause; the broker, which answers, has no pending entry."""
    failing = owned.described(timeout_s=0.5, pause="echo no route to mq-7 >&2; exit 255")
    with joined(owned, failing) as cluster:
        outcome = paused(cluster)
    assert "the pause command of mq-blue to succeed" in str(outcome.problems[0])
    assert "exit code 255: no route to mq-7" in str(outcome.problems[0])
    assert outcome.records[0].proven_ns is None


def test_a_pause_command_that_hangs_is_killed_at_its_deadline(owned: Owned) -> None:
    """And what it may have done by then is undone."""
    hanging = owned.described(timeout_s=0.5, pause="touch {flag}; sleep 60")
    with joined(owned, hanging) as cluster:
        outcome = paused(cluster)
    assert re.search(r"no end after [0-9.]+ s, killed", str(outcome.problems[0]))
    assert not owned.brokers["mq-blue"].flag.exists()


def test_a_pause_without_effect_is_not_proven(owned: Owned) -> None:
    """The command's word is not believed."""
    with joined(owned, owned.described(pause="true", resume="true ")) as cluster:
        (problem,) = paused(cluster).problems
    assert "mq-blue not to answer while it is paused" in str(problem)


def test_a_broker_that_cannot_be_resumed_is_shouted_about(
    owned: Owned, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the command to run by hand; the entry stays in the undo log, and the next start tries again first."""
    retry_at_once(monkeypatch)
    monkeypatch.setattr("rocketdiff.cluster.faults.proof.ANSWER_TIMEOUT_MS", 200)
    flag = owned.brokers["mq-blue"].flag
    broken = owned.described(resume="test -e {flag}.mended && rm {flag}")
    cluster = joined(owned, broken)
    cluster.pause("mq-blue")
    with pytest.raises(ClusterError) as raised:
        cluster.close()
    said = str(raised.value)
    assert "mq-blue" in said
    assert "IS STILL PAUSED: exit code 1" in said
    assert f"do it by hand: cd {owned.folder} && test -e {flag}.mended && rm {flag}" in said
    assert len(list(home.glob("*.ndjson"))) == 1
    with pytest.raises(ClusterError, match="as an earlier run found it"):
        joined(owned, broken)
    flag.with_name(f"{flag.name}.mended").touch()
    joined(owned, broken).close()
    assert not flag.exists()
    assert not owned.topics
    assert not list(home.iterdir())


def test_an_act_that_did_not_end_well_is_noted_until_it_is_undone(owned: Owned) -> None:
    """One that did is not: nothing of it is under way."""
    with joined(owned, owned.described(timeout_s=0.3, kill="exit 1", restart="true ")) as cluster:
        cluster.pause("mq-red")
        with pytest.raises(ClusterError):
            cluster.kill("mq-blue")
        log = undo_log_of(cluster)
        unfinished = {entry.key: log.unfinished_action(entry) is not None for entry in log.pending}
        assert {"resume mq-red": False, "restart mq-blue": True}.items() <= unfinished.items()


def test_what_was_not_spelled_out_is_not_done(owned: Owned) -> None:
    """Whoever asks."""
    with joined(owned, owned.described(pause=None, resume=None)) as cluster:
        with pytest.raises(ClusterError, match=r"a pause command of mq-red in cluster\.yaml"):
            cluster.pause("mq-red")
        with pytest.raises(ClusterError, match="a kill command"):
            cluster.kill("mq-red")
        with pytest.raises(UsageError, match="name-server-1, mq-red, mq-blue"):
            cluster.pause("mq-green")


def test_a_restart_by_somebody_else_is_noticed(owned: Owned) -> None:
    """Between two looks, however short it was."""
    with joined(owned) as cluster:
        cluster.require_sound()
        owned.brokers["mq-blue"].booted = "2000"
        with pytest.raises(ClusterError, match="mq-blue not to be restarted externally"):
            cluster.require_sound()


def test_settings_are_kept_as_evidence_and_secrets_are_not(owned: Owned) -> None:
    """In place of logs, which are not ours."""
    with joined(owned) as cluster:
        assert cluster.log_tail("mq-red") == ("logs of an external cluster are not read",)
        assert cluster.unread_bytes("mq-red") is None
    folder = owned.folder / "cluster"
    assert (folder / "mq-red" / "server.properties").read_text() == "adminPassword=(left out)\nbrokerName=mq-red\n"
    facts = json.loads((folder / "nodes.json").read_text())
    assert facts["nodes"]["mq-blue"]["release"] == "5.3.3"
    assert facts["nodes"]["mq-blue"]["faults_witnessed_by"] == "probe alone"


def test_a_broker_that_nobody_knows_is_named_with_those_that_are_known(owned: Owned) -> None:
    """Before anything is created."""
    owned.name_server.brokers["mq-green"] = owned.name_server.brokers.pop("mq-blue")
    with pytest.raises(ClusterError, match=r"a master broker mq-blue .* saw mq-green, mq-red"):
        joined(owned)
    assert not owned.topics


def test_a_cluster_too_far_away_is_refused(owned: Owned, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its silence could not be told from its distance."""
    monkeypatch.setattr("rocketdiff.cluster.external.inspect.SLOWEST_ANSWER_MS", 0.0)
    with pytest.raises(EnvironmentMissing, match="run nearer"):
        joined(owned)


def test_a_second_run_on_the_same_cluster_is_refused(owned: Owned, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would take the other's pauses for its own."""
    monkeypatch.setattr(connect, "_OTHERS_END_WITHIN_S", 0.1)
    with joined(owned), pytest.raises(ClusterError, match="no other run of yours on unit"):
        joined(owned)


def test_slaves_are_not_ours_to_arrange(owned: Owned) -> None:
    """A topology that needs them is refused."""
    with pytest.raises(UsageError, match="cannot set up slaves"):
        joined(owned, topology="master-with-slave-sync")
    with pytest.raises(UsageError, match=r"no broker c in cluster\.yaml"):
        joined(owned, topology="three-masters")
