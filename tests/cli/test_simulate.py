"""`rocketdiff simulate`: output and exit codes."""

import io
import json
from pathlib import Path

import pytest

from rocketdiff.cli.app import guarded
from rocketdiff.core.errors import ExitCode

SCRIPT = {
    "format": 1,
    "route": {"a": 4, "b": 4},
    "start_index": 11,
    "steps": [{"do": "select"}, {"do": "send", "mode": "sync"}],
}
RETRIED = {
    "format": 1, "route": {"a": 4, "b": 4}, "start_index": 1,
    "steps": [{"do": "broker", "name": "a", "answers": "refused"}, {"do": "send", "mode": "sync", "count": 2}],
}  # fmt: skip
OLD, NEW = "python:4.7.1", "python:4.8.0"


@pytest.fixture
def script(tmp_path: Path) -> str:
    """A file with a script that all releases answer alike."""
    return written(tmp_path / "S.json", SCRIPT)


def written(path: Path, script: object) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(script))
    return str(path)


def simulate(*arguments: str) -> int:
    return guarded(["simulate", *arguments])


def test_one_subject_prints_its_answers(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One subject prints a JSON line for each step with an answer."""
    assert simulate("--subject", OLD, "--script", script) == ExitCode.CONFORMS
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["script"], line["step"]) for line in lines] == [("S", 0), ("S", 1)]


def test_a_trace_adds_the_state(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--trace` adds the state to every line."""
    assert simulate("--subject", OLD, "--script", script, "--trace") == ExitCode.CONFORMS
    assert all("state" in json.loads(line) for line in capsys.readouterr().out.splitlines())


def test_two_subjects_that_agree_end_with_0(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Two subjects that agree exit with 0 and print a line for each script."""
    assert simulate("--subject", OLD, "--subject", OLD, "--script", script) == ExitCode.CONFORMS
    assert capsys.readouterr().out == "S: no difference in 2 answers\n"


def test_two_subjects_that_differ_end_with_1(tmp_path: Path, script: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Two subjects that differ exit with 1 and print each script's first difference."""
    other = written(tmp_path / "R.json", RETRIED)
    arguments = ("--subject", OLD, "--subject", NEW, "--script", script, "--script", other, "--visible")
    assert simulate(*arguments) == ExitCode.DIVERGES
    out = capsys.readouterr().out
    assert "S: no difference" in out
    assert "R: differs in the queue at step 1, send 1 (send.attempts[0])" in out
    assert "select_plain: walk_past_last_broker" in out


def test_a_program_reads_differences_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` prints one object a script."""
    file = written(tmp_path / "R.json", RETRIED)
    assert simulate("--subject", OLD, "--subject", NEW, "--script", file, "--visible", "--json") == ExitCode.DIVERGES
    data = json.loads(capsys.readouterr().out)
    assert (data["script"], data["subjects"]) == ("R", [OLD, NEW])
    assert data["difference"]["compared"] == "queue"
    assert data["difference"]["step"] == 1
    assert data["difference"]["rules"]


def test_a_script_comes_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the file name - a script is read from standard input."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(SCRIPT).encode())))
    assert simulate("--subject", OLD, "--script", "-") == ExitCode.CONFORMS
    assert '"script": "stdin"' in capsys.readouterr().out


def test_files_of_one_name_are_distinguished_by_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scripts of one name are distinguished by as much of their paths as necessary."""
    files = [written(tmp_path / folder / "S.json", SCRIPT) for folder in ("x", "y")]
    assert simulate("--subject", OLD, "--script", files[0], "--script", files[1]) == ExitCode.CONFORMS
    names = {json.loads(line)["script"] for line in capsys.readouterr().out.splitlines()}
    assert names == {"x/S", "y/S"}


def test_a_scenario_is_simulated_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    """A scenario is simulated by its name and a seed."""
    arguments = ("--subject", "python:5.3.3", "--subject", "python:5.3.3", "--scenario", "round-robin/calm")
    assert simulate(*arguments, "--seed", "4") == ExitCode.CONFORMS
    assert "round-robin/calm: no difference in " in capsys.readouterr().out


def test_a_scenario_for_clusters_only_is_named_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    """A scenario that needs a cluster is named with the reason; nothing was compared."""
    arguments = ("--subject", OLD, "--subject", NEW, "--scenario", "name-server/pause-one-of-two")
    assert simulate(*arguments) == ExitCode.NOTHING_DECISIVE
    assert "name-server/pause-one-of-two: only on a cluster: one of 2 name servers" in capsys.readouterr().err


def test_another_depth_can_be_asked_for(tmp_path: Path) -> None:
    """Another depth can be chosen if it is deep enough for every step."""
    file = written(tmp_path / "C.json", {**SCRIPT, "steps": [{"do": "select"}]})
    assert simulate("--subject", OLD, "--script", file, "--depth", "send-loop") == ExitCode.CONFORMS


def test_a_script_that_is_none_is_named_with_its_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An invalid script is named with its file and step."""
    file = written(tmp_path / "bad.json", {**SCRIPT, "steps": [{"do": "select"}, {"do": "sned"}]})
    assert simulate("--subject", OLD, "--script", file) == ExitCode.USAGE
    assert "steps[1] (script bad); saw {'do': 'sned'}; try: write do: send" in capsys.readouterr().err


@pytest.mark.parametrize("steps", [[], [{"do": "update", "broker": "a", "latency_ms": 5, "isolation": False}]])
def test_two_subjects_without_an_answer_decide_nothing(
    steps: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """If no step has an answer that an application sees, nothing was compared, which is no agreement."""
    file = written(tmp_path / "N.json", {**SCRIPT, "steps": steps})
    assert simulate("--subject", OLD, "--subject", NEW, "--script", file, "--visible") == ExitCode.NOTHING_DECISIVE
    assert capsys.readouterr().out == "N: nothing was compared: no step of it has an answer\n"
