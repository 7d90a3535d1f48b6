"""The import rules of pyproject.toml between packages."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"rocketdiff": "harness", "rocketmq_reference": "reference_impl"}


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the packages and contracts, to be changed."""
    for name, folder in PACKAGES.items():
        shutil.copytree(ROOT / folder / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def linted(folder: Path) -> "subprocess.CompletedProcess[str]":
    """The copy comes first on the path, before the checkout."""
    program = (
        "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports_command; lint_imports_command()"
    )
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("rocketdiff/core/planted.py", "import rocketdiff.traces.schema", "rooms, from the front doors down"),
        ("rocketdiff/verdict/planted.py", "import rocketdiff.analysis.facts", "rooms, from the front doors down"),
        ("rocketdiff/planted/__init__.py", "", "rooms, from the front doors down"),
        ("rocketdiff/report/planted.py", "import pyspark", "Spark is used in two packages"),
        ("rocketdiff/cluster/planted.py", "import docker", "the engine's client is used in one room"),
        (
            "rocketmq_reference/rules/planted.py",
            "import rocketmq_reference.remoting",
            "the reference, from its API down",
        ),
    ],
)
def test_a_wrong_arrow_is_noticed(copied: Path, file: str, line: str, contract: str) -> None:
    """A forbidden import, or a package without a place, breaks its contract by name."""
    planted = copied / file
    planted.parent.mkdir(exist_ok=True)
    planted.write_text(f"{line}\n")
    ran = linted(copied)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert f"{contract} BROKEN" in ran.stdout
