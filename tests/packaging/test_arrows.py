"""The import rules of pyproject.toml between packages."""

import re
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


PLANTED = {
    "rocketdiff/core/planted.py": "import rocketdiff.traces.schema",
    "rocketdiff/verdict/planted.py": "import rocketdiff.analysis.facts",
    "rocketdiff/planted/__init__.py": "",
    "rocketdiff/report/planted.py": "import pyspark",
    "rocketdiff/cluster/planted.py": "import docker",
    "rocketmq_reference/rules/planted.py": "import rocketmq_reference.remoting",
}
"""Forbidden imports by their file, and a package without a place."""

NOTICED = {
    "rooms, from the front doors down": {
        "rocketdiff.core.planted -> rocketdiff.traces.schema",
        "rocketdiff.verdict.planted -> rocketdiff.analysis.facts",
        "rocketdiff.planted",
    },
    "what decides reads evidence, never traces": {"rocketdiff.verdict.planted -> rocketdiff.analysis.facts"},
    "no circle of rooms": {".core -> .traces"},
    "Spark is used in two packages": {"rocketdiff.report.planted -> pyspark"},
    "the engine's client is used in one room": {"rocketdiff.cluster.planted -> docker"},
    "the reference, from its API down": {"rocketmq_reference.rules.planted -> rocketmq_reference.remoting"},
}
"""Each broken contract, and the items of its list."""


@pytest.mark.slow
def test_a_wrong_arrow_is_noticed(copied: Path) -> None:
    """Each forbidden import, and a package without a place, breaks its contracts by name, and no other contract breaks."""
    for file, line in PLANTED.items():
        (copied / file).parent.mkdir(exist_ok=True)
        (copied / file).write_text(f"{line}\n")
    ran = linted(copied)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    _, *parts = re.split(r"\n\n(.+)\n-+\n", ran.stdout.partition("Broken contracts")[2])
    listed = {
        name: set(re.findall(r"^- +(.*?)(?: \(.*)?$", text, re.MULTILINE))
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }
    assert listed == NOTICED
