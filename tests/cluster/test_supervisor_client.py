"""No server survives the runner, a separate process here. Servers only sleep, but die as a JVM does."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import NodeState
from rocketdiff.cluster.processes.server import ServerProcess
from rocketdiff.cluster.processes.supervisor_client import SupervisorClient
from rocketdiff.core.errors import ClusterError, EnvironmentMissing
from tests.cluster.processes import await_gone
from tests.live import PATIENCE_S, await_that

ROOT = Path(__file__).parents[2]

# Ends by itself, so that a failed test leaves nothing for long.
SLEEPER = (
    sys.executable,
    "-I",
    "-S",
    "-c",
    "import threading, time; [threading.Thread(target=time.sleep, args=(60,)).start() for _ in range(5)]",
)

RUNNER = """
import os, signal, sys, time
from pathlib import Path
from rocketdiff.cluster.processes.server import ServerProcess
from rocketdiff.cluster.processes.supervisor_client import SupervisorClient
supervisor = SupervisorClient(Path(sys.argv[1]) / "supervisor.log")
home, store = Path(sys.argv[1]), Path(sys.argv[1]) / "store"
store.mkdir()
(store / "commitlog").touch()
servers = [supervisor.start(name, sys.argv[2:], home, {}, home / name, [store]) for name in "ab"]
supervisor.stop(servers[1].pid)
print(supervisor.pid, *(server.pid for server in servers), flush=True)
time.sleep(60)
"""


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[SupervisorClient]:
    supervisor = SupervisorClient(tmp_path / "supervisor.log")
    yield supervisor
    supervisor.close()


@contextlib.contextmanager
def runner_with_two_servers(folder: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A runner, its supervisor and two servers, the second stopped; yields their process ids."""
    command = [sys.executable, "-c", RUNNER, str(folder), *SLEEPER]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as runner:
        assert runner.stdout is not None
        yield runner, [int(word) for word in runner.stdout.readline().split()]
        runner.kill()


def test_kill_9_of_the_runner_leaves_no_server_and_no_store(tmp_path: Path) -> None:
    """After ``kill -9`` of the runner its supervisor kills every server, also a stopped one, removes the store and exits."""
    with runner_with_two_servers(tmp_path) as (runner, processes):
        assert (tmp_path / "store" / "commitlog").exists()
        runner.kill()
        await_gone(processes)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "supervisor.log"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_supervisor_that_ends_takes_its_servers_with_it(tmp_path: Path, number: signal.Signals) -> None:
    """After ``kill -9`` of the supervisor every server gets its parent-death signal; at SIGTERM it ends them."""
    with runner_with_two_servers(tmp_path) as (_, (supervisor, *servers)):
        handles = [os.pidfd_open(pid) for pid in servers]
        os.kill(supervisor, number)
        for handle in handles:
            # Ended is enough: the container's init may not reap orphans.
            assert select.select([handle], [], [], PATIENCE_S)[0]
            os.close(handle)


def test_the_supervisor_is_out_of_reach_of_ctrl_c(tmp_path: Path) -> None:
    """Supervisor and servers have their own sessions, so Ctrl-C does not reach them."""
    with runner_with_two_servers(tmp_path) as (runner, pids):
        sessions = [os.getsid(pid) for pid in (runner.pid, *pids)]
    assert len(set(sessions)) == 4


def test_a_server_is_stopped_as_a_whole_and_goes_on(supervisor: SupervisorClient, tmp_path: Path) -> None:
    """A server is stopped and continued as a whole, as /proc shows."""
    server = supervisor.start("a", SLEEPER, tmp_path, {}, tmp_path / "log")
    before_ns = time.monotonic_ns()
    span = supervisor.stop(server.pid)
    assert before_ns <= span.begin_ns <= span.end_ns <= time.monotonic_ns()
    assert server.state() is NodeState.PAUSED
    supervisor.go_on(server.pid)
    assert server.state() is NodeState.RUNNING
    server.release()


