"""`rocketdiff subject check` on one broker."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn, cast

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.start import start_cluster
from rocketdiff.core.arm import CANDIDATE
from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.resources import import_path
from rocketdiff.core.subject import ClientProtocol, SubjectId
from rocketdiff.releases.artifacts.class_paths import client_class_path
from rocketdiff.releases.jdk import find_java
from rocketdiff.releases.programs.driver_builds import (
    OTHER_CLIENTS,
    OtherClient,
    attempt_timeout_ms_of,
    capabilities_of,
    release_of,
    rust_target,
)
from rocketdiff.run.subject_check.check import CheckFinding, check_subject
from rocketdiff.subjects.own.skeletons import SKELETONS, write_skeleton
from rocketdiff.subjects.registry import program_of, published, resolved
from rocketdiff.subjects.subject_process import SubjectProcess
from tests.live import BUILD_VARIABLE, READY_S
from tests.protocol.published import require_record

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PROGRAM = Path(__file__).parents[1] / "subjects" / "own.py"


@pytest.fixture(scope="module")
def one_master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with start_cluster(topology="one-master", folder=tmp_path_factory.mktemp("one"), timeout_s=READY_S) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def _each_line_fits_the_published_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every driver's lines match the published schema."""
    monkeypatch.setattr("rocketdiff.run.subject_check.check.unheard", require_record)


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", import_path())


def checked(cluster: Cluster, folder: Path, *flags: str) -> list[CheckFinding]:
    spec = f"exec:{shlex.join([sys.executable, str(PROGRAM), *flags])}"
    return list(check_subject(resolved(spec), cluster, folder))


@pytest.mark.usefixtures("time_to_stop")
def test_a_sound_program_has_no_problem(one_master: Cluster, tmp_path: Path) -> None:
    """A valid program has no problem, and all kinds, modes and abilities are tried."""
    findings = checked(one_master, tmp_path)
    assert [finding for finding in findings if finding.problem] == []
    tried = " ".join(finding.tried for finding in findings)
    assert "messages lack" not in tried
    for what in (
        "plain",
        "queue",
        "selector",
        "batch",
        "async",
        "oneway",
        "clock",
        "stop",
        "attempts",
        "routes",
        "paused",
    ):
        assert what in tried, what


@pytest.mark.usefixtures("time_to_stop")
def test_the_java_client_has_no_problem(one_master: Cluster, tmp_path: Path) -> None:
    """Java client 5.3.3 has no problem."""
    findings = list(check_subject(resolved("java:5.3.3"), one_master, tmp_path))
    assert [finding for finding in findings if finding.problem] == []


KNOWN_PROBLEMS = {
    # Queue number 0 counts as none: the next queue in turn gets the message, one time in four queue 0 (fixtures/findings.md, N1).
    "node": {"20 sync sends, selector"},
}


REMOTING = {
    name: client for name, client in OTHER_CLIENTS.items() if ClientProtocol.GRPC not in capabilities_of(client)
}


@pytest.mark.usefixtures("time_to_stop")
@pytest.mark.parametrize("client", REMOTING.values(), ids=REMOTING)
def test_a_client_of_another_language_has_no_problem_but_those_it_is_known_for(
    client: OtherClient, one_master: Cluster, tmp_path: Path
) -> None:
    """A client of another language has only its known problems and the hello that the registry states."""
    require_tools(client.tools)
    require_build(client.name)
    subject = SubjectId(client.name, release_of(client))
    with SubjectProcess(program_of(subject), CANDIDATE, tmp_path / "hello", on_line=lambda _: None) as process:
        hello = process.await_hello()
    assert (hello.client, hello.version) == (subject.client, subject.release)
    assert frozenset(hello.capabilities) == capabilities_of(client)
    assert hello.attempt_timeout_ms == attempt_timeout_ms_of(client)
    findings = list(check_subject(resolved(str(subject)), one_master, tmp_path))
    problems = {finding.tried for finding in findings if finding.problem}
    assert problems <= KNOWN_PROBLEMS.get(client.name, set()), findings
    assert len(findings) > len(capabilities_of(client) - {"attempt-starts"}), findings


def require_tools(tools: tuple[str, ...]) -> None:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"no {', '.join(missing)} on PATH")


