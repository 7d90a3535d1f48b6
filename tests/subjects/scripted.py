"""
A subject for tests that does exactly what its script says; run by path, standard library only.

The script is a JSON list of steps, the only argument:
["say", record] with "@now" standing for the clock · ["raw", text, times] · ["await", command type] · ["sleep", seconds] ·
["exit", status] · ["die", signal number] · ["complain", text on stderr] · ["close"] stdout · ["child"] leaves a sleeping child with the pipes.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any


def main() -> None:
    """Play the script, then wait for the end of stdin."""
    for step, *arguments in json.loads(sys.argv[1]):
        STEPS[step](*arguments)
    while sys.stdin.buffer.readline():
        pass


def say(record: dict[str, Any]) -> None:
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


def child() -> None:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


STEPS: dict[str, Callable[..., object]] = {
    "say": say,
    "raw": raw,
    "await": await_command,
    "sleep": time.sleep,
    "exit": os._exit,
    "die": lambda number: os.kill(os.getpid(), number),
    "complain": lambda text: os.write(2, text.encode()),
    "close": lambda: os.close(1),
    "child": child,
}

if __name__ == "__main__":
    main()
