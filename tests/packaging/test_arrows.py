"""The import arrows between the rooms, as import-linter is told them in pyproject.toml."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# What a room may import of ours. A new room gets its row here and its contract there.
MAY_IMPORT = {
    "harness.core": (),
    "harness.scenario": ("harness.core",),
    "harness.releases": ("harness.core",),
    "harness.cluster": ("harness.core", "harness.releases", "reference_impl.remoting"),
    "harness.relay": ("harness.core", "reference_impl.remoting"),
    "harness.subjects": ("harness.core", "harness.releases"),
    "harness.traces": ("harness.core",),
    "harness.oracle": ("harness.core", "reference_impl.rules", "reference_impl.dialects"),
    "harness.analysis": ("harness.core", "harness.traces", "harness.oracle"),
    "harness.simulation": (
        "harness.core",
        "harness.releases",
        "harness.oracle",
        "reference_impl.rules",
        "reference_impl.dialects",
        "reference_impl.remoting",
    ),
    "harness.verdict": ("harness.core",),
    "harness.report": ("harness.core", "harness.verdict"),
    "reference_impl.rules": (),
    "reference_impl.dialects": ("reference_impl.rules",),
    "reference_impl.remoting": (),
    "reference_impl.producer": ("reference_impl.rules", "reference_impl.dialects", "reference_impl.remoting"),
}


def contracts() -> dict[str, set[str]]:
    """What each contract about a single room forbids."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    single = [contract for contract in told if len(contract["source_modules"]) == 1]
    return {contract["source_modules"][0]: set(contract["forbidden_modules"]) for contract in single}


def rooms_of(package: str) -> set[str]:
    """The sub-packages that exist."""
    return {f"{package}.{init.parent.name}" for init in (ROOT / package).glob("*/__init__.py")}


def test_every_room_has_a_contract() -> None:
    """A room without one could import anything."""
    assert set(contracts()) == set(MAY_IMPORT)
    assert rooms_of("harness") | rooms_of("reference_impl") <= set(MAY_IMPORT)


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_what_a_room_may_not_import_is_forbidden(room: str) -> None:
    """Everything of ours that its row does not name, and nothing that it names."""
    forbidden = contracts()[room]
    others = set(MAY_IMPORT) - {room} - set(MAY_IMPORT[room])
    unnamed = {other for other in others if other not in forbidden and other.split(".")[0] not in forbidden}
    assert not unnamed
    assert not forbidden & set(MAY_IMPORT[room])


def test_the_order_of_stages_is_closed_to_rooms() -> None:
    """Modules directly under harness are the front ends and what they share; no room may know them."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (closed,) = [contract for contract in told if contract["name"] == "no room knows the order of stages"]
    modules = {f"harness.{file.stem}" for file in (ROOT / "harness").glob("*.py") if file.stem != "__init__"}
    assert set(closed["forbidden_modules"]) == modules
    assert rooms_of("harness") <= set(closed["source_modules"])


@pytest.mark.slow
def test_a_wrong_arrow_is_noticed(tmp_path: Path) -> None:
    """A verdict that reaches for Spark's room breaks its contract, by name."""
    for package in ("harness", "reference_impl"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "harness" / "verdict" / "planted.py").write_text("import harness.analysis\n")
    # The checkout must not be found in place of the copy: the copy's folder comes first on the path.
    program = (
        "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports_command; lint_imports_command()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, "--no-cache"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "verdict imports core BROKEN" in ran.stdout
    assert "harness.verdict.planted -> harness.analysis" in ran.stdout
