"""Options from a file: they are defaults of `run` and `compare`, and a wrong one is named."""

from pathlib import Path

import pytest

from rocketdiff.cli.app import guarded
from rocketdiff.cli.option_file import options_in
from rocketdiff.core.errors import ExitCode, UsageError

OWN = 'suite = "full"\nsubject = ["java:5.3.3", "java:5.1.4"]\nstrict = true\n'


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("rocketdiff.toml", OWN, "rocketdiff.toml"),
        ("pyproject.toml", "[tool.rocketdiff]\n" + OWN, "[tool.rocketdiff] of pyproject.toml"),
    ],
)
def test_both_files_give_defaults(tmp_path: Path, name: str, text: str, place: str) -> None:
    """Each command receives those that it has: `compare` names its subjects itself."""
    (tmp_path / name).write_text(text)
    found = options_in(tmp_path)
    assert found is not None
    assert found.place == place
    assert found.defaults()["run"] == {"suite": "full", "subject": ["java:5.3.3", "java:5.1.4"], "strict": True}
    assert found.defaults()["compare"] == {"suite": "full", "strict": True}


def test_a_folder_without_options(tmp_path: Path) -> None:
    """A project's file without the table states none; the own file comes first."""
    assert options_in(tmp_path) is None
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n")
    assert options_in(tmp_path) is None
    (tmp_path / "rocketdiff.toml").write_text("seed = 7\n")
    assert getattr(options_in(tmp_path), "values", None) == {"seed": 7}


@pytest.mark.parametrize(
    ("text", "expected", "hint"),
    [
        ('suit = "full"', "options of `rocketdiff run` in rocketdiff.toml", "suite"),
        ("dry-run = true", "options of `rocketdiff run`", "subject, suite"),
        ('seed = "7"', "a whole number for seed", ""),
        ("seed = true", "a whole number for seed", ""),
        ('subject = "java:5.3.3"', "a list, each a text for subject", ""),
        ("subject = [5]", "a list, each a text for subject", ""),
        ("strict = 1", "true or false for strict", ""),
        ("seed = ", "TOML in rocketdiff.toml", "correct it"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, expected: str, hint: str) -> None:
    """One sentence: expected, seen, try."""
    (tmp_path / "rocketdiff.toml").write_text(text)
    with pytest.raises(UsageError) as error:
        options_in(tmp_path)
    assert expected in str(error.value)
    assert hint in str(error.value)


def test_the_command_line_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is used is printed, and a value of the command line replaces the file's."""
    (tmp_path / "rocketdiff.toml").write_text('subject = ["java:5.3.3", "java:5.1.4"]\nsuite = "consumers"\n')
    monkeypatch.chdir(tmp_path)
    assert guarded(["run", "--dry-run", "--suite", "quick"]) == ExitCode.CONFORMS
    shown = capsys.readouterr()
    assert "options from rocketdiff.toml: subject, suite" in shown.err
    assert "java:5.3.3~java:5.1.4" in shown.out
    assert "consuming/kill-and-restart" not in shown.out
