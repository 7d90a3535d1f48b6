"""Lines between runner and child, timeouts, and how the child ended."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.process.child import Child, last_line
from tests.subjects.processes import gone

DEADLINE_S = 30.0

Start = Callable[..., Child]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a Python program and closes it after the test."""
    with ExitStack() as stack:

        def started(program: str, **options: object) -> Child:
            command = [sys.executable, "-I", "-S", "-c", program]
            child = Child(command, stderr=tempfile.TemporaryFile(), environment=os.environ, **options)  # type: ignore[arg-type]  # noqa: SIM115 - it closes it
            stack.callback(child.close)
            return child

        yield started


def all_lines(child: Child) -> list[bytes]:
    """The child's lines until its output ends."""
    heard: list[bytes] = []
    try:
        while (lines := child.hear(DEADLINE_S)) is not None:
            heard += lines
    except EOFError:
        return heard
    raise AssertionError("the child fell silent")


def test_lines_are_put_together_from_pieces(start: Start) -> None:
    """Lines are joined from partial reads; an unfinished line is none."""
    child = start(
        "import sys, time; o = sys.stdout\nfor t in ('a\\nb', 'c\\n\\n', 'd'): o.write(t); o.flush(); time.sleep(0.1)"
    )
    assert all_lines(child) == [b"a", b"bc", b""]
    assert (child.unfinished_bytes, child.heard_bytes) == (1, 7)


def test_a_silent_child_is_none(start: Start) -> None:
    """A silent child gives None, not an empty list."""
    assert start("import time; time.sleep(60)").hear(0.05) is None


def test_queued_lines_are_written_while_answers_are_read(start: Start) -> None:
    """Queued lines are written while answers are read: 3 MB each way, more than the pipes."""
    child = start("import sys\nfor line in sys.stdin: sys.stdout.write(line)")
    for _ in range(300):
        child.queue(b"x" * 9_999)
    heard = 0
    while heard < 300:
        heard += len(child.hear(DEADLINE_S) or ())
    assert child.unsent_bytes == 0


def test_a_child_that_does_not_read_is_not_waited_for(start: Start) -> None:
    """A write over 64 KiB times out if the child does not read."""
    assert not start("import time; time.sleep(60)").write(b"x" * 1_000_000, timeout_s=0.1)


def test_a_write_to_an_ended_child_succeeds(start: Start) -> None:
    """A write to an ended child succeeds; its output reports the end."""
    child = start("")
    assert child.await_end(DEADLINE_S)
    assert child.write(b"x" * 1_000_000, timeout_s=DEADLINE_S)


@pytest.mark.parametrize(
    ("program", "how"),
    [
        ("raise SystemExit(7)", "it exited with status 7"),
        ("import os; os.kill(os.getpid(), 15)", "it was ended by SIGTERM"),
        ("import os, time; os.close(1); time.sleep(60)", "it closed its output but kept running"),
    ],
)
def test_a_childs_end_is_stated_in_words(start: Start, program: str, how: str) -> None:
    """A child's end is stated as exit status, signal, or output closed while running."""
    child = start(program)
    assert all_lines(child) == []
    assert child.how_it_ended(DEADLINE_S if "sleep" not in program else 0.2) == how


def test_the_last_words_are_the_last_line_on_stderr(start: Start) -> None:
    """The last words are stderr's last non-blank line."""
    child = start("import sys; sys.stderr.write('first\\nlast\\n\\n  \\n')")
    assert child.await_end(DEADLINE_S)
    assert (child.last_words(), child.stderr_bytes()) == ("last", 15)


def test_a_child_that_left_its_group_ends_with_the_others(start: Start) -> None:
    """A daemon, forked twice in its own session, ends with its child."""
    child = start(
        "import os, time\nif not os.fork():\n os.setsid()\n if os.fork(): os._exit(0)\n print(os.getpid(), flush=True)\ntime.sleep(60)"
    )
    daemon = int((child.hear(DEADLINE_S) or child.hear(DEADLINE_S) or [b"0"])[0])
    child.close()
    child.close()
    assert daemon and gone(daemon)


def test_a_folder_that_is_not_there_is_one_clear_message(start: Start) -> None:
    """A missing folder is one environment error."""
    with pytest.raises(EnvironmentMissing, match="to be able to start"):
        start("", folder=Path("/no/such/folder"))


@pytest.mark.parametrize(
    ("stack", "reason"),
    [
        (
            "Exception in thread main: outer\n\tat a.B.c(B.java:3)\nCaused by: java.lang.Error: inner\n\tat a.B.<init>(B.java:32)\n\tat java.base/x.Y.z(Native Method)\n\t... 12 more\n",
            "Caused by: java.lang.Error: inner",
        ),
        (
            "starting\npanic: runtime error: nil pointer\n[signal SIGSEGV]\n\ngoroutine 8 [running]:\nmain.f()\n\t/x/main.go:128 +0x1ef\n",
            "panic: runtime error: nil pointer",
        ),
        (
            "/x/main.js:1\nfail();\n^\n\nError: no such thing\n    at f (/x/main.js:1:21)\n    at node:internal/main/run:28:49\n\nNode.js v20.20.2\n",
            "Error: no such thing",
        ),
        (
            "Can't locate A.pm in @INC at x.pl line 2.\nBEGIN failed--compilation aborted at x.pl line 2.\n",
            "Can't locate A.pm in @INC at x.pl line 2.",
        ),
        (
            "syntax error at x.pl line 1, at EOF\nExecution of x.pl aborted due to compilation errors.\n",
            "syntax error at x.pl line 1, at EOF",
        ),
        (
            "x.rb:1:in `f': no such thing (RuntimeError)\n\tfrom x.rb:2:in `<main>'\n",
            "x.rb:1:in `f': no such thing (RuntimeError)",
        ),
    ],
    ids=["Java", "Go", "Node.js", "Perl, a module", "Perl, syntax", "Ruby"],
)
def test_the_last_words_are_the_reason_that_a_language_gives(tmp_path: Path, stack: str, reason: str) -> None:
    """The last words are Java's innermost cause, Go's panic, or an interpreter's error, not frames or version."""
    (tmp_path / "stderr").write_text(stack)
    with (tmp_path / "stderr").open("rb") as file:
        assert last_line(file) == reason
