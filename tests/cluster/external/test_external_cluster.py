"""An external cluster: topics, the owner's commands, and the original state at the end."""

import json
import re
from pathlib import Path

import pytest

from rocketdiff.cluster.external import connect
from rocketdiff.cluster.external.owners_commands import run_command
from rocketdiff.cluster.external.undo_log import LoggedRun, active_runs
from rocketdiff.cluster.interface import NodeState
from rocketdiff.core.errors import ClusterError, EnvironmentMissing, UsageError
from rocketdiff.core.tables.fault import FaultRecord
from tests.cluster.external.owned import PREFIX, Owned, joined, retry_at_once, run_fault


def test_brokers_have_the_owners_names_and_scenarios_their_letters(owned: Owned) -> None:
    """Brokers have the owner's names and the scenarios' letters."""
    with joined(owned) as cluster:
        assert [(node.letter, node.name) for node in cluster.brokers] == [("a", "mq-red"), ("b", "mq-blue")]
        assert cluster.brokers[1].address == owned.brokers["mq-blue"].address
        assert cluster.server_release == "5.3.3"
        assert {cluster.topology.broker_named(text) for text in ("b", "broker-b", "mq-blue")} == {"mq-blue"}
        with pytest.raises(UsageError, match="mq-red, mq-blue"):
            cluster.topology.broker_named("broker-c")


def test_a_topology_of_one_uses_one(owned: Owned) -> None:
    """A topology of one broker uses only one."""
    with joined(owned, topology="one-master") as cluster:
        cluster.create_topic(f"{PREFIX}-t", 4)
        assert [node.name for node in cluster.brokers] == ["mq-red"]
        assert not owned.brokers["mq-blue"].topics


def test_every_topic_is_gone_in_the_end(owned: Owned, home: Path) -> None:
    """The end deletes the run's topics, no foreign ones, and the undo log."""
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


def test_every_group_is_gone_in_the_end_with_its_topics(owned: Owned, home: Path) -> None:
    """The end deletes the run's groups, again after a held pull, with their retry and dead-letter topics, and no foreign ones."""
    owned.brokers["mq-red"].join("billing")
    before = owned.topics
    with joined(owned) as cluster:
        cluster.announce_group(f"{PREFIX}-g")
        cluster.announce_group(f"{PREFIX}-g")
        cluster.create_topic(f"%RETRY%{PREFIX}-g", 1)
        for broker in owned.brokers.values():
            broker.join(f"{PREFIX}-g")
            broker.held.add(f"{PREFIX}-g")
    assert (owned.groups, owned.topics) == ({"billing"}, before)
    assert not list(home.iterdir())


def test_a_group_without_the_prefix_or_of_somebody_else_is_refused(owned: Owned) -> None:
    """An existing group, or one without the prefix, is refused, and so is a retry topic of a group that was not announced."""
    theirs = f"{PREFIX}-theirs"
    owned.brokers["mq-red"].join(theirs)
    with joined(owned) as cluster:
        with pytest.raises(UsageError, match=f"a group that begins with {PREFIX}-"):
            cluster.announce_group("billing")
        with pytest.raises(ClusterError, match=f"no topic %RETRY%{theirs} before this run creates it"):
            cluster.announce_group(theirs)
        with pytest.raises(UsageError, match=f"begins with {PREFIX}-"):
            cluster.create_topic(f"%RETRY%{theirs}", 1)
    assert owned.groups == {theirs}


def test_a_topic_without_the_prefix_or_of_somebody_else_is_refused(owned: Owned) -> None:
    """An existing topic, or one without the prefix, is refused: the end would delete it."""
    owned.brokers["mq-red"].topics[f"{PREFIX}-theirs"] = 8
    owned.brokers["mq-red"]._register(f"{PREFIX}-theirs")
    with joined(owned) as cluster:
        with pytest.raises(UsageError, match=f"begins with {PREFIX}-"):
            cluster.create_topic("orders", 4)
        with pytest.raises(ClusterError, match="before this run creates it"):
            cluster.create_topic(f"{PREFIX}-theirs", 4)
    assert owned.topics == {f"{PREFIX}-theirs"}


def test_a_pause_is_the_owners_command_and_the_probe_its_proof(owned: Owned) -> None:
    """A pause executes the owner's command, a probe proves it, and commands.ndjson has both commands."""
    with joined(owned) as cluster:
        outcome = run_fault(cluster)
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


def test_a_failed_state_command_gives_no_state(owned: Owned) -> None:
    """A failed state command gives no state: ssh without a connection is as silent as ps about a dead process."""
    unreachable = owned.described(timeout_s=0.5, kill="touch {flag}", restart="rm {flag} ", state="exit 255")
    cluster = joined(owned, unreachable)
    with pytest.raises(ClusterError, match=r"mq-red to be gone .* exit code 255"):
        cluster.kill("mq-red")
    cluster.close()
    assert not owned.brokers["mq-red"].flag.exists()


