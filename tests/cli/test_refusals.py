"""Some 250 invalid command lines are each refused in one sentence, with exit code 4 or 69, and nothing is started."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from rocketdiff.cli.app import app, guarded
from rocketdiff.core.errors import ExitCode
from rocketdiff.scenario import load_all

OLDER_RUN = Path(__file__).parents[1] / "older_run"


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, one in getattr(command, "commands", {}).items():
        yield from leaves(one, (*path, name))
    if not hasattr(command, "commands"):
        yield path, command


COMMAND = typer.main.get_command(app)
"""Made once: for hundreds of lines, making all commands takes longer than the refusals."""

COMMANDS = tuple(leaves(COMMAND))


def generated() -> Iterator[list[str]]:
    """Lines that a command refuses by its own list of arguments and options."""
    for words, command in COMMANDS:
        arguments = [one for one in command.params if one.param_type_name == "argument" and one.required]
        given = [*words, *("1" for _ in arguments)]
        yield [*given, "--no-such-option"]
        if arguments:
            yield list(words)
        if all(one.nargs == 1 for one in command.params if one.param_type_name == "argument"):
            yield [*given, "surplus"]
        for option in (one for one in command.params if one.param_type_name == "option"):
            name = max(option.opts, key=len)
            if option.is_flag:
                yield [*given, f"{name}=maybe"]
                continue
            yield [*given, name]
            if option.type_descriptor.annotation is int:
                yield from ([*given, name, value] for value in ("many", "1.5", "0x10", "", "٣٤x"))
                if option.min is not None:
                    yield [*given, name, str(option.min - 1)]


RUN = ("run", "--scenario", "round-robin/calm", "--dry-run")
TWO = (*RUN, "--subject", "java:5.3.3", "--subject")
WRITTEN: tuple[tuple[str, ...], ...] = (
    ("",),
    ("Run",),
    ("cluster", "sideways"),
    ("ledger", "burn"),
    *((*TWO, subject) for subject in ("", ":", "java:", ":5.3.3", "java:9.9.9", "java:../../x", "java:5.3.3;rm", "JAVA:5.3.3")),
    *((*TWO, subject) for subject in ("python:1.0", "toy:x", "cpp:9", "rust:1", "5.3", "jäva:5.3.3", "java:５.３.３", "\x1b[2J")),
    (*TWO, "python:5.3.3", "--subject", "java:4.7.1"),
    (*RUN, "--subject", "cpp:2.1.0", "--subject", "java:5.3.3"),
    (*RUN, "--subject", "cpp:2.1.0"),
    (*RUN, "--subject", "toy:sends-twice"),
    *(("run", "--dry-run", "--suite", suite) for suite in ("", "quik", "QUICK", "all,quick", "schnell-ü")),
    *(("run", "--dry-run", "--scenario", glob) for glob in ("", "no/such", "[", "round-robin", "../*", "日本/*")),
    ("run", "--dry-run", "--suite", "quick", "--scenario", "wire/*"),
    *(("run", "--dry-run", "--scenarios", where) for where in ("missing", "file.txt", "empty", "bad", "twice", "pipes", "ünï/missing")),
    *((*RUN, "--out", where) for where in ("a\nb", "a\x00b", "\udcff")),
    *((*RUN, "--server", release) for release in ("", "9.9.9", "java:5.3.3", "5.3", "5.3.3\n", "५.३.३", "latest")),
    *((*RUN, "--cluster", backend) for backend in ("", "clouds", "processes:x", "containers:mesh", "Processes", "external")),
    *((*RUN, "--cluster", f"external:{file}") for file in ("", "missing.yaml", "empty", "file.txt", "bad/bad.yaml", "latin-1.yaml", "ü.yaml")),
    *((*RUN, "--master", master) for master in ("", "bogus", "local[0]", "local[x]", "local[-1]", "spark://", "yarn please")),
    *((*RUN, "--inconclusive", word) for word in ("", "maybe", "FAIL")),
    *((*RUN, "--ledger", file) for file in ("missing.yaml", "empty", "file.txt", "bad/bad.yaml", "latin-1.yaml", "pipes/pipe.yaml", "ü.yaml")),
    *(("compare", "java:5.3.3", other) for other in ("", "9.9.9", "java:9.9.9", "rust:1", "java")),
    ("compare", "cpp:2.1.0", "java:5.3.3"),
    ("compare", "java:4.7.1", "java:5.3.3", "--scenario", "no/such", "--dry-run"),
    ("compare", "java:4.7.1", "java:5.3.3", "--bisect"),
    *(("analyze", run) for run in ("missing", "file.txt", "empty", "garbage", "", "ünï", "pipes/pipe.yaml")),
    ("analyze", "run", "missing"),
    ("analyze", "run", "--master", "bogus"),
    ("analyze", "run", "--inconclusive", "maybe"),
    ("analyze", "run", "--ledger", "missing.yaml"),
    ("analyze", "run", "--out", "file.txt"),
    ("analyze", "run", "--out", "file.txt/below"),
    ("analyze", "lost", "--master", "none", "--out", "new"),
    *(("report", run) for run in ("missing", "file.txt", "empty", "garbage", "", "latin-1.yaml", "ünï")),
    *(("explain", run, "baseline", "1") for run in ("missing", "file.txt", "empty", "garbage", "ünï")),
    ("explain", "run", "java:4.0.0", "1"),
    ("explain", "run", "left", "1"),
    ("explain", "run", "baseline", "one"),
    ("explain", "run", "baseline", "1", "--case", "9"),
    ("explain", "run", "baseline", "1", "--case", "no/such"),
    ("explain", "run", "baseline", "999999", "--case", "1"),
    ("explain", "run", "baseline", "--", "-1", "--case", "1"),
    *(("identify", run) for run in ("missing", "file.txt", "empty", "garbage", "", "ünï")),
    ("identify", "run", "--script", "script.json"),
    ("identify", "run", "--arm", "left"),
    ("identify", "run", "--subject", "java:4.0.0"),
    *(("subject", "attach", "--scenario", name) for name in ("nope", "consuming/pause-one-of-two", "async/swallowed-responses")),
    ("subject", "attach", "--port", "-1"),
    (*TWO, "attach:9877"),
    ("identify", "run", "--case", "no/such"),
    *(("bisect", "--script", file) for file in ("missing.json", "empty", "file.txt", "latin-1.yaml", "ü.json")),
    *(("bisect", "--scenario", name) for name in ("", "no/such", "round-robin/*")),
    ("bisect", "--script", "script.json", "--to", "5.3"),
    *(("changelog", before, "5.3.3") for before in ("9.9.9", "", "python:5.3.2", "cpp:2.1.0", "latest")),
    ("groups", "--markdown", "empty"),
    ("groups", "--markdown", "missing/groups.md"),
    *(("simulate", "--subject", subject, "--script", "script.json") for subject in ("java:9.9.9", "cpp:2.1.0", "toy:x", "")),
    *(("simulate", "--subject", "java:5.3.3", "--script", file) for file in ("missing.json", "empty", "file.txt", "ü.json")),
    ("simulate", "--subject", "java:5.3.3", "--script", "script.json", "--script", "script.json"),
    ("simulate", "--subject", "java:5.3.3", "--script", "script.json", "--depth", "bottom"),
    ("simulate", "--subject", "java:5.3.3", "--script", "script.json", "--visible"),
    ("simulate", "--subject", "4.7.1", "--subject", "4.8.0", "--subject", "5.3.3", "--script", "script.json"),
    ("simulate", "--subject", "4.7.1", "--subject", "5.3.3", "--script", "script.json", "--trace"),
    ("simulate", "--subject", "4.7.1", "--subject", "5.3.3", "--script", "script.json", "--out", "new"),
    *(("fuzz", "--release", release) for release in ("", "9.9.9", "5.3.3,9.9.9", ",", "alle")),
    *(("fuzz", "--decisions", count) for count in ("many", "-1", "1e12", "0.5", "nan", "inf", "")),
    *(("calibrate", option, value) for option, value in (("--server", "9.9.9"), ("--cluster", "clouds"), ("--out", "file.txt"))),
    ("calibrate", "--cluster", "external:missing.yaml"),
    *(("cluster", "up", "--topology", name) for name in ("", "moon", "Two-Masters", "ünï")),
    *(("cluster", "up", "--port", port) for port in ("0", "-1", "65536", "99999999999999999999")),
    *(("cluster", "up", option, value) for option, value in (("--server", "9.9.9"), ("--cluster", "clouds"), ("--cluster", "external:x"))),
    *((*before, "--security", file) for before in (("cluster", "up"), ("subject", "check", "java:5.3.3")) for file in ("missing.yaml", "bad/bad.yaml", "theirs.yaml")),
    ("cluster", "up", "--topology", "master-with-slave-sync", "--server", "4.9.7", "--security", "made.yaml"),
    ("cluster", "up", "--topology", "two-masters-proxy", "--security", "made.yaml"),
    ("subject", "check", "cpp:2.1.0", "--security", "made.yaml"),
    *(("scenarios", option, value) for option, value in (("--suite", "quik"), ("--scenarios", "missing"), ("--scenarios", "bad"))),
    *(("ledger", "lint", file) for file in ("missing.yaml", "empty", "file.txt", "bad/bad.yaml", "latin-1.yaml", "ü.yaml")),
    *(("ledger", "propose", "--from", run) for run in ("missing", "file.txt", "empty", "garbage")),
    ("ledger", "propose", "--from", "missing", "--out", "file.txt"),
    ("ledger", "prune", "missing.yaml", "--from", "missing"),
    ("ledger", "prune", "--from", "missing"),
)  # fmt: skip

OLD = ("simulate", "--subject", "python:4.7.1")
SCRIPT = ("--script", "script.json")
CALM = ("--scenario", "round-robin/calm")
NAMED: dict[tuple[str, ...], str] = {
    ("nothing",): "nothing",
    ("\x1b[2J",): "x1b[2J",
    ("run", "--subject", "java"): "client:release",
    ("run", "--subject", "java:9.9.9"): "java:9.9.9",
    ("run", "--subject", "rust:1.0.0"): "rust:1.0.0",
    ("run", "--subject", "org.example:x:1"): "'org.example:x:1'",
    ("run", "--suite", "nope"): "nope",
    ("run", "--scenario", "no/such"): "no/such",
    ("run", "--inconclusive", "maybe"): "maybe",
    ("run", "--cluster", "clouds"): "clouds",
    ("run", "--no-such-option"): "--no-such-option",
    ("run", "--out", "file.txt"): "file.txt",
    ("compare", "java:5.3.3"): "candidate",
    **{(command, "no-such-run"): "no-such-run" for command in ("analyze", "report")},
    **{(command, "x" * 100_000): "xxx" for command in ("analyze", "report", "identify")},
    ("explain", "no-such-run", "baseline", "1"): "no-such-run",
    ("explain", "lost", "baseline", "1", "--case", "1"): "expected all files of the complete case 1 in run ",
    ("bisect",): "--scenario",
    ("bisect", "--script", "no-such.json"): "no-such.json",
    ("bisect", *SCRIPT, "--scenario", "x"): "both",
    ("bisect", *SCRIPT, "--from", "4.9.9"): "4.9.9",
    ("bisect", *SCRIPT, "--subject-kind", "cpp"): "cpp",
    ("bisect", *SCRIPT, "--scenarios", "."): "--scenarios",
    ("bisect", "--scenario", "no/such"): "no/such",
    ("changelog", "4.9.8"): "TO",
    ("changelog", "4.9.8", "6.0.0"): "6.0.0",
    ("changelog", "4.9.8", "5.3.3", "--depth", "deep"): "deep",
    ("changelog", "4.9.8", "4.9.8"): "the same release",
    ("groups", "--depth", "deep"): "deep",
    ("groups", "--depth", "remoting", "--role", "consumer"): "--role producer",
    ("fuzz", "--role", "broker"): "producer, consumer or both",
    ("bisect", *SCRIPT, "--role", "consumer"): "about a producer",
    (*OLD, *SCRIPT, "--role", "consumer"): "--role producer",
    (*OLD, *CALM, "--role", "consumer"): "round-robin/calm, about a producer",
    ("identify", "5.3.3", "--arm", "candidate"): "--arm with a run directory",
    ("identify", "run", "--role", "consumer"): "patched.jar@5.3.3 --role consumer",
    ("identify", "no-such-run"): "a run directory at no-such-run",
    ("identify", "no-such-run", *SCRIPT): "No such option: --script",
    ("fuzz", "--release", "5.3.9"): "5.3.3",
    ("fuzz", "--release", ","): "--release 4.9.8,5.3.3",
    ("fuzz", "--depth", "deep"): "send-loop",
    **{("fuzz", "--decisions", count): "1e6" for count in ("many", "-1")},
    **{("fuzz", "--sends", count): "1e6" for count in ("1.5", "1e10")},
    ("fuzz", "--decisions", "0", "--sends", "0", "--allocations", "0", "--rounds", "0"): "1e5",
    ("fuzz", "--depth", "selection", "--decisions", "0"): "1e5",
    ("fuzz", "--save", "file.txt/found"): "a file",
    ("simulate", "--subject", "python"): "client:release",
    ("simulate", "--subject", "cpp:2.1.0"): "java:… or python:…",
    ("simulate", "--subject", "java:5.3.30"): "5.3.30",
    (*OLD, *OLD[1:], *OLD[1:]): "one or two subjects",
    (*OLD, "--script", "no-such.json"): "no-such.json",
    (*OLD, "--script", "."): "folder",
    (*OLD, "--script", "-", "--script", "-"): "standard input once",
    (*OLD, "--script", "S.json", "--script", "./S.json"): "more than once",
    (*OLD, *OLD[1:], "--trace"): "--trace with one subject",
    (*OLD, "--visible"): "--visible with two subjects",
    (*OLD, "--json"): "--json with two subjects",
    (*OLD, "--scenario", "no/such"): "no/such",
    (*OLD, "--suite", "nope"): "nope",
    (*OLD, *CALM, "--depth", "deep"): "remoting",
    (*OLD, *CALM, "--depth", "selection"): "needs send-loop",
    (*OLD, *CALM, "--seed", "-1"): "--seed",
}
"""Lines whose refusal repeats what is wrong, or names what would be right."""

LOADED = cache(load_all)
"""Reading a hundred scenarios takes half a second, which most lines would spend."""

LINES = [tuple(line) for line in (*generated(), *WRITTEN, *NAMED)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stored run, the same without its sends, and wrong files of every kind."""
    root = tmp_path_factory.mktemp("wrong")
    for name in ("empty", "bad", "twice", "pipes", "garbage"):
        (root / name).mkdir()
    (root / "file.txt").write_text("hello\n")
    (root / "latin-1.yaml").write_bytes("name: ünï\n".encode("latin-1"))
    (root / "bad" / "bad.yaml").write_text("format: 1\nname: [\n")
    scenario = Path(__file__).parents[2] / "fixtures" / "scenarios" / "round-robin" / "calm.yaml"
    for name in ("one.yaml", "two.yaml"):
        shutil.copy(scenario, root / "twice" / name)
    (root / "made.yaml").write_text("format: 1\naccount: made\ntls: made\n")
    (root / "theirs.yaml").write_text("format: 1\ntls: {any_certificate: true}\n")
    os.mkfifo(root / "pipes" / "pipe.yaml")
    for name in ("run.json", "report.json"):
        (root / "garbage" / name).write_bytes(b"\xff{")
    (root / "script.json").write_text('{"format": 1, "route": {"a": 4}, "steps": [{"do": "select"}]}')
    shutil.copytree(OLDER_RUN, root / "run")
    shutil.copytree(OLDER_RUN, root / "lost", ignore=shutil.ignore_patterns("sends"))
    return root


