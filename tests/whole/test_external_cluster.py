"""Runs on an external cluster: one of ours stands in, with other broker names."""

import json
import os
import shlex
import signal
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rocketdiff.cluster.external import undo_log
from rocketdiff.cluster.external.cluster_file import read
from rocketdiff.cluster.external.described import NamedTopology
from rocketdiff.cluster.external.inspect import inspect_brokers
from rocketdiff.cluster.interface import Cluster, nodes_of
from rocketdiff.cluster.launched.command_line import installed, java_command
from rocketdiff.cluster.processes.launch import start_processes
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.tables.topology import NodeKind
from rocketdiff.traces.reader import read_table
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.frames import Command
from tests.live import READY_S
from tests.whole.stage import (
    LIMIT_S,
    REFERENCES,
    SCENARIOS,
    await_no_process_of,
    await_run,
    finished_run,
    judge,
    processes_of,
    run_of,
    started_run,
)

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

REFERENCE_PAIR = ("--subject", "python:5.3.3", "--subject", "python:5.3.3", "--seed", "3", "--master", "none")
PLAYED = ("whole/short-group", "whole/three-pauses", "whole/owners-faults")
"""In the order in which they are played."""

SCENARIO_OPTIONS = tuple(word for name in PLAYED for word in ("--scenario", name))
LONG_PAUSE = (*REFERENCES, "--scenario", "whole/long-pause")
_STOPPED = "T"

_GET_ALL_SUBSCRIPTIONGROUP_CONFIG = 201
"""RequestCode of every release."""


PAUSES = {"pause": "kill -STOP $(cat {name}.pid)", "resume": "kill -CONT $(cat {name}.pid)"}
KILLS = {"kill": "kill -9 $(cat {name}.pid)", "restart": "sh start-{name}.sh"}
STATE = {"state": "ps -o stat= -p $(cat {name}.pid)"}

# Ends before the broker serves, as most start scripts do. The broker ends with the tests, however they end.
START = """\
setsid sh -c '{broker} & echo $! > {name}.pid
  while kill -0 {tests} && kill -0 $!; do sleep 1; done
  kill -9 $!' >> {name}.log 2>&1 </dev/null &
"""


@dataclass(frozen=True)
class StandIn:
    """
    A cluster, the file that describes it, and its state from outside.

    name: the prefix of the undo logs of its runs.
    """

    name: str
    cluster: Cluster
    folder: Path

    def file(self, timeout_s: float = 10, **instead: str | None) -> str:
        """The value of ``--cluster``. instead: other commands of both brokers; None removes a command."""
        lines = ["format: 1", f"name: {self.name}", "topic_prefix: rocketdiff-test"]
        lines += [f"command_timeout_s: {timeout_s}", "name_servers:"]
        for node in self.cluster.name_servers:
            lines += [f"  - address: {node.address}", *_commands(node.name, PAUSES | STATE)]
        lines += ["brokers:"]
        for letter, node in zip("ab", self.cluster.brokers, strict=True):
            lines += [f"  {letter}:", f"    name: {node.name}", *_commands(node.name, PAUSES | KILLS | STATE | instead)]
        path = self.folder / f"cluster-{'-'.join(['as-it-is', *instead])}.yaml"
        path.write_text("\n".join(lines) + "\n")
        return f"external:{path}"

    @property
    def undo_logs(self) -> list[Path]:
        return list(undo_log.logs_folder().glob(f"{self.name}-*"))

    def pid(self, name: str) -> int:
        return int((self.folder / f"{name}.pid").read_text())

    def seen(self) -> dict[str, object]:
        """Topics, groups, broker settings and process states, which must be the same after a run."""
        described = read(Path(self.file().partition(":")[2]))
        with Channels() as channels, pytest.MonkeyPatch.context() as patch:
            patch.setattr("rocketdiff.cluster.external.inspect.SLOWEST_ANSWER_MS", 10_000.0)  # on a busy machine too
            address = self.cluster.name_server_addresses[0]
            answer = channels.invoke(address, Command(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER), 5_000)
            groups = {node.name: self.groups(channels, node.address) for node in self.cluster.brokers}
            settings = {one.described.name: one.settings for one in inspect_brokers(channels, described)}
        states = {node.name: self.state(node.name) for node in nodes_of(self.cluster)}
        topics = sorted(answer.body.split(b'"'))
        return {"topics": topics, "groups": groups, "settings": settings, "states": states}

    def groups(self, channels: Channels, address: str) -> set[str]:
        answer = channels.invoke(address, Command(_GET_ALL_SUBSCRIPTIONGROUP_CONFIG), 5_000)
        return set(json.loads(answer.body)["subscriptionGroupTable"])

    def state(self, name: str) -> str:
        state = Path(f"/proc/{self.pid(name)}/stat").read_text().rpartition(")")[2].split()[0]
        return state if state == _STOPPED else "runs"


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    folder = tmp_path_factory.mktemp("theirs")
    shape = NamedTopology("two-masters-two-name-servers", ("a", "b"), 2, given_names=("mq-red", "mq-blue"))
    theirs = installed("5.3.3", None)
    with start_processes(shape, theirs, folder / "cluster", timeout_s=READY_S) as cluster:
        for node in nodes_of(cluster):
            (folder / f"{node.name}.pid").write_text(f"{node.pid}\n")
        for node in cluster.brokers:
            broker = shlex.join(java_command(theirs, NodeKind.BROKER, folder / "cluster" / node.name))
            text = START.format(broker=broker, name=node.name, tests=os.getpid())
            (folder / f"start-{node.name}.sh").write_text(text)
        stand_in = StandIn(f"stand-in-{uuid.uuid4().hex[:8]}", cluster, folder)
        yield stand_in
        for pid in processes_of(folder).keys() & restarted(stand_in):
            os.kill(pid, signal.SIGKILL)


