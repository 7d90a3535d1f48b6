"""`make` on machines that lack something; a stand-in for Python installs nothing."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements.lock").read_text()
# Logs its calls; "makes" an environment by copying itself there; fails where a test requires it.
STAND_IN = """#!/bin/sh
echo "$*" >>{log}
case "$*" in
  *version_info*) exit {too_old} ;;
  *ensurepip*) exit {without_venv} ;;
  "-m venv .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python && cp "$0" .venv/bin/uv ;;
  *fetch_ahead) exit {fetch_fails} ;;
  "pip install "*) exit {uv_fails} ;;
  *"-r requirements.lock"*) exit {install_fails} ;;
esac
"""
LACKING = dict.fromkeys(("too_old", "without_venv", "install_fails", "uv_fails", "fetch_fails"), 0)


class Machine:
    """The Makefile and its inputs, and a PATH with a stand-in for Python."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "checkout"
        self.folder.mkdir()
        self._bin = folder / "bin"
        self._bin.mkdir()
        self._log = folder / "calls"
        for name in ("Makefile", "requirements.lock", "pyproject.toml"):
            shutil.copy(ROOT / name, self.folder)
        for name in ("sh", "awk", "rm", "mkdir", "cp", "touch", "cat", "env"):
            (self._bin / name).symlink_to(shutil.which(name) or f"/bin/{name}")

    def python(self, **lacking: int) -> None:
        """1 means that this Python lacks the thing."""
        for name in ("python3", "python"):
            script = self._bin / name
            script.write_text(STAND_IN.format(log=self._log, **LACKING | lacking))
            script.chmod(0o755)

    def make(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        make = shutil.which("make")
        assert make is not None
        environment = {"PATH": str(self._bin)}
        return subprocess.run(
            [make, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )

    def calls(self) -> list[str]:
        """Calls of Python without the version check."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return [line for line in lines if "-c import" not in line]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_make_alone_lists_the_targets(machine: Machine) -> None:
    """`make` alone lists the targets."""
    ran = machine.make()
    assert ran.returncode == 0
    for target in ("run", "test", "lint", "bench", "lock", "relock", "doctor", "clean"):
        assert f"make {target} " in ran.stdout


def test_without_a_python_there_is_one_clear_message(machine: Machine) -> None:
    """Without Python, `make setup` states what is needed and how to get it."""
    ran = machine.make("setup")
    assert ran.returncode != 0
    assert "rocketdiff needs Python 3.11 or later; seen: none" in ran.stderr
    assert "apt-get install python3 python3-venv" in ran.stderr


@pytest.mark.parametrize(
    ("lacking", "message"),
    [("too_old", "rocketdiff needs Python 3.11 or later"), ("without_venv", "lacks the venv module")],
)
def test_an_unfit_python_is_one_clear_message(machine: Machine, lacking: str, message: str) -> None:
    """`make setup` refuses an old Python, and one without venv, which Debian packages separately, and sets up nothing."""
    machine.python(**{lacking: 1})
    ran = machine.make("setup")
    assert ran.returncode != 0
    assert message in ran.stderr
    assert not (machine.folder / ".venv").exists()


@pytest.mark.parametrize("lacking", ["nothing", "fetch_fails"])
def test_set_up_installs_by_hash_and_then_the_project_without_a_network(machine: Machine, lacking: str) -> None:
    """
    `make setup` installs uv and with it the lock by hash, then the project without a network.

    The jars of the default run are fetched beside the largest package; if that fails, the run does it.
    """
    machine.python(**{lacking: 1})
    assert machine.make("setup").returncode == 0
    venv, uv, others, *beside, project = machine.calls()
    assert venv == "-m venv .venv"
    assert uv.endswith("--require-hashes -r .venv/installer.txt")
    assert (machine.folder / ".venv" / "installer.txt").read_text().count("==") == 1
    assert others.startswith("pip install") and others.endswith("--require-hashes -r .venv/others.txt")
    left_out = set(LOCK.splitlines()) - set((machine.folder / ".venv" / "others.txt").read_text().splitlines())
    assert [line.partition("==")[0] for line in sorted(left_out) if "==" in line] == ["pyspark"]
    fetching, requirements = sorted(beside)
    assert fetching == "-m rocketdiff.run.fetch_ahead"
    assert requirements.startswith("pip install") and requirements.endswith("--require-hashes -r requirements.lock")
    assert project.endswith("--no-index --no-deps --no-build-isolation --editable .")


def test_where_uv_fails_pip_installs_the_lock(machine: Machine) -> None:
    """`make setup` installs the whole lock by hash with pip, and fetches nothing ahead."""
    machine.python(uv_fails=1)
    assert machine.make("setup").returncode == 0
    requirements, project = machine.calls()[-2:]
    assert requirements.startswith("-m pip install") and requirements.endswith("--require-hashes -r requirements.lock")
    assert project.endswith("--editable .")
    assert not any("fetch_ahead" in call for call in machine.calls())


def test_only_a_changed_lock_is_installed_again(machine: Machine) -> None:
    """A second `make setup` does nothing, unless the lock is newer than the stamp."""
    machine.python()
    machine.make("setup")
    before = machine.calls()
    assert machine.make("setup").returncode == 0
    assert machine.calls() == before
    later = (machine.folder / ".venv" / ".ready").stat().st_mtime + 10
    os.utime(machine.folder / "requirements.lock", (later, later))
    machine.make("setup")
    assert len(machine.calls()) > len(before)


def test_an_installation_that_broke_off_is_taken_up_again(machine: Machine) -> None:
    """A failed installation leaves no stamp, so `make setup` repeats it."""
    machine.python(install_fails=1, uv_fails=1)
    assert machine.make("setup").returncode != 0
    assert not (machine.folder / ".venv" / ".ready").exists()
    machine.python()
    assert machine.make("setup").returncode == 0
    assert (machine.folder / ".venv" / ".ready").exists()


@pytest.mark.parametrize(("failing", "passes"), [("none", True), ("mypy", False), ("python", False)])
def test_tests_and_lint_both_have_to_pass(machine: Machine, failing: str, passes: bool) -> None:
    """`make test` fails if tests or lint fail, and prints lint's output last."""
    machine.python()
    assert machine.make("setup").returncode == 0
    for tool in ("ruff", "mypy", "lint-imports", "python"):
        program = machine.folder / ".venv" / "bin" / tool
        program.write_text(
            f'#!/bin/sh\ncase "$*" in *ledger*|*commit_subjects*) exit 0;; esac\necho "{tool} ran"\nexit {int(tool == failing)}\n'
        )
        program.chmod(0o755)
    ran = machine.make("test")
    assert (ran.returncode == 0) is passes
    first, *lint = ran.stdout.splitlines()
    assert first == "python ran"
    assert lint[:4] == (
        ["ruff ran", "ruff ran", "mypy ran", "lint-imports ran"] if failing == "mypy" else ["make lint: all clean"]
    )


def test_make_test_keeps_groups_together() -> None:
    """`make test` calls pytest with groups; without them each live test fails at its set-up."""
    assert "--dist loadgroup" in (ROOT / "Makefile").read_text()