def test_there_are_hundreds_of_them() -> None:
    """There are at least 250 lines, and some for every command."""
    assert len(LINES) >= 250
    for words, _ in COMMANDS:
        assert sum(line[: len(words)] == words for line in LINES) >= 1 + (len(words) == 1)


@pytest.mark.parametrize("line", LINES, ids=lambda line: ascii(" ".join(line))[1:90])
def test_it_is_refused_in_one_sentence(
    line: tuple[str, ...], place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Invalid lines give exit code 4, or 69 for what the machine lacks, and one sentence; nothing is started or written."""

    def untouchable(*_: object, **__: object) -> None:
        raise AssertionError("something was started for a command line that cannot be meant")

    monkeypatch.chdir(place)
    monkeypatch.setattr(typer.main, "get_command", lambda _: COMMAND)
    monkeypatch.setattr(subprocess, "Popen", untouchable)
    monkeypatch.setattr(socket.socket, "connect", untouchable)
    for module in ("run.selection", "lab.scenario_scripts", "judging.ledgers"):
        monkeypatch.setattr(f"rocketdiff.{module}.load_all", LOADED)
    before = sorted(place.rglob("*"))
    assert guarded(list(line)) in (ExitCode.USAGE, ExitCode.ENVIRONMENT), capsys.readouterr().err
    output = capsys.readouterr()
    assert sorted(place.rglob("*")) == before
    if line[:2] == ("ledger", "lint") and not output.err:  # lint prints its findings
        assert output.out.startswith("error: ")
        return
    assert output.out == "" or output.out.startswith("VERDICT error ")  # a stored run that cannot be judged
    printed = [row for row in output.err.splitlines() if row.strip()]
    assert len(printed) == 1, output.err
    assert printed[0].startswith("rocketdiff: ")
    assert NAMED.get(line, "") in printed[0]
    assert "Traceback" not in printed[0]
    assert len(printed[0]) < 1_500
    assert printed[0].isprintable()
