"""Subject names: labels, wrappers, coordinates and messages for wrong names."""

import hashlib
import json
from pathlib import Path

import pytest

from rocketdiff.cli.options import release_of, subject_of
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import EnvironmentMissing, UsageError
from rocketdiff.core.subject import SubjectId
from rocketdiff.judging.run_info import describe
from rocketdiff.releases.catalogue import is_known_client
from rocketdiff.releases.programs.wrappers import WRAPPERS
from rocketdiff.run.execute import plan_cases
from rocketdiff.run.manifest import manifest_of
from rocketdiff.run.request import command_line, pair_of, request_of
from rocketdiff.subjects.registry import resolved
from rocketdiff.traces.run_directory import RunDirectory
from tests.subjects.conftest import HELLO
from tests.subjects.processes import program

MAVEN = """\
for word in "$@"; do
  case "$word" in
    -o) [ -n "$OFFLINE_FAILS" ] && { echo "[ERROR] Cannot access the repository in offline mode"; exit 1; };;
    -Dmdep.outputFile=*) listing="${word#-Dmdep.outputFile=}";;
  esac
done
echo "$@" >> "$MAVEN_LOG"
[ -n "$CLASS_PATH" ] || { echo "[ERROR] Could not find artifact com.acme:mq:jar:1"; exit 1; }
printf %s "$CLASS_PATH" > "$listing"
"""


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fake Maven; returns the log of its calls."""
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin" / "mvn", MAVEN)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setenv("MAVEN_LOG", str(tmp_path / "calls"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / "calls"


def test_a_label_is_the_users_name_for_a_subject() -> None:
    """A labelled subject keeps its id; the repeat command has the whole spec."""
    baseline, candidate = pair_of(["old=5.3.2", "new=java:5.3.3"])
    assert [(str(one), one.label, one.spec) for one in (baseline, candidate)] == [
        ("java:5.3.2", "old", "old=5.3.2"),
        ("java:5.3.3", "new", "new=java:5.3.3"),
    ]
    request = request_of({"subject": ["old=5.3.2", "new=java:5.3.3"]})
    assert "--subject old=5.3.2 --subject new=java:5.3.3" in command_line(request, 7)


def test_an_equals_sign_of_a_flag_makes_no_label(tmp_path: Path) -> None:
    """An equals sign after a colon or slash makes no label."""
    for spec in ("exec:./driver --level=3", f"exec:{tmp_path}/a=b"):
        with pytest.raises(UsageError, match="saw no such file"):
            resolved(spec)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("java:lib", "; try: a folder of jars: java:lib/"),
        ("./lib", "; try: a folder of jars: java:./lib/"),
        ("java:cp.txt", "; try: a file with a class path: java:@cp.txt"),
        ("target/client.jar@5.3.3", "; try: a build of the Java client: java:target/client.jar@5.3.3"),
        ("./driver", "; try: a program: exec:./driver"),
        ("./driver.pl", "; a program: exec:./driver"),
        ("mine:0.1", "; a program of yours: exec:./driver"),
    ],
)
def test_a_subject_in_another_form_gets_the_right_one(
    typed: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path or program without its slash, @, client or exec: is refused with the right syntax."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib").mkdir()
    for name in ("cp.txt", "driver"):
        (tmp_path / name).touch()
    with pytest.raises(UsageError) as raised:
        resolved(typed)
    assert str(raised.value).endswith(message)


@pytest.mark.parametrize(
    ("wrapper", "client"),
    [("spring:2.3.5", "java:5.3.2"), ("camel:4.17.0", "java:5.3.2"), ("spring-cloud-stream:2023.0.3.3", "java:5.3.1")],
)
def test_a_wrapper_is_the_client_that_it_ships(wrapper: str, client: str) -> None:
    """A wrapper is its Java client, also in the lab."""
    assert str(resolved(wrapper)) == client == f"java:{release_of(wrapper)}"
    assert (resolved(wrapper).spec, subject_of(f"a={wrapper}")) == (wrapper, SubjectId.parse(client))


def test_every_wrapped_java_client_is_published() -> None:
    """Every Java client in the wrapper table is published, so it can run."""
    shipped = [client.removeprefix("java:") for rows in WRAPPERS.values() for client in rows.values()]
    assert [release for release in shipped if ":" not in release and not is_known_client(release)] == []


def test_an_unknown_release_of_a_wrapper_is_refused_with_the_nearest() -> None:
    """An unknown wrapper release is refused with the nearest known one."""
    with pytest.raises(
        UsageError, match=r"a release of spring whose client is known; saw spring:2\.3\.6.*spring:2\.3\.5"
    ):
        resolved("spring:2.3.6")


def test_run_json_keeps_what_was_typed_and_the_checksums_of_what_runs(tmp_path: Path) -> None:
    """run.json has the typed spec and the locked jars' checksums."""
    request = request_of({"subject": ["old=java:5.3.2", "python:5.3.2"], "scenario": ["round-robin/calm"], "seed": 1})
    run = RunDirectory.create(tmp_path, manifest_of(request, 1, plan_cases(request, 1)))
    sources = run.manifest.sources
    assert (sources[Arm.BASELINE].spec, sources[Arm.BASELINE].label) == ("old=java:5.3.2", "old")
    assert len(sources[Arm.BASELINE].checksums["rocketmq-client-5.3.2.jar"]) == 64
    assert sources[Arm.CANDIDATE].checksums == {}
    assert describe([run], took_s=1).baseline.title == "old (java:5.3.2)"