def restarted(stand_in: StandIn) -> set[int]:
    """Brokers restarted by the owner's command, which the cluster does not end."""
    return {stand_in.pid(node.name) for node in stand_in.cluster.brokers if node.pid is None}


def _commands(name: str, lines: Mapping[str, str | None]) -> list[str]:
    return [f"    {verb}: {line.format(name=name)}" for verb, line in lines.items() if line is not None]


def faults_of(run: Path, case: int) -> list[dict[str, Any]]:
    """The faults of a case, each of them proven and undone."""
    faults = read_table(RunDirectory.open(run), TableName.FAULTS, case).to_pylist()
    assert all(fault["proven_ns"] and fault["heal_proven_ns"] for fault in faults)
    return faults


def commands_of(run: Path, topology: str) -> list[tuple[str, str, int]]:
    """Node, verb and exit code of each of the owner's commands of a topology that changes a node, in order."""
    log = (run / "cluster" / topology / "commands.ndjson").read_text().splitlines()
    ran = (line for line in map(json.loads, log) if line["verb"] != "state")
    return [(line["node"], line["verb"], line["exit_code"]) for line in ran]


def test_a_run_judges_and_leaves_the_cluster_as_it_was(stand_in: StandIn, tmp_path: Path) -> None:
    """
    Cases about producers, consumers and each kind of command conform; faults are proven and undone under the brokers' own names.

    Groups, their topics and their offsets are deleted. Of brokers no state command reports when a broker is gone, and the kill command
    returns before its process has ended.
    """
    before, former = stand_in.seen(), stand_in.pid("mq-blue")
    cluster = ("--cluster", stand_in.file(state=None), "--scenarios", str(SCENARIOS))
    done = finished_run(tmp_path, "run", *REFERENCE_PAIR, *cluster, *SCENARIO_OPTIONS)
    assert done.returncode == ExitCode.CONFORMS, done.stdout + done.stderr
    run = run_of(tmp_path)
    group, pauses, owners = (faults_of(run, case) for case in (1, 2, 3))
    assert read_table(RunDirectory.open(run), TableName.DELIVERIES, 1, Arm.CANDIDATE).num_rows
    assert {fault["node"] for fault in group} == {"mq-blue"}
    assert {fault["node"] for fault in pauses} == {"mq-red", "mq-blue"}
    assert {fault["node"] for fault in owners} == {"name-server-1", "mq-blue"}
    assert "mq-blue paused at 0.8 s" in (run / "report.json").read_text()
    assert [verb for _, verb, _ in commands_of(run, "two-masters")].count("pause") == 4
    ran = commands_of(run, "two-masters-two-name-servers")
    # In order for each node; a slow machine may kill the broker before the name server resumes.
    assert [one for one in ran if one[0] == "name-server-1"] == [
        ("name-server-1", "pause", 0),
        ("name-server-1", "resume", 0),
    ]
    assert [one for one in ran if one[0] == "mq-blue"] == [("mq-blue", "kill", 0), ("mq-blue", "restart", 0)]
    assert len(ran) == 4
    assert stand_in.pid("mq-blue") != former
    assert stand_in.seen() == before
    assert not stand_in.undo_logs
    assert await_no_process_of(run) == {}


def test_ctrl_c_during_a_pause_resumes_and_cleans_up(stand_in: StandIn, tmp_path: Path) -> None:
    """
    Ctrl-C during a pause exits with 130 and one message, resumes the broker and deletes the topics; the case is inconclusive.

    tests/cli/test_endings.py covers other signals, tests/cluster/external/test_undo_log.py kill -9.
    """
    before = stand_in.seen()
    with started_run(tmp_path, *LONG_PAUSE, "--cluster", stand_in.file()) as runner:
        run = await_run(tmp_path, lambda _, run: (run / "journal" / "01-faults.ndjson").exists(), "a paused broker")
        assert stand_in.state("mq-blue") == _STOPPED
        assert len(stand_in.undo_logs) == 1
        os.kill(runner.pid, signal.SIGINT)
        assert runner.wait(timeout=LIMIT_S) == 130
    assert stand_in.seen() == before
    assert await_no_process_of(run) == {}
    assert not stand_in.undo_logs
    output = (tmp_path / "stderr").read_text()
    assert "interrupted" in output
    assert "Traceback" not in output
    assert judge(run).exit_code is ExitCode.INCONCLUSIVE
