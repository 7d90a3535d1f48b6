"""Subjects of commits: what the hook and `make lint` refuse, and which commits belong to a change."""

import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / ".ci" / "commit_subjects.py"


@pytest.fixture(scope="module")
def faults_of() -> Callable[[str], Iterator[str]]:
    loaded: Callable[[str], Iterator[str]] = runpy.run_path(str(PROGRAM))["faults_of"]
    return loaded


@pytest.mark.parametrize(
    "subject",
    [
        "oracle: allow table updates between two reads of a choice",
        "Allow table updates between two reads of a choice",
        "tests, judging: pass faults to the oracle once",
        "core/arm.py: give Arm its own module",
        "report: need no browser",
        "relay: bring the switches together",
        "verdict: focus on the first cause",
        "oracle: " + "keep " * 12 + "four",
        "docs: answer 'why is my run invalid?'",
        'Revert "oracle: a subject that was accepted when nobody looked; it is quoted whole by git."',
        "Merge branch 'of a very long name that git itself writes, and which nobody has to make shorter'",
        "fixup! oracle: allow table updates",
    ],
)
def test_a_subject_is_accepted(faults_of: Callable[[str], Iterator[str]], subject: str) -> None:
    """Area or none, imperative, up to 72 characters; and what git writes itself."""
    assert list(faults_of(subject)) == []


@pytest.mark.parametrize(
    ("subject", "fault"),
    [
        ("oracle: " + "keep " * 12 + "fives", "73 characters, at most 72"),
        ("oracle: allow table updates; drop the copies", "a semicolon"),
        ("oracle: allow table updates.", "a full stop at the end"),
        ("A node goes down at its second look", "begins with 'A'"),
        ("What no test can tell is listed", "begins with 'What'"),
        ("One loop that waits for a condition in tests", "begins with 'One'"),
        ("No copy of the rules", "begins with 'No'"),
        ("oracle: allows table updates", "begins with 'allows'"),
        ("oracle: allowed table updates", "begins with 'allowed'"),
        ("oracle: allowing table updates", "begins with 'allowing'"),
        ("oracle: in a choice allow table updates", "begins with 'in'"),
        ("oracle: fix", "too short"),
        ("", "too short"),
    ],
)
def test_a_subject_is_refused(faults_of: Callable[[str], Iterator[str]], subject: str, fault: str) -> None:
    """Each rule refuses on its own and names its reason."""
    (found,) = faults_of(subject)
    assert found.startswith(fault)


class Repository:
    """A repository with the program, whose first commit has a subject that is refused."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / ".ci").mkdir(parents=True)
        shutil.copy(PROGRAM, folder / ".ci")
        shutil.copytree(ROOT / ".githooks", folder / ".githooks")
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit("Keep history.")

    def git(self, *command: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(shutil.which("git")), *command],
            cwd=self.folder,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    def commit(self, subject: str) -> int:
        return self.git("commit", "--quiet", "--allow-empty", "--message", subject).returncode

    def faults(self) -> list[str]:
        """The quoted subjects that the check of a change refuses."""
        ran = subprocess.run(
            [sys.executable, str(PROGRAM)],
            cwd=self.folder, env=environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        lines = ran.stderr.splitlines()
        assert ran.returncode == bool(lines)
        return [line.split("'")[1] for line in lines]


def environment() -> dict[str, str]:
    """No configuration but the author's name; the hooks of the surrounding commit do not reach the test's repository."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    config = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    people = {
        f"GIT_{role}_{kind}": "somebody@example.org" for role in ("AUTHOR", "COMMITTER") for kind in ("NAME", "EMAIL")
    }
    return {**known, **config, **people}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "checkout")


def test_the_commits_of_a_branch_are_checked_and_those_of_main_are_not(repository: Repository) -> None:
    """A change begins where its branch left the main one."""
    repository.git("switch", "--quiet", "--create", "change")
    repository.commit("Think again.")
    repository.commit("core: keep this")
    assert repository.faults() == ["Think again."]


def test_a_history_without_the_recorded_commit_is_checked_at_its_last_commit(repository: Repository) -> None:
    """A history that was rewritten may have any old subject."""
    assert repository.faults() == ["Keep history."]
    repository.commit("core: keep this")
    assert repository.faults() == []


def test_a_shallow_clone_is_checked_as_far_as_it_goes(repository: Repository, tmp_path: Path) -> None:
    """Missing history is no failure."""
    for subject in ("Add more.", "core: keep this"):
        repository.commit(subject)
    depth = {1: [], 2: ["Add more."]}
    for number, expected in depth.items():
        clone = tmp_path / f"clone-{number}"
        repository.git("clone", "--quiet", f"--depth={number}", f"file://{repository.folder}", str(clone))
        repository.folder, origin = clone, repository.folder
        assert repository.faults() == expected
        repository.folder = origin


def test_without_a_repository_there_is_nothing_to_check(repository: Repository) -> None:
    """An unpacked source distribution has no commits."""
    shutil.rmtree(repository.folder / ".git")
    assert repository.faults() == []


def test_the_hook_refuses_a_commit(repository: Repository) -> None:
    """With `make hooks`' setting git asks the same program, which ignores comments."""
    repository.git("config", "core.hooksPath", ".githooks")
    assert repository.commit("Think again.") == 1
    assert repository.commit("core: keep this\n\nWith a reason; and a second one.") == 0
    assert repository.git("log", "--format=%s").stdout.splitlines() == ["core: keep this", "Keep history."]


def test_pre_commit_downloads_nothing_and_runs_what_lint_runs() -> None:
    """All hooks are local programs; each is called by `make lint` too."""
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert repository["repo"] == "local"
    programs = [hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in repository["hooks"]]
    assert programs == ["ruff", "ruff", "mypy", "lint-imports", ".ci/commit_subjects.py"]
    assert {hook["language"] for hook in repository["hooks"]} == {"system"}
    makefile = (ROOT / "Makefile").read_text()
    assert all(program in makefile for program in programs)