def test_coordinates_are_asked_of_the_local_repository_first(maven: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Coordinates are resolved offline first, with one call of Maven."""
    monkeypatch.setenv("CLASS_PATH", "/nowhere/a.jar")
    with pytest.raises(UsageError):
        resolved("java:com.acme:mq:1@5.3.3")
    assert maven.read_text().count("\n") == 1
    assert " -o " in maven.read_text()


def test_unknown_coordinates_are_refused_with_the_message_of_maven(
    maven: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unknown coordinates are tried offline, then online with a notice, and refused with Maven's message."""
    with pytest.raises(UsageError, match=r"com\.acme:mq:1 that Maven resolves; saw Could not find artifact"):
        resolved("java:com.acme:mq:1@5.3.3")
    assert maven.read_text().count("\n") == 2
    assert "com.acme:mq:1 or what it needs is not in the local Maven repository" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1-SNAPSHOT", r"mq:1-SNAPSHOT in the local Maven repository; saw no such artifact.*mvn install"),
        ("LATEST", "expected an exact version"),
    ],
)
def test_a_version_that_moves_is_never_downloaded(
    maven: Path, monkeypatch: pytest.MonkeyPatch, version: str, message: str
) -> None:
    """A snapshot missing in the local repository, and a name such as LATEST, are refused without an online try."""
    monkeypatch.setenv("OFFLINE_FAILS", "1")
    with pytest.raises(UsageError, match=message):
        resolved(f"java:com.acme:mq:{version}@5.3.3")
    assert not maven.exists()


def test_without_maven_coordinates_cannot_be_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Maven coordinates are an environment error with exit code 69."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentMissing, match=r"expected mvn on PATH.*java:dist/lib/"):
        resolved("java:com.acme:mq:1@5.3.3")


def test_the_checksum_of_a_program_is_that_of_its_file(tmp_path: Path) -> None:
    """A program's checksum is that of its file."""
    hello = json.dumps({**HELLO, "client": "acme", "version": "1"})
    driver = program(tmp_path / "driver", f"echo '{hello}'; read -r line")
    checksum = hashlib.sha256(driver.read_bytes()).hexdigest()
    assert resolved(f"exec:{driver}").checksums() == {"driver": checksum}
