"""The Java driver without a cluster: JSON, hello of every release, and end."""

import json
import subprocess
from pathlib import Path

import pytest

from rocketdiff.core.subject import SubjectId
from rocketdiff.protocol.records import decode_record
from rocketdiff.releases.artifacts.class_paths import client_class_path
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.releases.jdk import find_java
from rocketdiff.releases.programs.java_programs import API_RELEASE, compiled, driver_class_path
from rocketdiff.subjects.claims import unknown_claims
from rocketdiff.subjects.kinds.java import java_program
from rocketdiff.subjects.registry import program_of

pytestmark = pytest.mark.cluster


def echo(*texts: str) -> list[str]:
    """The driver's parsing of JSON texts; the last line is from its writer."""
    java = find_java()
    class_path = [driver_class_path(), *client_class_path(API_RELEASE)]
    classes = compiled("json-echo", Path(__file__).parent / "java", class_path, java)
    command = [str(java.java), "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-cp"]
    path = ":".join(map(str, [classes, *class_path]))
    ran = subprocess.run([*command, path, "rocketdiff.driver.JsonEcho", *texts], capture_output=True, check=True)
    return ran.stdout.decode().splitlines()


def conversation(release: str, folder: Path, commands: bytes) -> tuple[int, list[bytes]]:
    """Exit status and lines of a driver for these commands."""
    launch = program_of(SubjectId("java", release)).launch(folder)
    environment = dict(launch.environment)
    ran = subprocess.run(
        launch.command, input=commands, env=environment, capture_output=True, cwd=folder, timeout=600, check=False
    )
    return ran.returncode, ran.stdout.splitlines()


def test_json_is_read_and_written() -> None:
    """The driver reads and writes all JSON values, escapes, exact longs and non-ASCII characters."""
    reported = echo(
        ' {"a" : [1, -2.5e1, true, null], "b": {}, "c": [] } ',
        '"x\\u00e9\\n\\"\\\\\\/"',
        str(2**63 - 1),
    )
    assert reported[0] == "{a=[Long:1 Double:-25.0 Boolean:true null ] b={} c=[] }"
    assert reported[1:3] == ["String:xé", '"\\/']
    assert reported[3] == "Long:9223372036854775807"
    assert json.loads(reported[-1]) == {"type": "echo", "text": 'a"b\\c\né🚀', "number": -(2**63)}


def test_a_line_that_is_no_json_is_refused() -> None:
    """Invalid JSON is refused."""
    texts = ["", "{", '{"a"}', '{"a":1,}', "[1 2]", "nul", "1 2", '"a', '"\\x"', "--1", "{'a':1}"]
    reported = dict(zip(texts, echo(*texts), strict=False))
    assert {text: line.startswith("refused: ") for text, line in reported.items()} == dict.fromkeys(texts, True)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (b'{"type":"sing"}\n', "unknown command"),
        (b'{"type":"setup","protocol":1,"role":"singer"}\n', "a role of this driver (producer, consumer), saw singer"),
        (b'{"type":"join","at_ns":0}\n', "join after ready"),
        (b'{"type":"rule","rule":0,"every":7,"tries":1,"outcome":"sing"}\n', "an outcome of a listener, saw sing"),
    ],
)
def test_a_command_it_cannot_obey_ends_the_driver(command: bytes, message: str, tmp_path: Path) -> None:
    """An unknown command and a role that the driver lacks are reported as failed, with exit status 1."""
    status, lines = conversation("5.3.3", tmp_path, command)
    assert status == 1
    assert json.loads(lines[-1])["type"] == "failed"
    assert message in json.loads(lines[-1])["message"]


def test_the_end_of_stdin_ends_the_driver(tmp_path: Path) -> None:
    """The end of stdin ends the driver with status 0."""
    plan = b'{"type":"plan","send":0,"thread":0,"due_ns":0,"kind":"plain","argument":0,"body_bytes":1}\n'
    status, lines = conversation("5.3.3", tmp_path, plan)
    assert status == 0
    assert len(lines) == 1


@pytest.mark.slow
@pytest.mark.parametrize("release", client_releases())
def test_every_release_sends_hello(release: str, tmp_path: Path) -> None:
    """One compiled driver starts with every release's jars and reports the release."""
    status, lines = conversation(release, tmp_path, b"")
    hello = decode_record(lines[0]).record
    assert status == 0
    assert (hello.client, hello.version) == ("java", release)  # type: ignore[union-attr]
    assert {"plain", "queue", "selector", "orderly", "offsets"} <= set(hello.capabilities)  # type: ignore[union-attr]
    assert not unknown_claims(hello.capabilities)  # type: ignore[union-attr]
    assert hello.roles == ("producer", "consumer")  # type: ignore[union-attr]


def test_a_process_list_stays_readable(tmp_path: Path) -> None:
    """The jars, about a hundred, are in CLASSPATH, so process lists stay readable."""
    launch = java_program(SubjectId("java", "5.3.3")).launch(tmp_path)
    assert not any(".jar" in word for word in launch.command)
    assert "rocketmq-client-5.3.3.jar" in launch.environment["CLASSPATH"]
