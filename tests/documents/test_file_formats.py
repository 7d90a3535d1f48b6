"""
The hand-written files that have a published schema, each tested with a folder of fixtures.

invalid: schema and parser refuse; valid-fail: only the parser does; valid-pass: both accept. The first line of a refused file has
text of the message.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from _pytest.mark import ParameterSet

from rocketdiff.campaign import file_format as campaign_file
from rocketdiff.cluster.external import cluster_file
from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.scenario import Scenario, load, parse
from rocketdiff.subjects.own import subject_file

FIXTURES = Path(__file__).parents[2] / "fixtures"


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files: its parser, and a property of each accepted file."""

    name: str
    folder: str
    parse: Callable[[Path], Any]
    is_sound: Callable[[Any], object]
    examples: tuple[str, ...] = ()

    @property
    def published(self) -> Path:
        return FIXTURES / "schema" / f"{self.name}-1.json"

    def files(self, kind: str) -> list[Path]:
        found = sorted((FIXTURES / self.folder / kind).glob("*.yaml"))
        assert found, f"no self-tests in {self.folder}/{kind}"
        return found


def is_named_and_complete(scenario: Scenario) -> bool:
    """True if the scenario's text gives the same scenario."""
    return scenario.name.startswith("self-test/") and parse(scenario.text, scenario.source) == scenario


FORMATS = (
    Format("scenario", "format", load, is_named_and_complete),
    Format(
        "campaign",
        "campaign-format",
        campaign_file.read,
        lambda campaign: list(campaign.plan.runs()),
        ("campaign.yaml", "matrix.yaml", "matrix-consumers.yaml"),
    ),
    Format(
        "cluster",
        "cluster-format",
        cluster_file.read,
        lambda cluster: cluster.brokers,
        ("cluster.yaml",),
    ),
    Format(
        "subject",
        "subject-format",
        subject_file.read,
        lambda subject: bool(subject.command) is not bool(subject.build),
        ("subject.yaml",),
    ),
)


def files(kind: str) -> list[ParameterSet]:
    return [pytest.param(one, path, id=f"{one.name}-{path.stem}") for one in FORMATS for path in one.files(kind)]


EXAMPLES = [
    pytest.param(one, FIXTURES / "examples" / file, id=f"{one.name}-example")
    for one in FORMATS
    for file in one.examples
]


def is_accepted_by_schema(form: Format, path: Path) -> bool:
    schema = json.loads(form.published.read_text())
    return jsonschema.Draft202012Validator(schema).is_valid(yaml.safe_load(path.read_text()))


def assert_refused(form: Format, path: Path) -> None:
    """A usage error in one line, with the file's name and the text of its first line."""
    expected = path.read_text().splitlines()[0].removeprefix("# refused: ")
    with pytest.raises(UsageError) as raised:
        form.parse(path)
    message = str(raised.value)
    assert raised.value.exit_code is ExitCode.USAGE == 4
    assert path.name in message
    assert expected in message.replace(f"{path.parent}/", "")
    assert "\n" not in message


@pytest.mark.parametrize(("form", "path"), files("invalid"))
def test_schema_and_parser_refuse(form: Format, path: Path) -> None:
    """Schema and parser refuse, and the message states what was expected, where and what was seen."""
    assert not is_accepted_by_schema(form, path)
    assert_refused(form, path)


@pytest.mark.parametrize(("form", "path"), files("valid-fail"))
def test_parser_alone_refuses(form: Format, path: Path) -> None:
    """The schema accepts the file, but it contradicts itself or cannot be run."""
    assert is_accepted_by_schema(form, path)
    assert_refused(form, path)


@pytest.mark.parametrize(("form", "path"), [*files("valid-pass"), *EXAMPLES])
def test_schema_and_parser_accept_a_valid_file(form: Format, path: Path) -> None:
    """Schema and parser accept each valid file and the shipped example."""
    assert is_accepted_by_schema(form, path)
    assert form.is_sound(form.parse(path))


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_the_id_of_a_schema_has_the_version_of_its_format(form: Format) -> None:
    """The id of a published schema has the name and the version of its format."""
    assert json.loads(form.published.read_text())["$id"] == f"urn:rocketdiff:{form.name}:1"
