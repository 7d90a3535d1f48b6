"""The wheel is complete in another folder and Python environment."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from rocketdiff import __version__
from rocketdiff.judging.gate_rates import judging_digest

ROOT = Path(__file__).parents[2]
# Folders whose files rocketdiff reads at run time.
DATA_FOLDERS = (
    "fixtures/scenarios",
    "fixtures/schema",
    "harness/rocketdiff/drivers/go",
    "harness/rocketdiff/drivers/grpc-go",
    "harness/rocketdiff/drivers/grpc-node",
    "harness/rocketdiff/drivers/grpc-python",
    "harness/rocketdiff/drivers/grpc-rust",
    "harness/rocketdiff/drivers/grpc-java",
    "harness/rocketdiff/drivers/java",
    "harness/rocketdiff/drivers/node",
    "harness/rocketdiff/drivers/rust",
    "fixtures/skeletons",
    "harness/rocketdiff/matrix/templates",
    "harness/rocketdiff/record/templates",
    "harness/rocketdiff/report/templates",
)
DATA_FILES = ("harness/rocketdiff/releases/artifacts.lock.json", "docker/Dockerfile")


class Installed:
    """A wheel that pip installed in a folder, run by a Python without the checkout."""

    def __init__(self, target: Path, elsewhere: Path) -> None:
        self.target = target
        self._elsewhere = elsewhere

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """
        Start the base interpreter, which has no link to the checkout, in another folder.

        Dependencies are the running environment's, as a plain folder on the path: its `.pth` files, one of which leads to the
        checkout, are not followed.
        """
        path = os.pathsep.join([str(self.target), sysconfig.get_path("purelib")])
        environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": path, "COLUMNS": "120"}
        base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
        command = [str(base if base.exists() else sys.executable), *arguments]
        return subprocess.run(
            command, cwd=self._elsewhere, env=environment, capture_output=True, text=True, check=False
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Installed without dependencies, which exist already."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder / "dist"), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    target = folder / "installed"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(target)]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    return Installed(target, elsewhere)


@pytest.mark.slow
def test_every_file_that_is_read_when_running_travels(installed: Installed) -> None:
    """The wheel contains every file that is read at run time."""
    wanted = {
        file.relative_to(ROOT).as_posix(): file.read_bytes()
        for folder in DATA_FOLDERS
        for file in (ROOT / folder).rglob("*")
        if file.is_file()
    } | {name: (ROOT / name).read_bytes() for name in DATA_FILES}
    program = (
        "import json, sys\nfrom rocketdiff.core.resources import resource\n"
        "print(json.dumps({name: str(resource(name)) for name in json.loads(sys.argv[1])}))"
    )
    ran = installed.run("-c", program, json.dumps(sorted(wanted)))
    assert ran.returncode == 0, ran.stderr
    places = {name: Path(place) for name, place in json.loads(ran.stdout).items()}
    assert all(place.is_relative_to(installed.target) for place in places.values())
    assert {name: place.read_bytes() for name, place in places.items()} == wanted
    assert {Path(folder).parts[0] for folder in wanted} == {"fixtures", "harness", "docker"}


@pytest.mark.slow
def test_the_command_answers(installed: Installed) -> None:
    """The console script prints this checkout's version."""
    script = str(installed.target / "bin" / "rocketdiff")
    shown = installed.run(script, "--help")
    assert shown.returncode == 0, shown.stderr
    assert "Usage: rocketdiff" in shown.stdout
    assert installed.run(script, "--version").stdout.strip() == f"rocketdiff {__version__}"


@pytest.mark.slow
def test_scenarios_are_listed_from_the_wheel(installed: Installed) -> None:
    """`rocketdiff scenarios` works without the checkout."""
    ran = installed.run(str(installed.target / "bin" / "rocketdiff"), "scenarios", "--json")
    assert ran.returncode == 0, ran.stderr
    assert "fault-latency/" in ran.stdout


@pytest.mark.slow
def test_judging_code_has_the_same_digest_in_the_wheel(installed: Installed) -> None:
    """The judging digest is equal in the wheel; otherwise every report would state that the program has changed."""
    program = "from rocketdiff.judging.gate_rates import judging_digest\nprint(judging_digest())"
    ran = installed.run("-c", program)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == judging_digest()


@pytest.mark.slow
def test_the_wheel_carries_only_what_belongs_to_it(installed: Installed) -> None:
    """The wheel contains two packages, the command and the licence, but no tests."""
    top = {path.name for path in installed.target.iterdir()}
    assert top == {"rocketdiff", "rocketmq_reference", "bin", f"rocketdiff-{__version__}.dist-info"}
    licence = installed.target / f"rocketdiff-{__version__}.dist-info" / "licenses" / "LICENSE"
    assert "Apache License" in licence.read_text()
    assert (installed.target / "rocketdiff" / "py.typed").exists()


@pytest.mark.slow
def test_a_repository_with_a_package_harness_keeps_it(installed: Installed, tmp_path: Path) -> None:
    """A foreign package `harness` can be imported beside the wheel's plugin."""
    for name, text in {
        "harness/__init__.py": "",
        "harness/util.py": "def helper():\n    return 1\n",
        "conftest.py": "",
        "test_own.py": "from harness.util import helper\n\n\ndef test_own():\n    assert helper() == 1\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    ran = installed.run("-m", "pytest", "--trace-config", "--rootdir", str(tmp_path), str(tmp_path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 passed" in ran.stdout
    assert str(installed.target / "rocketdiff" / "pytest_plugin") in ran.stdout
