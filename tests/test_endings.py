"""Signals: one message and exit code 130, from the first import on, and however often they come."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import harness
from harness.endings import Interruption

PROGRAM = """
import os, sys, time
sys.argv = ["rocketdiff", "doctor"]
import harness.listing
def busy(**_):
    try:
        os.write(1, b"begun\\n")  # whole at once: a signal in the middle of print's flush would have it written again
        time.sleep(60)
    finally:
        time.sleep(0.5)
        print("stopped", flush=True)
harness.listing.print_findings = busy
from harness.__main__ import main
main()
"""


def started(*words: str) -> "subprocess.Popen[str]":
    """A Python of its own with these arguments, on this checkout."""
    return subprocess.Popen(
        ["/usr/bin/env", "--default-signal=INT,HUP", sys.executable, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(harness.__file__).parents[1])},
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_several_in_a_row_let_the_stopping_finish(number: signal.Signals) -> None:
    """Three of them: what was begun is stopped in good order, once, and the exit code is that of the first."""
    process = started("-c", PROGRAM)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    for _ in range(3):
        process.send_signal(number)
        time.sleep(0.05)
    said, errors = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "stopped\n")
    assert errors == "interrupted; everything that was started has been stopped\n"


def test_while_python_imports_the_program_leaves_at_once() -> None:
    """Nothing has been started yet, and there is no traceback of an import that was broken off."""
    program = "import harness.endings, harness.__main__ as m, os, signal, sys\n"
    program += "class Slow:\n def find_spec(self, name, *_):\n  if name == 'harness.cli': os.kill(os.getpid(), signal.SIGINT)\n"
    program += "sys.meta_path.insert(0, Slow())\nm.main()\n"
    process = started("-c", program)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors.count("\n")) == (130, 1)


def test_after_some_time_a_second_one_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Something that swallows the first must not make the program deaf."""
    now = [100.0]
    monkeypatch.setattr("harness.endings.time.monotonic", lambda: now[0])
    asked = Interruption()
    with pytest.raises(KeyboardInterrupt):
        asked(signal.SIGINT, None)
    asked(signal.SIGINT, None)
    now[0] += 10.0
    with pytest.raises(KeyboardInterrupt):
        asked(signal.SIGINT, None)
