"""`rocketdiff subject check` on one broker."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.start import start_cluster
from rocketdiff.core.resources import import_path
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.subject import ClientProtocol
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.process.attached import VARIABLE, AttachPoint
from rocketdiff.releases.artifacts.class_paths import client_class_path
from rocketdiff.releases.jdk import find_java
from rocketdiff.releases.programs.driver_builds import (
    OTHER_CLIENTS,
    OtherClient,
    at_release,
    capabilities_of,
    release_of,
    releases_of,
    rust_target,
)
from rocketdiff.run.subject_check.check import check_subject, trial_names
from rocketdiff.run.subject_check.finding import CheckFinding
from rocketdiff.run.subject_check.played import play
from rocketdiff.scenario import load_all, select
from rocketdiff.subjects.own.skeletons import CONSUMER_SKELETONS, SKELETONS, write_skeleton
from rocketdiff.subjects.registry import attached, resolved
from tests.live import BUILD_VARIABLE, READY_S
from tests.protocol.published import require_record
from tests.subjects.built import assert_hello_as_known, require_build

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


def checked(cluster: Cluster, folder: Path, *flags: str) -> Iterator[CheckFinding]:
    spec = f"exec:{shlex.join([sys.executable, str(PROGRAM), *flags])}"
    return check_subject(resolved(spec), cluster, folder)


@pytest.mark.usefixtures("time_to_stop")
def test_a_sound_program_has_no_problem(one_master: Cluster, tmp_path: Path) -> None:
    """A valid program has no problem, and all kinds, modes and abilities are tried."""
    findings = list(checked(one_master, tmp_path))
    assert [finding for finding in findings if finding.problem] == []
    tried = " ".join(finding.tried for finding in findings)
    assert "messages lack" not in tried
    assert "hello has no role consumer: scenarios about consumers are left out" in tried
    tries = "plain queue selector batch async oneway clock stop attempts routes paused"
    assert [what for what in tries.split() if what not in tried] == []


@pytest.mark.usefixtures("time_to_stop")
def test_the_java_client_has_no_problem(one_master: Cluster, tmp_path: Path) -> None:
    """
    Java client 5.3.3 has no problem, as a producer and as a member of each kind of group.

    tests/subjects/test_sending.py has it send in the other ways, on several threads.
    """
    java = resolved("java:5.3.3")
    assert java.kind is not None
    offers = {**java.kind.offers, ClientRole.PRODUCER: lambda _, call: call.kind == SendKind.PLAIN}
    sparing = replace(java, kind=replace(java.kind, offers=offers))
    findings = list(check_subject(sparing, one_master, tmp_path))
    assert [finding for finding in findings if finding.problem] == []
    tried = " ".join(finding.tried for finding in findings)
    assert all(
        what in tried for what in ("sync sends, plain", "async sends, plain", "paused", "orderly", "broadcasting")
    )


KNOWN_PROBLEMS = {
    # Queue number 0 counts as none: the next queue in turn gets the message, one time in four queue 0 (fixtures/findings.md, N1).
    "node": {"20 sync sends, selector"},
}


REMOTING = {
    f"{client.name}:{release}": at_release(client, release)
    for client in OTHER_CLIENTS.values()
    for release in (releases_of(client) if BUILD_VARIABLE in os.environ else [release_of(client)])
    if ClientProtocol.GRPC not in capabilities_of(client)
}
"""`make clients` checks every release, `make test` the newest of each."""


@pytest.mark.usefixtures("time_to_stop")
@pytest.mark.parametrize("client", REMOTING.values(), ids=REMOTING)
def test_a_client_of_another_language_has_no_problem_but_those_it_is_known_for(
    client: OtherClient, one_master: Cluster, tmp_path: Path
) -> None:
    """A client of another language has only its known problems and the hello that the registry states."""
    require_build(client)
    assert_hello_as_known(client, tmp_path)
    findings = list(check_subject(resolved(f"{client.name}:{release_of(client)}"), one_master, tmp_path))
    problems = {finding.tried for finding in findings if finding.problem}
    assert problems <= KNOWN_PROBLEMS.get(client.name, set()), findings
    assert len(findings) > len(capabilities_of(client) - {"attempt-starts"}), findings


def made(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""As our driver runs: a JVM of a few seconds compiles more than it executes."""


def java_driver(folder: Path) -> str:
    """With the jars that Maven would copy to lib."""
    jars = client_class_path("5.3.3")
    (folder / "lib").mkdir()
    for jar in jars:
        (folder / "lib" / jar.name).symlink_to(jar)
    java = find_java()
    made(folder, str(java.javac), "-cp", "lib/*", "-d", "classes", "Driver.java")
    return f"exec:{java.java} {SHORT_LIVED} -cp classes:lib/* Driver"


def go_driver(folder: Path) -> str:
    """As our driver is built; without -trimpath everything would be compiled again."""
    made(folder, "go", "build", "-trimpath", "-buildvcs=false", "-o", "driver", ".")
    return "exec:./driver"


