"""A run on a cluster that is somebody else's: here one of ours stands in for it, with brokers of other names than ours."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.cluster.external import debts
from harness.cluster.external.named_topology import NamedTopology
from harness.cluster.external.survey import survey
from harness.cluster.interface import Cluster, nodes_of
from harness.cluster.processes.command_line import installed
from harness.cluster.processes.launch import start_processes
from harness.core.errors import ExitCode
from harness.external import read
from harness.traces.reader import read_table
from harness.traces.run_directory import RunDirectory
from harness.traces.schema import TableName
from reference_impl.remoting.channels import Channels
from reference_impl.remoting.codes import RequestCode
from reference_impl.remoting.frames import Command
from tests.whole.stage import SCENARIOS, await_no_process_of, await_run, finished_run, run_of, started_run

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PAIR = ("--subject", "java:5.3.3", "--subject", "python:5.3.3", "--seed", "3", "--master", "none")
LONG_PAUSE = (*PAIR, "--scenario", "whole/long-pause")
_STOPPED = "T"


@dataclass(frozen=True)
class StandIn:
    """A cluster, the file that describes it, and what it looks like from outside."""

    cluster: Cluster
    folder: Path

    def file(self, **instead: str) -> str:
        """As ``--cluster`` takes it; instead: other commands of both brokers."""
        commands = {
            "pause": "kill -STOP {pid}",
            "resume": "kill -CONT {pid}",
            "state": "ps -o stat= -p {pid}",
            **instead,
        }
        lines = ["format: 1", "name: stand-in", "topic_prefix: rocketdiff-test", "name_servers:"]
        lines += [f"  - address: {address}" for address in self.cluster.name_server_addresses]
        lines += ["brokers:"]
        for letter, node in zip("ab", self.cluster.brokers, strict=True):
            lines += [f"  {letter}:", f"    name: {node.name}"]
            lines += [f"    {verb}: {line.format(pid=node.pid)}" for verb, line in commands.items()]
        path = self.folder / f"cluster-{len(instead)}.yaml"
        path.write_text("\n".join(lines) + "\n")
        return f"external:{path}"

    def seen(self) -> dict[str, object]:
        """Topics, settings of brokers and what their processes do: what must be the same afterwards."""
        described = read(Path(self.file().partition(":")[2]))
        with Channels() as channels:
            address = self.cluster.name_server_addresses[0]
            answer = channels.invoke(address, Command(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER), 5_000)
            settings = {one.described.name: one.settings for one in survey(channels, described)}
        states = {node.name: self.state(node.name) for node in nodes_of(self.cluster)}
        return {"topics": sorted(answer.body.split(b'"')), "settings": settings, "states": states}

    def state(self, name: str) -> str:
        """R or S for one that runs, T for one that is stopped."""
        pid = next(node.pid for node in nodes_of(self.cluster) if node.name == name)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state if state == _STOPPED else "runs"


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    folder = tmp_path_factory.mktemp("theirs")
    shape = NamedTopology("two-masters", ("a", "b"), 1, given_names=("mq-red", "mq-blue"))
    with start_processes(shape, installed("5.3.3", None), folder / "cluster") as cluster:
        yield StandIn(cluster, folder)


def await_nothing_owed() -> None:
    """Until the guardian has paid; AssertionError after a minute."""
    deadline = time.monotonic() + 60
    while left := list(debts.home().glob("stand-in-*.ndjson")):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def test_a_run_judges_and_leaves_the_cluster_as_it_was(stand_in: StandIn, tmp_path: Path) -> None:
    """A verdict about both clients, pauses proven under the brokers' own names, and no topic left."""
    before = stand_in.seen()
    cluster = ("--cluster", stand_in.file(), "--scenarios", str(SCENARIOS))
    done = finished_run(tmp_path, "run", *PAIR, *cluster, "--scenario", "whole/several-pauses")
    assert done.returncode == ExitCode.CONFORMS, done.stdout + done.stderr
    run = run_of(tmp_path)
    faults = read_table(RunDirectory.open(run), TableName.FAULTS, 1).to_pylist()
    assert {fault["node"] for fault in faults} == {"mq-red", "mq-blue"}
    assert all(fault["proven_ns"] and fault["heal_proven_ns"] for fault in faults)
    assert "mq-blue paused at 1.5 s" in (run / "report.json").read_text()
    assert (run / "cluster" / "two-masters" / "commands.ndjson").read_text().count('"verb": "pause"') == 6
    assert stand_in.seen() == before
    assert not list(debts.home().glob("stand-in-*"))
    assert await_no_process_of(run) == {}


def test_a_pause_command_that_fails_makes_the_case_invalid_and_says_why(stand_in: StandIn, tmp_path: Path) -> None:
    """Never a verdict about clients under a fault that was not there."""
    before = stand_in.seen()
    file = stand_in.file(pause="echo connection refused by mq-1 >&2; exit 255")
    cluster = ("--cluster", file, "--scenarios", str(SCENARIOS))
    done = finished_run(tmp_path, "run", *PAIR, *cluster, "--scenario", "whole/several-pauses")
    assert done.returncode == ExitCode.INCONCLUSIVE, done.stdout + done.stderr
    report = (run_of(tmp_path) / "report.json").read_text()
    assert "exit code 255: connection refused by mq-1" in report
    assert stand_in.seen() == before


def test_ctrl_c_during_a_pause_resumes_and_cleans_up(stand_in: StandIn, tmp_path: Path) -> None:
    """Exit code 130, the broker runs, the topics are gone."""
    before = stand_in.seen()
    with started_run(tmp_path, *LONG_PAUSE, "--cluster", stand_in.file()) as runner:
        run = await_run(tmp_path, lambda _, run: (run / "journal" / "01-faults.ndjson").exists(), "a paused broker")
        assert stand_in.state("mq-blue") == _STOPPED
        os.kill(runner.pid, signal.SIGINT)
        assert runner.wait(timeout=60) == 130
    assert stand_in.seen() == before
    assert await_no_process_of(run) == {}
    assert not list(debts.home().glob("stand-in-*"))


def test_kill_9_during_a_pause_resumes_and_cleans_up(stand_in: StandIn, tmp_path: Path) -> None:
    """Without the runner: its guardian pays what is owed and ends."""
    before = stand_in.seen()
    with started_run(tmp_path, *LONG_PAUSE, "--cluster", stand_in.file()) as runner:
        run = await_run(tmp_path, lambda _, run: (run / "journal" / "01-faults.ndjson").exists(), "a paused broker")
        assert stand_in.state("mq-blue") == _STOPPED
        runner.kill()
        runner.wait()
    await_nothing_owed()
    assert stand_in.seen() == before
    assert await_no_process_of(run) == {}
