"""
The format of a cluster file, tested with fixtures/cluster-format.

invalid: schema and parser refuse; valid-fail: only the parser does; valid-pass: both accept. A refused file's first line has text
of the message.
"""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from _pytest.mark import ParameterSet

from rocketdiff.cluster.external.cluster_file import read, schema
from rocketdiff.cluster.external.described import OwnersCommand, Verb
from rocketdiff.core.errors import ExitCode, UsageError

FIXTURES = Path(__file__).parents[3] / "fixtures"
SCHEMA = FIXTURES / "schema" / "cluster-1.json"
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
EXAMPLE = FIXTURES / "examples" / "cluster.yaml"


def files(folder: str) -> list[ParameterSet]:
    """Files of a folder, which must not be empty."""
    found = sorted((FIXTURES / "cluster-format" / folder).glob("*.yaml"))
    assert found, f"no self-tests in {folder}"
    return [pytest.param(path, id=path.stem) for path in found]


def accepted_by_schema(path: Path) -> bool:
    return VALIDATOR.is_valid(yaml.safe_load(path.read_text()))


def assert_refused(path: Path) -> None:
    """One usage error names the file and contains its first line's text."""
    why = path.read_text().splitlines()[0].removeprefix("# refused: ")
    with pytest.raises(UsageError) as raised:
        read(path)
    message = str(raised.value)
    assert raised.value.exit_code is ExitCode.USAGE
    assert path.name in message
    assert why in message
    assert "\n" not in message


@pytest.mark.parametrize("path", files("invalid"))
def test_schema_and_parser_refuse(path: Path) -> None:
    """Schema and parser refuse each invalid file with a clear message."""
    assert not accepted_by_schema(path)
    assert_refused(path)


@pytest.mark.parametrize("path", files("valid-fail"))
def test_parser_alone_refuses(path: Path) -> None:
    """The parser refuses accepted files that contradict themselves or would leave a node in a fault."""
    assert accepted_by_schema(path)
    assert_refused(path)


@pytest.mark.parametrize("path", [*files("valid-pass"), pytest.param(EXAMPLE, id="example")])
def test_both_accept(path: Path) -> None:
    """Schema and parser accept each valid file and the shipped example."""
    assert accepted_by_schema(path)
    assert read(path).brokers


def test_a_file_is_read_as_it_is_meant() -> None:
    """Names, addresses, commands and the witness of a pause are parsed."""
    described = read(FIXTURES / "cluster-format" / "valid-pass" / "everything.yaml")
    assert described.name_server_addresses == ("mq-ns-1.example:9876", "10.0.0.6:9876")
    assert (described.server_release, described.command_timeout_s) == ("4.0.0-incubating", 2.5)
    first, second = described.brokers
    assert (first.letter, first.name, first.witness) == ("a", "prod-mq-7", "state command and probe")
    assert first.commands[Verb.PAUSE] == OwnersCommand(("ssh", "mq-7", "pause"))
    assert first.commands[Verb.KILL].words == ("/bin/sh", "-c", "k")
    assert first.commands[Verb.KILL].shown == "k"
    assert (second.commands, second.witness) == ({}, "probe alone")


def test_published_schema_is_up_to_date() -> None:
    """
    The published schema is up to date.

    ``python -m rocketdiff.cluster.external.cluster_file > fixtures/schema/cluster-1.json`` renews it.
    """
    assert SCHEMA.read_bytes() == schema()


def test_published_schema_is_a_schema() -> None:
    """The schema is valid, and its id has the format version."""
    jsonschema.Draft202012Validator.check_schema(json.loads(SCHEMA.read_text()))
    assert json.loads(SCHEMA.read_text())["$id"] == "urn:rocketdiff:cluster:1"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A missing file is a usage error."""
    with pytest.raises(UsageError, match=r"nothing-here\.yaml.*external:cluster\.yaml"):
        read(tmp_path / "nothing-here.yaml")
