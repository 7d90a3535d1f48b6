"""
A subject that executes its script; run by path, standard library only.

The only argument is a JSON list of steps: ["say", record], "@now" is the clock · ["raw", text, times] · ["await", command type] ·
["sleep", seconds] · ["await-stop"] until this process has been stopped for a second · ["connect", port] · ["exit", status] · ["die", signal number] · ["complain", text on stderr, times] · ["close"] stdout · ["echo"]
the next command on stdout and stderr · ["child"] leaves a sleeping child with the pipes · ["daemon", file] leaves one in its own
session, without pipes, process id in the file · ["routes", times, bytes], valid except for their size.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def main() -> None:
    """Execute the script, then wait for the end of stdin."""
    for step, *arguments in json.loads(sys.argv[1]):
        STEPS[step](*arguments)
    while sys.stdin.buffer.readline():
        pass


def write_record(record: dict[str, Any]) -> None:
    now = time.monotonic_ns()
    filled = {name: now if value == "@now" else value for name, value in record.items()}
    raw(json.dumps(filled) + "\n")


def raw(text: str, times: int = 1) -> None:
    rest = memoryview(text.encode() * times)
    while rest:
        rest = rest[os.write(1, rest) :]


def await_command(kind: str) -> None:
    while line := sys.stdin.buffer.readline():
        if json.loads(line)["type"] == kind:
            return


def await_stop() -> None:
    before = time.monotonic()
    while (now := time.monotonic()) - before < 1:
        before = now
        time.sleep(0.01)


def echo() -> None:
    line = sys.stdin.buffer.readline()
    os.write(2, line)
    write_record({"type": "failed", "stage": "setup", "message": line.decode()})


def child() -> None:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


def connect(port: int) -> None:
    """Open a connection to this machine, which lasts as long as the process."""
    held.append(socket.create_connection(("127.0.0.1", port)))


held: list[socket.socket] = []


def routes(times: int, size: int) -> None:
    for number in range(1, times + 1):
        write_record({"type": "route", "route": number, "at_ns": "@now", "queues": [], "extra": "y" * size})


def daemon(file: str) -> None:
    if os.fork():
        os.wait()
        return
    os.setsid()
    if child := os.fork():
        Path(file + ".part").write_text(str(child))
        Path(file + ".part").rename(file)
        os._exit(0)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    time.sleep(60)


STEPS: dict[str, Callable[..., object]] = {
    "say": write_record,
    "raw": raw,
    "await": await_command,
    "sleep": time.sleep,
    "await-stop": await_stop,
    "exit": os._exit,
    "die": lambda number: os.kill(os.getpid(), number),
    "complain": lambda text, times=1: [os.write(2, text.encode()) for _ in range(times)],
    "close": lambda: os.close(1),
    "echo": echo,
    "child": child,
    "daemon": daemon,
    "connect": connect,
    "routes": routes,
}

if __name__ == "__main__":
    main()