def node_driver(folder: Path) -> str:
    made(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
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


BUILDS: dict[str, Callable[[Path], str]] = {
    "java": java_driver,
    "go": go_driver,
    "node": node_driver,
    "rust": rust_driver,
    "python": python_driver,
}


ATTACHED = {(ClientRole.PRODUCER, "java"), (ClientRole.CONSUMER, "python")}
"""Skeletons that connect by themselves; the others speak over pipes."""


def skeleton_findings(language: str, role: ClientRole, cluster: Cluster, folder: Path) -> list[CheckFinding]:
    """Findings of a skeleton that was built; the working directory is its folder."""
    spec = BUILDS[language](folder)
    if (role, language) not in ATTACHED:
        return list(check_subject(resolved(spec), cluster, folder.parent))
    with ExitStack() as stack:
        point = stack.enter_context(AttachPoint(0, READY_S, lambda _: None))

        def start() -> None:
            command = shlex.split(spec.removeprefix("exec:"))
            started = subprocess.Popen(command, env=os.environ | {VARIABLE: point.address}, stdin=subprocess.DEVNULL)
            stack.callback(started.wait)
            stack.callback(started.kill)

        start()
        names: list[str] = []

        def announce(name: str) -> None:
            if names:
                start()
            names.append(name)

        subject = attached(point)
        findings = list(check_subject(subject, cluster, folder.parent, announce=announce))
        assert names == trial_names(subject)
        return findings


@pytest.mark.usefixtures("time_to_stop")
@pytest.mark.parametrize("language", CONSUMER_SKELETONS)
def test_a_skeleton_of_a_consumer_passes_as_it_is(
    language: str, one_master: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A member of a group is tried as such, and nothing else."""
    folder = tmp_path / "driver"
    write_skeleton(language, folder, ClientRole.CONSUMER)
    monkeypatch.chdir(folder)
    findings = skeleton_findings(language, ClientRole.CONSUMER, one_master, folder)
    assert [finding for finding in findings if finding.problem] == []
    assert "hello has no role producer: scenarios about producers are left out" in findings[0].tried
    assert len(findings) == 11


@pytest.mark.usefixtures("time_to_stop")
@pytest.mark.parametrize("language", SKELETONS)
def test_a_skeleton_passes_as_it_is(
    language: str, one_master: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each language's skeleton from `subject init` passes; missing properties are reported."""
    if language in OTHER_CLIENTS:
        require_build(OTHER_CLIENTS[language])
    folder = tmp_path / "driver"
    write_skeleton(language, folder)
    monkeypatch.chdir(folder)
    findings = skeleton_findings(language, ClientRole.PRODUCER, one_master, folder)
    assert [finding for finding in findings if finding.problem] == []
    assert any("plain" in finding.tried for finding in findings)
    # Node's client sets its own tag if there is none (fixtures/findings.md, N5).
    lack = [re.sub(r" \(they have [^)]*\)", "", finding.tried) for finding in findings]
    assert any("messages lack KEYS, TAGS, colour" in tried for tried in lack), lack


ONE_CALL = tuple(f"--without={call}" for call in ("queue", "selector", "batch", "async", "oneway"))


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--stay",), "it was still there two seconds after stop"),
        (("--body", "x"), "the body of message 0 is not its id padded with dots to 128 bytes"),
        (("--without", "attempts"), "protocol.not-claimed"),
        (("--without", "plain"), "hello claims no kind of send"),
        (("--without", "routes"), "hello claims attempts and no routes"),
        (
            ("--role=consumer", "--without=owned"),
            "protocol.not-claimed: expected owned among the capabilities of hello",
        ),
    ],
)
def test_a_false_report_is_one_sentence(
    one_master: Cluster, tmp_path: Path, flags: tuple[str, ...], message: str
) -> None:
    """Each false claim or wrong behaviour is a problem with this text."""
    problems = []
    for finding in checked(one_master, tmp_path, *ONE_CALL, *flags):  # to the awaited one, as every trial takes a start
        problems.append(finding.problem)
        if message in finding.problem:
            break
    assert message in problems[-1], problems


@pytest.mark.usefixtures("time_to_stop")
@pytest.mark.parametrize(
    ("flags", "problem"),
    [((), ""), (("--body", "x"), r"\d+ damaged messages, the first is number 0")],
    ids=["sound", "damages bodies"],
)
def test_a_scenario_is_played_alone_and_what_is_stored_is_judged(
    one_master: Cluster, tmp_path: Path, flags: tuple[str, ...], problem: str
) -> None:
    """Sends that fail at a killed broker are listed, and are no problem; a damaged message is one."""
    (scenario,) = select(load_all(None), patterns=("retries/default-with-the-only-broker-dead",))
    subject = resolved(f"exec:{shlex.join([sys.executable, str(PROGRAM), *flags])}")
    notes: list[str] = []
    findings = list(play(subject, scenario, one_master, tmp_path, 7, notes.append))
    assert notes == [scenario.name, "kill of broker-a begins"]
    assert re.search(r"\d+ sends: \d+ SEND_OK, \d+ (RemotingConnectException|MQClientException)", findings[1].tried), (
        findings
    )
    assert re.fullmatch(problem, findings[-1].problem)
