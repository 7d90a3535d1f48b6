"""
The campaign format, with files in fixtures/campaign-format.

invalid: the published schema refuses them too; valid-fail: only the parser does; valid-pass: accepted. The first line of a
refused file states what the message must contain.
"""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from _pytest.mark import ParameterSet

from rocketdiff.campaign.file_format import read, schema
from rocketdiff.campaign.plan import RunSetting
from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.releases.catalogue import client_releases

FIXTURES = Path(__file__).parents[2] / "fixtures"
SCHEMA = FIXTURES / "schema" / "campaign-1.json"
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))


def files(folder: str) -> list[ParameterSet]:
    found = sorted((FIXTURES / "campaign-format" / folder).glob("*.yaml"))
    assert found, f"no self-tests in {folder}"
    return [pytest.param(path, id=path.stem) for path in found]


def accepted_by_schema(path: Path) -> bool:
    return VALIDATOR.is_valid(yaml.safe_load(path.read_text()))


def assert_refused(path: Path) -> None:
    """A usage error in one line, with the file's name and the text of its first line."""
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
    """Schema and parser refuse, and the message states what was expected, where and what was seen."""
    assert not accepted_by_schema(path)
    assert_refused(path)


@pytest.mark.parametrize("path", files("valid-fail"))
def test_parser_alone_refuses(path: Path) -> None:
    """The schema accepts the file, but it cannot be run or meant."""
    assert accepted_by_schema(path)
    assert_refused(path)


@pytest.mark.parametrize(
    "path", [*files("valid-pass"), pytest.param(FIXTURES / "examples" / "campaign.yaml", id="example")]
)
def test_both_accept(path: Path) -> None:
    """Schema and parser accept the file, also the example."""
    assert accepted_by_schema(path)
    assert list(read(path).plan.runs())


def test_the_published_schema_is_the_one_of_the_types() -> None:
    """The published schema is up to date."""
    assert SCHEMA.read_bytes() == schema()


def test_a_run_is_made_of_each_suite_seed_and_setting() -> None:
    """Each suite, seed and setting gives a run; a subject may have its own."""
    campaign = read(FIXTURES / "campaign-format" / "valid-pass" / "everything.yaml")
    first, second = campaign.plan.entries
    assert (len(first.work), len(second.work)) == (3 * 2 * 3, 1 * 1 * 3)
    assert [work.setting for work in second.work] == [
        RunSetting("5.3.3"),
        RunSetting("4.9.7", is_wire_wanted=True),
        RunSetting("5.3.3", "external:cluster.yaml", Path("security.yaml")),
    ]
    assert [work.name for work in second.work] == [
        "all, seed 7, servers 5.3.3",
        "all, seed 7, servers 4.9.7, wire",
        "all, seed 7, servers 5.3.3, external:cluster.yaml, security security.yaml",
    ]
    assert campaign.simulation is not None
    assert (campaign.simulation.releases, campaign.simulation.seeds) == (client_releases(), (1, 2))