def require_build(language: str) -> None:
    """
    Skip Rust unless it was built here before.

    Its 360 crates take six minutes of processor time, and CI has an empty cache; a later build takes seconds.
    """
    if language == "rust" and not rust_target("rust").is_dir() and BUILD_VARIABLE not in os.environ:
        pytest.skip("the Rust client was never built here, which takes minutes; `make clients` builds and checks it")


def made(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def java_driver(folder: Path) -> str:
    """With the jars that Maven would copy to lib."""
    jars = client_class_path("5.3.3")
    (folder / "lib").mkdir()
    for jar in jars:
        (folder / "lib" / jar.name).symlink_to(jar)
    java = find_java()
    made(folder, str(java.javac), "-cp", "lib/*", "-d", "classes", "Driver.java")
    return f"exec:{java.java} -cp classes:lib/* Driver"


def go_driver(folder: Path) -> str:
    """As our driver is built; without -trimpath everything would be compiled again."""
    made(folder, "go", "build", "-trimpath", "-buildvcs=false", "-o", "driver", ".")
    return "exec:./driver"


def node_driver(folder: Path) -> str:
    made(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    return "exec:node main.js"


def rust_driver(folder: Path) -> str:
    """Reuses our driver's compiled dependencies, so it needs another name."""
    for name in ("Cargo.toml", "Cargo.lock"):
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace('name = "driver"', 'name = "skeleton"'))
    made(folder, "cargo", "build", "--release", "--locked", "--target-dir", str(rust_target("rust")))
    return f"exec:{rust_target('rust') / 'release' / 'skeleton'}"


def python_driver(_folder: Path) -> str:
    return f"exec:{sys.executable} driver.py"


BUILDS: dict[str, tuple[tuple[str, ...], Callable[[Path], str]]] = {
    "java": ((), java_driver),
    "go": (("go",), go_driver),
    "node": (("node", "npm"), node_driver),
    "rust": (("cargo",), rust_driver),
    "python": ((), python_driver),
}


@pytest.mark.usefixtures("time_to_stop")
@pytest.mark.parametrize("language", SKELETONS)
def test_a_skeleton_passes_as_it_is(
    language: str, one_master: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each language's skeleton from `subject init` passes; missing properties are reported."""
    tools, build = BUILDS[language]
    require_tools(tools)
    require_build(language)
    folder = tmp_path / "driver"
    write_skeleton(language, folder)
    spec = build(folder)
    monkeypatch.chdir(folder)
    findings = list(check_subject(resolved(spec), one_master, tmp_path))
    assert [finding for finding in findings if finding.problem] == []
    assert any("plain" in finding.tried for finding in findings)
    # Node's client sets its own tag if there is none (fixtures/findings.md, N5).
    lack = [re.sub(r" \(they have [^)]*\)", "", finding.tried) for finding in findings]
    assert any("messages lack KEYS, TAGS, colour" in tried for tried in lack), lack


ONE_CALL = (
    "--without",
    "queue",
    "--without",
    "selector",
    "--without",
    "batch",
    "--without",
    "async",
    "--without",
    "oneway",
)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--stay",), "it was still there two seconds after stop"),
        (("--body", "x"), "the body of message 0 is not its id padded with dots to 128 bytes"),
        (("--without", "attempts"), "protocol.not-claimed"),
        (("--without", "plain"), "hello claims no kind of send"),
        (("--without", "routes"), "hello claims attempts and no routes"),
    ],
)
def test_a_false_report_is_one_sentence(
    one_master: Cluster, tmp_path: Path, flags: tuple[str, ...], message: str
) -> None:
    """Each false claim or wrong behaviour is a problem with this text."""
    problems = [finding.problem for finding in checked(one_master, tmp_path, *ONE_CALL, *flags)]
    assert any(message in problem for problem in problems), problems


def test_a_repeated_breach_is_reported_twice_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repeated failure ends the check: a missing class would repeat it for each of seven calls."""

    def _dies(*_: object) -> NoReturn:
        raise SubjectBroken("died", expected="acme:1.0 to live", seen="it exited with status 1 in stage STARTED")

    monkeypatch.setattr("rocketdiff.run.subject_check.check._tried", _dies)
    reported = list(check_subject(published(SubjectId("java", "5.3.3")), cast(Cluster, None), tmp_path))
    assert [bool(finding.problem) for finding in reported] == [True, True, False]
    assert reported[-1].tried.startswith("no further checks")