@pytest.mark.parametrize(
    "others",
    [
        (),
        (signal.SIGCONT,),
        (signal.SIGCONT, signal.SIGSTOP),
        (signal.SIGCONT, signal.SIGSTOP, signal.SIGCONT),
        (signal.SIGSTOP,),
    ],
    ids=lambda numbers: "-".join(number.name for number in numbers) or "none",
)
def test_a_server_that_another_process_continues_was_not_stopped_throughout(
    supervisor: SupervisorClient, tmp_path: Path, others: tuple[signal.Signals, ...]
) -> None:
    """A stopped server that somebody continues, even if it is stopped again at once, was not held; a second stop is none."""
    server = supervisor.start("a", SLEEPER, tmp_path, {}, tmp_path / "log")
    supervisor.stop(server.pid)
    for number in others:
        server.send(number)
        wanted = NodeState.RUNNING if number is signal.SIGCONT else NodeState.PAUSED
        await_that(partial(_has_state, server, wanted), f"the effect of {number.name}")
    _, was_held = supervisor.go_on(server.pid)
    assert (was_held, server.state()) == (signal.SIGCONT not in others, NodeState.RUNNING)
    supervisor.stop(server.pid)
    assert supervisor.go_on(server.pid)[1]
    server.release()


def _has_state(server: ServerProcess, wanted: NodeState) -> bool:
    return server.state() is wanted


def test_a_stop_of_a_server_that_another_process_has_stopped_is_refused(
    supervisor: SupervisorClient, tmp_path: Path
) -> None:
    """A server that somebody has stopped cannot be paused, because its outage began before; its resume continues it."""
    server = supervisor.start("a", SLEEPER, tmp_path, {}, tmp_path / "log")
    server.send(signal.SIGSTOP)
    await_that(lambda: server.state() is NodeState.PAUSED, "the stop")
    with pytest.raises(ClusterError, match="another process has stopped it"):
        supervisor.stop(server.pid)
    supervisor.go_on(server.pid)
    assert server.state() is NodeState.RUNNING
    server.release()


def test_a_servers_end_is_its_exit_status_or_signal(supervisor: SupervisorClient, tmp_path: Path) -> None:
    """A server's end is its exit status or its negative signal number."""
    server = supervisor.start("a", [sys.executable, "-c", "raise SystemExit(7)"], tmp_path, {}, tmp_path / "log")
    assert supervisor.await_exit(server.pid, PATIENCE_S) == 7
    assert server.state() is NodeState.GONE
    other = supervisor.start("b", SLEEPER, tmp_path, {}, tmp_path / "log")
    other.send(signal.SIGKILL)
    assert supervisor.await_exit(other.pid, PATIENCE_S) == -9
    server.release()
    other.release()


def test_a_server_that_has_ended_cannot_be_stopped_or_signalled(supervisor: SupervisorClient, tmp_path: Path) -> None:
    """A stop of an ended server is an error; a signal raises nothing, keeps its status and reaches no later process."""
    server = supervisor.start("a", [sys.executable, "-c", ""], tmp_path, {}, tmp_path / "log")
    ended = supervisor.await_exit(server.pid, PATIENCE_S)
    with pytest.raises(ClusterError, match="it has ended"):
        supervisor.stop(server.pid)
    server.send(signal.SIGKILL)
    assert (ended, server.state()) == (0, NodeState.GONE)
    server.release()


def test_a_program_that_is_not_there_is_one_clear_message(supervisor: SupervisorClient, tmp_path: Path) -> None:
    """A missing program is one environment error."""
    with pytest.raises(EnvironmentMissing, match="No such file"):
        supervisor.start("a", ["/no/such/java"], tmp_path, {}, tmp_path / "log")


def test_a_servers_output_is_in_one_log(supervisor: SupervisorClient, tmp_path: Path) -> None:
    """A server's stdout and stderr are in one log."""
    program = "import sys; print('out', flush=True); print('err', file=sys.stderr)"
    server = supervisor.start("a", [sys.executable, "-c", program], tmp_path, {}, tmp_path / "log")
    supervisor.await_exit(server.pid, PATIENCE_S)
    server.release()
    assert (tmp_path / "log").read_text() == "out\nerr\n"


def test_a_lost_supervisor_is_reported(tmp_path: Path) -> None:
    """A start after the supervisor's death is an error."""
    supervisor = SupervisorClient(tmp_path / "supervisor.log")
    os.kill(supervisor.pid, signal.SIGKILL)
    with pytest.raises(ClusterError, match="supervisor"):
        supervisor.start("a", SLEEPER, tmp_path, {}, tmp_path / "log")
    supervisor.close()
    supervisor.close()
