"""
The scenario format, with files in fixtures/format.

invalid: the published schema refuses them too; valid-fail: only the loader does; valid-pass: accepted. The first line of a
refused file states what the message must contain.
"""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from _pytest.mark import ParameterSet

from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.scenario import load, parse
from rocketdiff.scenario.json_schema import rendered

FIXTURES = Path(__file__).parents[2] / "fixtures"
SCHEMA = FIXTURES / "schema" / "scenario-1.json"
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))


def files(folder: str) -> list[ParameterSet]:
    found = sorted((FIXTURES / "format" / folder).glob("*.yaml"))
    assert found, f"no self-tests in {folder}"
    return [pytest.param(path, id=path.stem) for path in found]


def accepted_by_schema(path: Path) -> bool:
    return VALIDATOR.is_valid(yaml.safe_load(path.read_text()))


def why(path: Path) -> str:
    return path.read_text().splitlines()[0].removeprefix("# refused: ")


@pytest.mark.parametrize("path", files("invalid"))
def test_schema_and_loader_refuse(path: Path) -> None:
    """Schema and loader refuse, and the message states what was expected, where and what was seen."""
    assert not accepted_by_schema(path)
    assert_refused(path)


@pytest.mark.parametrize("path", files("valid-fail"))
def test_loader_alone_refuses(path: Path) -> None:
    """The schema accepts the file, but it cannot be run."""
    assert accepted_by_schema(path)
    assert_refused(path)


@pytest.mark.parametrize("path", files("valid-pass"))
def test_both_accept(path: Path) -> None:
    """The file loads, and its text gives the same scenario."""
    assert accepted_by_schema(path)
    scenario = load(path)
    assert scenario.name == f"self-test/{path.stem}"
    assert parse(scenario.text, str(path)) == scenario


def assert_refused(path: Path) -> None:
    """A usage error in one line, with the file's name and the text of its first line."""
    with pytest.raises(UsageError) as raised:
        load(path)
    message = str(raised.value)
    assert raised.value.exit_code is ExitCode.USAGE == 4
    assert path.name in message
    assert why(path) in message.replace(f"{path.parent}/", "")
    assert "\n" not in message


def test_published_schema_is_up_to_date() -> None:
    """
    The published schema is up to date; ``python -m rocketdiff.scenario.json_schema fixtures/schema/scenario-1.json`` renews it.
    """
    assert SCHEMA.read_text() == rendered()


def test_published_schema_is_a_schema() -> None:
    """The schema is valid against its draft and names the format's version."""
    jsonschema.Draft202012Validator.check_schema(json.loads(SCHEMA.read_text()))
    assert json.loads(SCHEMA.read_text())["$id"] == "urn:rocketdiff:scenario:1"