def test_groups_of_a_killed_run_are_deleted_before_queries(owned: Owned, home: Path) -> None:
    """The next start takes away the groups of a killed run, also those whose members were never there."""
    cluster = joined(owned)
    for name in ("seen", "never-there"):
        cluster.announce_group(f"{PREFIX}-{name}")
    owned.brokers["mq-blue"].join(f"{PREFIX}-seen")
    cluster._undo_log._file.close()  # as the kernel does for a killed run; its guardian was killed too
    cluster._guardian.close()
    cluster._channels.close()
    assert len(list(home.iterdir())) == 1
    connect.clean_and_inspect(owned.described())
    assert (owned.groups, owned.topics) == (set(), set())
    assert not list(home.iterdir())


def test_a_broker_left_paused_is_resumed_before_queries(owned: Owned) -> None:
    """A broker left paused by an earlier run is resumed before queries."""
    cluster = joined(owned)
    cluster.pause("mq-blue")
    cluster._undo_log._file.close()  # as the kernel does for a killed run; its guardian was killed too
    cluster._guardian.close()
    cluster._channels.close()
    release, brokers = connect.clean_and_inspect(owned.described())
    assert (release, set(brokers)) == ("5.3.3", {"mq-red", "mq-blue"})
    assert not owned.topics


@pytest.mark.parametrize(
    ("commands", "messages"),
    [
        ({"state": "echo running"}, ("mq-blue to be paused", "its state command says running")),
        (
            {"pause": "echo no route to mq-7 >&2; exit 255"},
            ("the pause command of mq-blue to succeed", "exit code 255: no route to mq-7"),
        ),
        ({"pause": "true", "resume": "true "}, ("mq-blue not to answer while it is paused",)),
    ],
    ids=["denied by the state command", "failed", "without effect"],
)
def test_a_pause_that_cannot_be_shown_is_a_problem(
    owned: Owned, commands: dict[str, str], messages: tuple[str, ...]
) -> None:
    """A pause that the state command denies, or whose command fails or has no effect, is a problem with what was seen."""
    with joined(owned, owned.described(0.5, **commands)) as cluster:
        outcome = run_fault(cluster)
    assert [message for message in messages if message not in str(outcome.problems[0])] == []
    assert outcome.records[0].proven_ns is None
    assert not owned.brokers["mq-blue"].flag.exists()


@pytest.mark.parametrize(
    ("commands", "seen"),
    [
        ({"resume": "rm -f {flag}"}, "an answer"),
        (
            {"state": "if test -e {flag}.asked; then echo running; else touch {flag}.asked; echo paused; fi"},
            "its state command says running",
        ),
    ],
    ids=["an answer", "the state command"],
)
def test_a_pause_that_somebody_else_ends_is_a_problem(owned: Owned, commands: dict[str, str], seen: str) -> None:
    """A pause that a probe or the state command denies just before its end is a problem, and the broker is resumed."""

    def end_it(_: FaultRecord) -> None:
        if "state" not in commands:
            owned.brokers["mq-blue"].flag.unlink(missing_ok=True)

    with joined(owned, owned.described(5.0, **commands)) as cluster:
        outcome = run_fault(cluster, meanwhile=end_it)
    assert [str(problem) for problem in outcome.problems] == [
        f"expected mq-blue to stay paused until its resume; saw {seen}; try: let nobody else act on the servers, and run again"
    ]
    assert (outcome.records[0].heal_proven_ns, owned.brokers["mq-blue"].flag.exists()) == (None, False)


def test_a_state_command_may_agree(owned: Owned) -> None:
    """A pause that the state command confirms is proven."""
    reported = "test -e {flag} && echo paused || echo running"
    with joined(owned, owned.described(state=reported)) as cluster:
        assert not run_fault(cluster).problems


