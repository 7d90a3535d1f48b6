"""Signals give one message and exit code 130, from the first import on and however often they come."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rocketdiff.cli.endings import Interruption
from rocketdiff.core.resources import import_path

IN_THE_BACKGROUND = """
import os, signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
from rocketdiff.cli.endings import Interruption, heed_ctrl_c, on_signals
on_signals(Interruption())
heed_ctrl_c()
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
except KeyboardInterrupt:
    os.write(1, b"heard\\n")
    os._exit(0)
"""

PROGRAM = """
import os, sys, time
sys.argv = ["rocketdiff", "doctor"]
import rocketdiff.cli.commands.listing
def busy(**_):
    try:
        os.write(1, b"begun\\n")  # whole at once: a signal in the middle of print's flush would have it written again
        time.sleep(60)
    finally:
        time.sleep(0.5)
        print("stopped", flush=True)
rocketdiff.cli.commands.listing.print_findings = busy
from rocketdiff.__main__ import main
main()
"""


def started(*words: str, cwd: Path | None = None) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        ["/usr/bin/env", "--default-signal=INT,HUP", sys.executable, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": import_path()},
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_several_in_a_row_let_the_stopping_finish(number: signal.Signals) -> None:
    """Several signals stop what was begun only once, and the exit code is 130."""
    process = started("-c", PROGRAM)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    for _ in range(3):
        process.send_signal(number)
        time.sleep(0.05)
    output, errors = process.communicate(timeout=300)
    assert (process.returncode, output) == (130, "stopped\n")
    assert errors == "interrupted; everything that was started has been stopped\n"


def test_while_python_imports_the_program_leaves_at_once() -> None:
    """A signal during imports ends the program without a traceback."""
    program = "import rocketdiff.cli.endings, rocketdiff.__main__ as m, os, signal, sys\n"
    program += "class Slow:\n def find_spec(self, name, *_):\n  if name == 'rocketdiff.cli.app': os.kill(os.getpid(), signal.SIGINT)\n"
    program += "sys.meta_path.insert(0, Slow())\nm.main()\n"
    process = started("-c", program)
    _, errors = process.communicate(timeout=300)
    assert (process.returncode, errors.count("\n")) == (130, 1)


def test_one_that_python_drops_is_raised_anew(tmp_path: Path) -> None:
    """An interruption that Python drops or code swallows is raised again."""
    swallowing = """
import rocketdiff.cli.endings
rocketdiff.cli.endings.LOST_AFTER_S = 2.0  # a busy machine may hold up what handles an interruption for longer than 0.3 s
class Dropped:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        sum(range(10))
def busy(**_):
    print("begun", flush=True)
    Dropped()
    try:
        time.sleep(60)
    except BaseException as error:
        sys.excepthook(type(error), error, None)
        print("swallowed", flush=True)
    exec("time.sleep(60)")
"""
    program = PROGRAM.replace("import os, sys", "import os, signal, sys")
    begin, end = program.index("def busy"), program.index("rocketdiff.cli.commands.listing.print_findings")
    (tmp_path / "dropping.py").write_text(program[:begin] + swallowing + program[end:])
    process = started("-m", "dropping", cwd=tmp_path)  # run as a file or with -c, Python would forget the exec
    output, errors = process.communicate(timeout=300)
    assert (process.returncode, output) == (130, "begun\nswallowed\n")
    assert errors == "interrupted; everything that was started has been stopped\n"


def test_an_interrupted_import_is_no_internal_error() -> None:
    """An ImportError that a C library makes of an interruption is not reported as an internal error."""
    failing = """
    os.kill(os.getpid(), signal.SIGINT)
def busy(**_):
    try:
        interrupt()
    except KeyboardInterrupt:
        pass
    raise ImportError("initialization failed")
"""
    program = PROGRAM.replace("import os, sys", "import os, signal, sys")
    begin, end = program.index("def busy"), program.index("rocketdiff.cli.commands.listing.print_findings")
    process = started("-c", program[:begin] + "def interrupt():" + failing + program[end:])
    _, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (130, "interrupted; everything that was started has been stopped\n")


def test_the_exception_on_its_way_is_not_raised_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """While an interruption is handled, a signal raises no second one; before and after that it does."""
    monkeypatch.setattr("rocketdiff.cli.endings.signal.setitimer", lambda *_: None)
    asked = Interruption()
    try:
        with pytest.raises(KeyboardInterrupt):
            asked(signal.SIGINT, None)
        with pytest.raises(KeyboardInterrupt):
            asked(signal.SIGINT, None)
        with pytest.raises(ValueError, match="while it was stopped") as reported:
            _stopping(asked)
        assert isinstance(reported.value.__context__, KeyboardInterrupt)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        sys.unraisablehook, sys.excepthook = sys.__unraisablehook__, sys.__excepthook__


def _stopping(asked: Interruption) -> None:
    try:
        asked(signal.SIGINT, None)
    finally:
        asked(signal.SIGINT, None)
        try:
            raise ValueError("while it was stopped")
        finally:
            asked(signal.SIGINT, None)


def test_after_some_time_another_one_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 10 s another signal counts, because something may refuse to stop."""
    now = [100.0]
    monkeypatch.setattr("rocketdiff.cli.endings.time.monotonic", lambda: now[0])
    monkeypatch.setattr("rocketdiff.cli.endings.signal.setitimer", lambda *_: None)
    monkeypatch.setattr("rocketdiff.cli.endings.signal.signal", lambda *_: None)
    monkeypatch.setattr("sys.unraisablehook", sys.unraisablehook)
    monkeypatch.setattr("sys.excepthook", sys.excepthook)
    asked = Interruption()
    try:
        asked(signal.SIGINT, None)
    except KeyboardInterrupt:
        now[0] += 9.9
        asked(signal.SIGINT, None)
        now[0] += 0.1
        with pytest.raises(KeyboardInterrupt):
            asked(signal.SIGINT, None)


def test_a_command_that_ends_with_ctrl_c_hears_it_in_the_background_of_a_script_too() -> None:
    """A command that ends by Ctrl-C handles SIGINT also in a script's background job, which ignores it otherwise."""
    reported, _ = started("-c", IN_THE_BACKGROUND).communicate(timeout=300)
    assert reported == "heard\n"
