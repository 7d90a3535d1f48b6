"""A cluster that is somebody else's: topics of its prefix, the owner's commands, and everything as it was in the end."""

import json
import re
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cluster.external import joining
from harness.cluster.external.cleaning import clean
from harness.cluster.external.cluster import ExternalCluster
from harness.cluster.external.debts import Debts, owners_at_work
from harness.cluster.external.description import Command, Verb
from harness.cluster.faults.schedule import ScheduleOutcome, run_schedule
from harness.cluster.interface import Node, NodeState
from harness.core.errors import ClusterError, EnvironmentMissing, FaultNotProven, UsageError
from harness.core.fault import FaultKind, FaultSpec
from tests.cluster.external.owned import PREFIX, Owned, joined


def debts_of(cluster: ExternalCluster) -> Debts:
    return cluster._debts


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
    """Those of cases and that of probes; nobody else's is touched, and no debt is left."""
    owned.brokers["mq-red"].topics["orders"] = 8
    with joined(owned) as cluster:
        cluster.create_topic(f"{PREFIX}-t", {"a": 3, "b": 1})
        assert owned.brokers["mq-red"].topics[f"{PREFIX}-t"] == 3
        assert owned.brokers["mq-blue"].topics[f"{PREFIX}-t"] == 1
        assert [owner.cluster for owner in owners_at_work()] == ["unit"]
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
    cluster._debts._file.close()  # as the kernel does for a run that was killed, whose guardian was too
    cluster._guard.close()
    cluster._channels.close()
    release, brokers = joining.look(owned.described())
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
    """The case is invalid with that cause; the broker, which answers, is owed nothing."""
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
    """With the command to run by hand; what is owed stays written down, and the next start tries again first."""
    monkeypatch.setattr("harness.cluster.external.settling._BETWEEN_TRIES_S", 0.0)
    monkeypatch.setattr("harness.cluster.faults.proof.ANSWER_TIMEOUT_MS", 200)
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


def test_a_kill_and_a_restart_are_the_owners_commands(owned: Owned, monkeypatch: pytest.MonkeyPatch) -> None:
    """A restart by the owner's command is none that somebody else made."""
    with joined(owned, owned.described(timeout_s=0.3, kill="touch {flag}", restart="rm {flag} ")) as cluster:
        cluster.kill("mq-red")
        assert cluster.state("mq-red") is NodeState.GONE
        owned.brokers["mq-red"].booted = "2000"
        owned.brokers["mq-red"].figures_refused = 3  # a 5.x broker that has just come up
        cluster.heal_all()
        assert cluster.state("mq-red") is NodeState.RUNNING
        cluster.require_sound()


def test_a_kill_lasts_until_connections_are_refused(owned: Owned, monkeypatch: pytest.MonkeyPatch) -> None:
    """``kill -9`` has ended before the process has: the fault would be shown not to be there, and the case be invalid."""

    def refused(node: Node) -> int:
        looks.append(node.name)
        if len(looks) < 4:
            raise FaultNotProven(f"{node.name} to refuse connections", seen="an answer")
        return time.monotonic_ns()

    looks: list[str] = []
    monkeypatch.setattr("harness.cluster.external.acts.prove_refusal", refused)
    with joined(owned, owned.described(kill="touch {flag}", restart="rm {flag} ")) as cluster:
        span = cluster.kill("mq-red")
        assert looks == ["mq-red"] * 4
        assert span.end_ns - span.begin_ns > 3 * 20_000_000, "three pauses of 20 ms between the looks"
        cluster.heal_all()


