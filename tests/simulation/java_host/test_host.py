"""The Java host as seen from Python, replaced by a toy."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import psutil
import pytest

from rocketdiff.core.errors import EnvironmentMissing, ExitCode, HarnessError, UsageError
from rocketdiff.simulation.java_host.host import HostProgram, JavaHost, Job
from rocketdiff.simulation.script import parse_script
from tests.subjects.processes import gone

TOY = Path(__file__).with_name("toy_host.py")
SCRIPT = parse_script({"format": 1, "route": {"a": 1}, "steps": [{"do": "select"}]}, "S")
BIG = parse_script({"format": 1, "route": {"a": 1}, "steps": [{"do": "select"}] * 2_000}, "BIG")
PROGRAM = HostProgram(
    command=lambda: (sys.executable, "-I", "-S", str(TOY)),
    class_path=lambda: "",
    release_class_path=lambda release: [Path(f"{release}.jar")],
)


def toy(silence_s: float = 30.0) -> JavaHost:
    return JavaHost(PROGRAM, silence_s=silence_s)


def test_the_lines_of_a_script_come_back_as_they_were_written() -> None:
    """All lines but the end line are returned."""
    with toy() as host:
        lines = host.run("5.3.3", "lines:2", SCRIPT)
    assert [json.loads(line)["step"] for line in lines] == [0, 1]


def test_a_class_path_is_sent_once_before_the_first_run() -> None:
    """A class path is sent once, before the release's first run."""
    with toy() as host:
        host.run("5.3.3", "told:", SCRIPT)
        (line,) = host.run("4.7.1", "told:", SCRIPT, trace=True)
    reported = json.loads(line)
    assert reported["releases"] == {"5.3.3": ["5.3.3.jar"], "4.7.1": ["4.7.1.jar"]}
    assert reported["run"] == {
        "type": "run",
        "id": 2,
        "release": "4.7.1",
        "name": "told:",
        "depth": "selection",
        "trace": True,
    }


def test_nothing_is_started_before_the_first_run() -> None:
    """Before the first run nothing starts, not even the command is built."""
    asked: list[str] = []

    def command() -> Sequence[str]:
        asked.append("command")
        return PROGRAM.command()

    with JavaHost(replace(PROGRAM, command=command)) as host:
        assert (asked, host._process) == ([], None)
        host.run("5.3.3", "lines:1", SCRIPT)
        assert asked == ["command"]


def test_many_large_scripts_and_answers_do_not_block_each_other() -> None:
    """Both pipes are full (16 MB in, 10 MB out) without a deadlock."""
    jobs = [Job("5.3.3", "lines:200", BIG) for _ in range(400)]
    with toy() as host:
        assert sum(len(lines) for _, lines in host.run_all(jobs)) == 80_000


def test_answers_come_while_scripts_are_still_being_made() -> None:
    """Answers to an endless supply of scripts arrive while it is generated, and the caller may stop at any point."""
    endless = (Job("5.3.3", f"lines:{number}", SCRIPT) for number in iter(int, 1))
    with toy() as host:
        assert len(list(islice(host.run_all(endless), 500))) == 500
        assert len(host.run("5.3.3", "lines:3", SCRIPT)) == 3


def test_a_run_may_be_asked_for_while_others_are_under_way() -> None:
    """A run may be requested between others, as shrinking does."""
    seen = []
    with toy() as host:
        for job, lines in host.run_all([Job("5.3.3", f"lines:{number}", SCRIPT) for number in range(5)]):
            seen.append((job.name, len(lines), len(host.run("5.3.3", "lines:7", SCRIPT))))
    assert seen == [(f"lines:{number}", number, 7) for number in range(5)]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("script", ExitCode.USAGE),
        ("endless", ExitCode.USAGE),
        ("untreated", ExitCode.INTERNAL),
        ("host", ExitCode.INTERNAL),
        ("news", ExitCode.INTERNAL),
    ],
)
def test_each_kind_of_error_is_one_message_that_names_the_script(kind: str, code: ExitCode) -> None:
    """Each error is one message with the script's name; the host goes on."""
    with toy() as host:
        with pytest.raises(HarnessError, match=f"script error:{kind} of java:5.3.3.*what is wrong: {kind}") as caught:
            host.run("5.3.3", f"error:{kind}", SCRIPT)
        assert caught.value.exit_code == code
        assert len(host.run("5.3.3", "lines:1", SCRIPT)) == 1