def test_a_pause_command_that_hangs_is_killed_at_its_deadline(owned: Owned, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause command that hangs is killed at its deadline and undone."""
    monkeypatch.setattr("rocketdiff.cluster.external.actions.run_command", run_command)
    hanging = owned.described(timeout_s=2.0, pause="touch {flag}; sleep 60")
    with joined(owned, hanging) as cluster:
        outcome = run_fault(cluster)
    assert re.search(r"no end after [0-9.]+ s, killed", str(outcome.problems[0]))
    assert not owned.brokers["mq-blue"].flag.exists()


def test_a_broker_that_cannot_be_resumed_is_shouted_about(
    owned: Owned, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed resume is reported with the command to execute manually; the next start retries it."""
    retry_at_once(monkeypatch)
    monkeypatch.setattr("rocketdiff.cluster.faults.proof.ANSWER_TIMEOUT_MS", 200)
    flag = owned.brokers["mq-blue"].flag
    broken = owned.described(resume="test -e {flag}.mended && rm {flag}")
    cluster = joined(owned, broken)
    cluster.pause("mq-blue")
    with pytest.raises(ClusterError) as raised:
        cluster.close()
    output = str(raised.value)
    assert "mq-blue" in output
    assert "IS STILL PAUSED: exit code 1" in output
    assert f"do it by hand: cd {owned.folder} && test -e {flag}.mended && rm {flag}" in output
    assert len(list(home.glob("*.ndjson"))) == 1
    with pytest.raises(ClusterError, match="as an earlier run found it"):
        joined(owned, broken)
    flag.with_name(f"{flag.name}.mended").touch()
    joined(owned, broken).close()
    assert not flag.exists()
    assert not owned.topics
    assert not list(home.iterdir())


def test_an_act_that_did_not_end_well_is_noted_until_it_is_undone(owned: Owned) -> None:
    """A failed action stays unfinished until it is undone."""
    with joined(owned, owned.described(timeout_s=0.3, kill="exit 1", restart="true ")) as cluster:
        cluster.pause("mq-red")
        with pytest.raises(ClusterError):
            cluster.kill("mq-blue")
        log = cluster._undo_log
        unfinished = {entry.key: log.unfinished_action(entry) is not None for entry in log.pending}
        assert {"resume mq-red": False, "restart mq-blue": True}.items() <= unfinished.items()


def test_a_verb_without_command_and_an_unknown_node_are_refused(owned: Owned) -> None:
    """A verb without a command, and an unknown node, are refused."""
    with joined(owned, owned.described(pause=None, resume=None)) as cluster:
        with pytest.raises(ClusterError, match=r"a pause command of mq-red in cluster\.yaml"):
            cluster.pause("mq-red")
        with pytest.raises(ClusterError, match="a kill command"):
            cluster.kill("mq-red")
        with pytest.raises(UsageError, match="name-server-1, mq-red, mq-blue"):
            cluster.pause("mq-green")


def test_a_restart_by_somebody_else_is_noticed(owned: Owned) -> None:
    """An external restart between two checks is detected, however short."""
    with joined(owned) as cluster:
        cluster.require_sound()
        owned.brokers["mq-blue"].booted = "2000"
        with pytest.raises(ClusterError, match="mq-blue not to be restarted externally"):
            cluster.require_sound()


def test_settings_are_kept_as_evidence_and_secrets_are_not(owned: Owned) -> None:
    """Settings without passwords are kept as evidence; logs are not read."""
    with joined(owned) as cluster:
        assert cluster.log_tail("mq-red") == ("logs of an external cluster are not read",)
        assert cluster.unread_bytes("mq-red") is None
    folder = owned.folder / "cluster"
    assert (folder / "mq-red" / "server.properties").read_text() == "adminPassword=(left out)\nbrokerName=mq-red\n"
    facts = json.loads((folder / "nodes.json").read_text())
    assert facts["nodes"]["mq-blue"]["release"] == "5.3.3"
    assert facts["nodes"]["mq-blue"]["faults_witnessed_by"] == "probe alone"


def test_an_unknown_broker_is_reported_with_the_known_ones(owned: Owned) -> None:
    """A broker unknown to the name server is reported with the known ones."""
    owned.name_server.brokers["mq-green"] = owned.name_server.brokers.pop("mq-blue")
    with pytest.raises(ClusterError, match=r"a master broker mq-blue .* saw mq-green, mq-red"):
        joined(owned)
    assert not owned.topics


def test_a_cluster_too_far_away_is_refused(owned: Owned, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distant cluster is refused: a slow answer would look like a pause."""
    monkeypatch.setattr("rocketdiff.cluster.external.inspect.SLOWEST_ANSWER_MS", 0.0)
    monkeypatch.setattr("rocketdiff.cluster.external.inspect._BETWEEN_TRIES_S", 0.0)
    with pytest.raises(EnvironmentMissing, match="run nearer"):
        joined(owned)


def test_a_second_run_on_the_same_cluster_is_refused(owned: Owned, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run on the same cluster is refused: their pauses would mix."""
    monkeypatch.setattr(connect, "_OTHERS_END_WITHIN_S", 0.1)
    with joined(owned), pytest.raises(ClusterError, match="no other run of yours on unit"):
        joined(owned)


def test_two_runs_that_start_at_once_see_each_other(owned: Owned, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two runs that start together, the second check finds the other, which had no log before."""
    monkeypatch.setattr(connect, "_NEWCOMERS_END_WITHIN_S", 0.1)
    monkeypatch.setattr(connect, "undo_killed_runs", lambda _: None)
    with joined(owned):
        with pytest.raises(ClusterError, match="no other run of yours on unit"):
            joined(owned)
        assert len(list(home.iterdir())) == 1


def test_a_run_that_dies_during_a_cleanup_is_waited_for(owned: Owned, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that dies during a cleanup is awaited, because its guardian has locked its log."""
    looks = iter([[], [LoggedRun("unit", owned.described().name_server_addresses, "runs/x")], []])
    monkeypatch.setattr(connect, "active_runs", lambda _: next(looks))
    connect.undo_killed_runs(owned.described())
    assert next(looks, None) is None


def test_slaves_are_not_ours_to_arrange(owned: Owned) -> None:
    """A topology with slaves or a missing broker is refused."""
    with pytest.raises(UsageError, match="cannot set up slaves"):
        joined(owned, topology="master-with-slave-sync")
    with pytest.raises(UsageError, match=r"no broker c in cluster\.yaml"):
        joined(owned, topology="three-masters")
