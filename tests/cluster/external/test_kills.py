"""Kills and restarts by the owner's commands."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.cluster.external.cleanup import clean
from rocketdiff.cluster.external.described import OwnersCommand, Verb
from rocketdiff.cluster.interface import Node, NodeState
from rocketdiff.core.errors import ClusterError, FaultNotProven
from rocketdiff.core.tables.fault import FaultKind
from tests.cluster.external.owned import Owned, joined, retry_at_once, run_fault


@pytest.fixture(autouse=True)
def _silence_is_proven_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketdiff.cluster.faults.proof.ANSWER_TIMEOUT_MS", 200)


def test_a_kill_and_a_restart_are_the_owners_commands(owned: Owned) -> None:
    """A restart by the owner's command is not an external restart."""
    with joined(owned, owned.described(timeout_s=0.3, kill="touch {flag}", restart="rm {flag} ")) as cluster:
        cluster.kill("mq-red")
        assert cluster.state("mq-red") is NodeState.GONE
        owned.brokers["mq-red"].booted = "2000"
        owned.brokers["mq-red"].figures_refused = 3  # a 5.x broker just after its start
        cluster.heal_all()
        assert cluster.state("mq-red") is NodeState.RUNNING
        cluster.require_sound()


def test_a_kill_lasts_until_connections_are_refused(owned: Owned, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill lasts until connections are refused: ``kill -9`` returns before the process ends."""

    def refused(node: Node) -> int:
        looks.append(node.name)
        if len(looks) < 4:
            raise FaultNotProven(f"{node.name} to refuse connections", seen="an answer")
        return time.monotonic_ns()

    looks: list[str] = []
    monkeypatch.setattr("rocketdiff.cluster.external.actions.prove_refusal", refused)
    with joined(owned, owned.described(kill="touch {flag}", restart="rm {flag} ")) as cluster:
        span = cluster.kill("mq-red")
        assert looks == ["mq-red"] * 4
        assert span.end_ns - span.begin_ns > 3 * 20_000_000, "three pauses of 20 ms between the looks"
        cluster.heal_all()


def test_a_paused_name_server_is_not_waited_for_when_a_broker_comes_back(
    owned: Owned, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker's restart does not wait for a paused name server."""
    monkeypatch.setattr("rocketdiff.cluster.external.cluster._SERVE_AGAIN_S", 0.3)
    described = owned.described(timeout_s=0.3, kill="touch {flag}", restart="rm -f {flag} ")
    commands = {Verb.PAUSE: OwnersCommand.of("true"), Verb.RESUME: OwnersCommand.of("true ")}
    described = replace(described, name_servers=(replace(described.name_servers[0], commands=commands),))
    with joined(owned, described) as cluster:
        cluster.kill("mq-red")
        owned.name_server.routes.clear()
        cluster.pause("name-server-1")
        cluster.restart("mq-red")
        cluster.kill("mq-red")
        with pytest.raises(ClusterError, match="name-server-1 to stay paused"):  # its commands do nothing
            cluster.resume("name-server-1")
        with pytest.raises(ClusterError, match="name-server-1 to have the route"):
            cluster.restart("mq-red")


def test_a_broker_that_came_back_by_itself_is_not_restarted_and_its_case_is_invalid(owned: Owned) -> None:
    """A broker that a supervisor restarted is not restarted again; only this case is invalid."""
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


def test_a_failed_restart_is_reported_and_its_undo_entry_stays(
    owned: Owned, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed restart makes the case invalid; its undo entry stays until it succeeds."""
    retry_at_once(monkeypatch)
    flag = owned.brokers["mq-blue"].flag
    broken = owned.described(
        0.5, kill="touch {flag}", restart="test -e {flag}.mended && rm {flag} || (echo full >&2; exit 3)"
    )
    cluster = joined(owned, broken)
    outcome = run_fault(cluster, FaultKind.KILL, 0.1)
    assert "the restart command of mq-blue to succeed; saw exit code 3: full" in str(outcome.problems[1])
    with pytest.raises(ClusterError, match=r"mq-blue \(\S+\) IS STILL DOWN: exit code 3: full; do it by hand: cd "):
        cluster.close()
    assert len(list(home.glob("*.ndjson"))) == 1
    flag.with_name(f"{flag.name}.mended").touch()
    reported: list[str] = []
    clean(reported.append)
    assert reported[0] == "cluster unit: restart mq-blue: done"
    assert not owned.topics
    assert not list(home.iterdir())


def test_a_kill_that_failed_leads_to_no_restart(owned: Owned) -> None:
    """A failed kill leads to no restart: the broker is healthy."""
    failing = owned.described(timeout_s=0.3, kill="exit 1", restart="touch {flag}.restarted")
    with joined(owned, failing) as cluster:
        outcome = run_fault(cluster, FaultKind.KILL, 0.1)
    assert [problem.expected for problem in outcome.problems] == [
        "the kill command of mq-blue to succeed",
        "mq-blue to stay down until its restart command",
    ]
    assert not owned.brokers["mq-blue"].flag.with_name("mq-blue.paused.restarted").exists()