def test_errors_can_be_had_as_data() -> None:
    """``finish_all`` returns an error and runs the next script."""
    jobs = [Job("5.3.3", name, SCRIPT) for name in ("lines:1", "error:endless", "lines:2")]
    with toy() as host:
        finished = list(host.finish_all(jobs))
    assert [(len(one.lines), one.virtual_ms, one.error is None) for one in finished] == [
        (1, 5, True), (1, 0, False), (2, 5, True),
    ]  # fmt: skip


def test_a_silent_host_is_killed_and_its_script_named() -> None:
    """A silent host is killed, and its current script named."""
    with toy(silence_s=3.0) as host:
        with pytest.raises(HarnessError, match=r"script silent: of java:5\.3\.3; saw 3 s of silence"):
            list(host.run_all([Job("5.3.3", name, SCRIPT) for name in ("lines:1", "silent:", "lines:2")]))
        assert len(host.run("5.3.3", "lines:1", SCRIPT)) == 1


def test_a_host_that_the_machine_starves_is_waited_for() -> None:
    """A host without processor time is waited for: it needs over 4 s for 0.7 s of it."""
    with toy(silence_s=3.0) as host:
        assert host.run("5.3.3", "computes:0.7", SCRIPT) == []


def test_a_host_that_computes_for_ever_is_killed() -> None:
    """A host that computes forever is killed after as much CPU time as it may be silent."""
    with toy(silence_s=0.5) as host, pytest.raises(HarnessError, match=r"script computes:60 .*0\.5 s of silence"):
        host.run("5.3.3", "computes:60", SCRIPT)


def test_a_host_that_dies_is_named_with_its_last_words() -> None:
    """A dead host's last output is reported; the next run has a new host with the release."""
    with toy() as host:
        with pytest.raises(
            HarnessError, match=r"script dies: of java:5\.3\.3; saw it exited with status 3; .*Java heap space"
        ):
            host.run("5.3.3", "dies:", SCRIPT)
        (line,) = host.run("5.3.3", "told:", SCRIPT)
    assert json.loads(line)["releases"] == {"5.3.3": ["5.3.3.jar"]}


def test_an_answer_to_another_run_is_not_taken() -> None:
    """An end line of another run is refused."""
    with toy() as host, pytest.raises(HarnessError, match="the end of run -1 where 1 was due"):
        host.run("5.3.3", "wrong-end:", SCRIPT)


def test_a_release_that_does_not_exist_is_named_with_its_nearest() -> None:
    """An unknown release is refused with its nearest before anything is fetched."""
    with toy() as host, pytest.raises(UsageError, match=r"saw 5\.3\.33; try: 5\.3\.3 or"):
        host.run("5.3.33", "lines:1", SCRIPT)


def test_a_host_that_cannot_be_started_is_an_error_of_the_environment_or_its_last_words() -> None:
    """A missing program is an error with its path."""
    program = HostProgram(lambda: ("/nowhere/java",), lambda: "", lambda _: [])
    with (
        JavaHost(program) as host,
        pytest.raises((EnvironmentMissing, HarnessError), match="cannot start /nowhere/java"),
    ):
        host.run("5.3.3", "lines:1", SCRIPT)


def test_a_closed_host_at_work_is_killed() -> None:
    """A busy host is killed on close."""
    host = toy()
    results = host.run_all([Job("5.3.3", name, SCRIPT) for name in ("lines:1", "silent:")])
    next(results)
    assert host._process is not None
    at_work = host._process._process
    host.close()
    assert at_work.returncode == -signal.SIGKILL


def test_a_host_does_not_outlive_a_runner_that_is_killed() -> None:
    """A busy host ends when its runner is killed."""
    program = (
        "import sys; sys.path[:0] = sys.argv[1:3]\n"
        "import psutil, test_host as t\n"
        "host = t.toy()\n"
        "results = host.run_all([t.Job('5.3.3', n, t.SCRIPT) for n in ('lines:1', 'silent:')])\n"
        "next(results)\n"
        "print(host._process.pid, *(one.pid for one in psutil.Process(host._process.pid).children()), flush=True)\n"
        "next(results)\n"
    )
    runner = subprocess.Popen(
        [sys.executable, "-c", program, str(TOY.parent), str(TOY.parents[3])], stdout=subprocess.PIPE, text=True
    )
    assert runner.stdout is not None
    supervisor, host = map(int, runner.stdout.readline().split())
    assert psutil.pid_exists(host)
    runner.kill()
    runner.wait()
    runner.stdout.close()
    assert gone(host, within_s=30) and gone(supervisor, within_s=30)