def test_a_paused_name_server_is_not_waited_for_when_a_broker_comes_back(
    owned: Owned, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot learn of the broker before it is resumed."""
    monkeypatch.setattr("harness.cluster.external.cluster._SERVE_AGAIN_S", 0.3)
    described = owned.described(timeout_s=0.3, kill="touch {flag}", restart="rm -f {flag} ")
    commands = {Verb.PAUSE: Command.of("true"), Verb.RESUME: Command.of("true ")}
    described = replace(described, name_servers=(replace(described.name_servers[0], commands=commands),))
    with joined(owned, described) as cluster:
        cluster.kill("mq-red")
        owned.name_server.routes.clear()
        cluster.pause("name-server-1")
        cluster.restart("mq-red")
        cluster.kill("mq-red")
        cluster.resume("name-server-1")
        with pytest.raises(ClusterError, match="name-server-1 to have the route"):
            cluster.restart("mq-red")


def test_a_broker_that_came_back_by_itself_is_not_restarted_and_its_case_is_invalid(owned: Owned) -> None:
    """A supervisor was quicker; the next case begins with the broker as it is."""
    described = owned.described(timeout_s=0.3, kill="touch {flag}", restart="rm -f {flag}")
    with joined(owned, described) as cluster:
        cluster.kill("mq-red")
        owned.brokers["mq-red"].flag.unlink()
        owned.brokers["mq-red"].booted = "2000"
        with pytest.raises(ClusterError, match="mq-red to stay down until its restart command"):
            cluster.restart("mq-red")
        cluster.heal_all()
        cluster.require_sound()
        assert cluster.state("mq-red") is NodeState.RUNNING
    log = (owned.folder / "cluster" / "commands.ndjson").read_text()
    assert [json.loads(line)["verb"] for line in log.splitlines()] == ["kill"]


def test_a_broker_that_cannot_be_restarted_is_told_by_the_schedule_and_in_the_end(
    owned: Owned, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The case is invalid, with the command's own words; what is owed stays written down and is paid when it can be."""
    monkeypatch.setattr("harness.cluster.external.settling._BETWEEN_TRIES_S", 0.0)
    monkeypatch.setattr("harness.cluster.faults.proof.ANSWER_TIMEOUT_MS", 200)
    flag = owned.brokers["mq-blue"].flag
    broken = owned.described(
        0.5, kill="touch {flag}", restart="test -e {flag}.mended && rm {flag} || { echo full >&2; exit 3; }"
    )
    cluster = joined(owned, broken)
    spec = FaultSpec(1, FaultKind.KILL, "broker-b", 0.0, 0.1)
    outcome = run_schedule(cluster, [spec], time.monotonic_ns(), lambda _: None, threading.Event())
    assert "the restart command of mq-blue to succeed; saw exit code 3: full" in str(outcome.problems[1])
    with pytest.raises(ClusterError, match=r"mq-blue \(\S+\) IS STILL DOWN: exit code 3: full; do it by hand: cd "):
        cluster.close()
    assert len(list(home.glob("*.ndjson"))) == 1
    flag.with_name(f"{flag.name}.mended").touch()
    told: list[str] = []
    clean(told.append)
    assert told[0] == "cluster unit: restart mq-blue: done"
    assert not owned.topics
    assert not list(home.iterdir())


def test_a_kill_that_failed_leads_to_no_restart(owned: Owned) -> None:
    """Neither by the schedule nor in the end: the broker is healthy."""
    failing = owned.described(timeout_s=0.3, kill="exit 1", restart="touch {flag}.restarted")
    with joined(owned, failing) as cluster:
        spec = FaultSpec(1, FaultKind.KILL, "broker-b", 0.0, 0.1)
        outcome = run_schedule(cluster, [spec], time.monotonic_ns(), lambda _: None, threading.Event())
    assert [problem.expected for problem in outcome.problems] == [
        "the kill command of mq-blue to succeed",
        "mq-blue to stay down until its restart command",
    ]
    assert not owned.brokers["mq-blue"].flag.with_name("mq-blue.paused.restarted").exists()


def test_an_act_that_did_not_end_well_is_noted_until_it_is_undone(owned: Owned) -> None:
    """One that did is not: nothing of it is under way."""
    with joined(owned, owned.described(timeout_s=0.3, kill="exit 1", restart="true ")) as cluster:
        cluster.pause("mq-red")
        with pytest.raises(ClusterError):
            cluster.kill("mq-blue")
        debts = {debt.key: debts_of(cluster).unsure(debt) is not None for debt in debts_of(cluster).owed}
        assert {"resume mq-red": False, "restart mq-blue": True}.items() <= debts.items()


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
        with pytest.raises(ClusterError, match="mq-blue to be restarted by nobody else"):
            cluster.require_sound()


def test_settings_are_kept_as_evidence_and_secrets_are_not(owned: Owned) -> None:
    """In place of logs, which are not ours."""
    with joined(owned) as cluster:
        assert cluster.log_tail("mq-red") == ("its log is its owner's",)
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
    monkeypatch.setattr("harness.cluster.external.survey.SLOWEST_ANSWER_MS", 0.0)
    with pytest.raises(EnvironmentMissing, match="run nearer"):
        joined(owned)


def test_a_second_run_on_the_same_cluster_is_refused(owned: Owned, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would take the other's pauses for its own."""
    monkeypatch.setattr(joining, "_OTHERS_END_WITHIN_S", 0.1)
    with joined(owned), pytest.raises(ClusterError, match="no other run of yours on unit"):
        joined(owned)


def test_slaves_are_not_ours_to_arrange(owned: Owned) -> None:
    """A topology that needs them is refused."""
    with pytest.raises(UsageError, match="not ours to arrange"):
        joined(owned, topology="master-with-slave-sync")
    with pytest.raises(UsageError, match=r"no broker c in cluster\.yaml"):
        joined(owned, topology="three-masters")
