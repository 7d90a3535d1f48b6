"""A program's open connections, counted from outside; unknown is not zero."""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from rocketdiff.core.arm import BASELINE, CANDIDATE
from rocketdiff.run.case.open_connections import ConnectionWatch, Endpoint, held_by, open_sockets

CLIENT = """
import socket, sys, threading
to, mine = ("127.0.0.1", int(sys.argv[1])), []
def dial():
    mine.append(socket.create_connection(to))
def reconnect():
    mine.pop().close()
    dial()
def in_threads(count):
    threads = [threading.Thread(target=dial) for _ in range(count)]
    [one.start() for one in threads]
    [one.join() for one in threads]
print("ready", flush=True)
for line in sys.stdin:
    exec(line)
    print("done", flush=True)
"""
"""Executes one line of Python at a time."""

Do = Callable[[str], None]


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """The kernel accepts its connections."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        yield listening


@contextmanager
def client(listener: socket.socket) -> "Iterator[tuple[int, Do]]":
    """Process id and a function that sends it a line."""
    command = [sys.executable, "-c", CLIENT, str(listener.getsockname()[1])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        print_line, hear = started.stdin, started.stdout
        assert hear.readline() == "ready\n"

        def do(line: str) -> None:
            print_line.write(line + "\n")
            print_line.flush()
            assert hear.readline() == "done\n"

        yield started.pid, do
        print_line.close()


def endpoints(listener: socket.socket) -> dict[Endpoint, str]:
    return {("127.0.0.1", listener.getsockname()[1]): "broker-a"}


@pytest.mark.parametrize(
    ("work", "held"),
    [
        ("dial()", {"broker-a": 1}),
        ("for _ in range(7): dial()", {"broker-a": 7}),
        ("in_threads(4)", {"broker-a": 4}),
        ("pass", {}),
    ],
)
def test_open_connections_are_counted(listener: socket.socket, work: str, held: dict[str, int]) -> None:
    """Open connections are counted: one, one per send, one per thread, none."""
    with client(listener) as (pid, do), ConnectionWatch({CANDIDATE: (pid, endpoints(listener))}) as watch:
        do(work)
        watch.rest()
    at_rest = [one.held for one in watch.seen[CANDIDATE] if one.is_at_rest]
    assert at_rest == [held] * 3


def test_a_connection_made_anew_is_another_one(listener: socket.socket) -> None:
    """A reconnection counts as opened although one connection is held before and after."""
    with client(listener) as (pid, do):
        do("dial()")
        with ConnectionWatch({CANDIDATE: (pid, endpoints(listener))}) as watch:
            do("reconnect()")
            watch.rest()
    samples = watch.seen[CANDIDATE]
    assert [samples[0].held, samples[0].opened] == [{"broker-a": 1}, {"broker-a": 1}]
    assert samples[-1].held == {"broker-a": 1}
    assert sum(one.opened.get("broker-a", 0) for one in samples[1:]) == 1


def test_a_connection_closed_by_the_server_only_is_held(listener: socket.socket) -> None:
    """A connection in CLOSE_WAIT is held, because its client leaks it."""
    with client(listener) as (pid, do):
        do("dial()")
        accepted, _ = listener.accept()
        accepted.close()
        sockets = open_sockets()
        assert sockets is not None
        assert len(held_by(pid, sockets) or ()) == 1


def test_children_count_and_other_servers_do_not(listener: socket.socket) -> None:
    """Connections of child processes count, those to other servers do not."""
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CLIENT!r}, *sys.argv[1:]])"
    command = [sys.executable, "-c", parent, str(listener.getsockname()[1])]
    with (
        socket.create_server(("127.0.0.1", 0)) as other,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started,
    ):
        assert started.stdin is not None
        assert started.stdout is not None
        for line in ("dial()", f"to = ('127.0.0.1', {other.getsockname()[1]}); dial()"):
            print(line, file=started.stdin, flush=True)
        assert [started.stdout.readline() for _ in range(3)] == ["ready\n", "done\n", "done\n"]
        with ConnectionWatch({BASELINE: (started.pid, endpoints(listener))}) as watch:
            watch.rest()
        started.stdin.close()
    assert watch.seen[BASELINE][-1].held == {"broker-a": 1}


def test_a_process_that_is_gone_holds_an_unknown_number() -> None:
    """An ended process has an unknown count, not zero."""
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    with ConnectionWatch({CANDIDATE: (gone.pid, {})}) as watch:
        watch.rest()
    assert {one.held is None for one in watch.seen[CANDIDATE]} == {True}
