"""The matrix file and its refusals."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from rocketdiff.campaign.plan import PlannedRun
from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.core.resources import resource
from rocketdiff.matrix.file_format import read, schema
from tests.matrix.stories import write

EXAMPLE = "fixtures/examples/matrix.yaml"
HEAD = "format: 1\nbaseline: java:5.3.3\n"


def test_the_published_schema_is_the_one_of_the_types_and_takes_the_example() -> None:
    """The published schema is up to date and accepts the example."""
    published = resource("fixtures/schema/matrix-file-1.json").read_bytes()
    assert published == schema()
    jsonschema.validate(yaml.safe_load(resource(EXAMPLE).read_text()), json.loads(published))


def test_a_run_is_made_of_each_suite_and_of_all_globs_with_each_seed(tmp_path: Path) -> None:
    """Each suite, and all globs together, give a run for each seed; a subject may have its own."""
    plan = read(
        write(
            tmp_path / "m.yaml",
            f"{HEAD}suites: [quick, wire]\nscenarios: [delay/*]\nseeds: [1, 2]\nsubjects:\n"
            "  - java:4.7.1\n  - {subject: 'exec:./mine', suites: [all], seeds: [3], baseline: 'java:5.5.0'}\n",
        )
    )
    first, second = plan.entries
    assert (first.spec, first.baseline, second.spec, second.baseline) == (
        "java:4.7.1", "java:5.3.3", "exec:./mine", "java:5.5.0",
    )  # fmt: skip
    whats = [PlannedRun("quick"), PlannedRun("wire"), PlannedRun(None, ("delay/*",))]
    assert first.work == tuple(PlannedRun(one.suite, one.patterns, seed) for seed in (1, 2) for one in whats)
    assert second.work == (PlannedRun(None, (), 3),)


def test_the_first_run_of_every_subject_comes_before_the_second_of_any(tmp_path: Path) -> None:
    """Every subject's first run comes before any second run, so that a stopped matrix has many columns."""
    plan = read(write(tmp_path / "m.yaml", f"{HEAD}subjects: [java:4.7.1, java:4.9.8]\nseeds: [1, 2]\n"))
    assert [(column.spec, work.seed) for column, work in plan.runs()] == [
        ("java:4.7.1", 1), ("java:4.9.8", 1), ("java:4.7.1", 2), ("java:4.9.8", 2),
    ]  # fmt: skip


REFUSED = {
    "nothing": ("", "expected a mapping with format, baseline and subjects"),
    "list": ("[1, 2]", "expected a mapping with format, baseline and subjects"),
    "no format": ("baseline: java:5.3.3\nsubjects: [java:4.7.1]\n", "format: 1"),
    "later format": ("format: 2\nbaseline: java:5.3.3\nsubjects: [java:4.7.1]\n", "format: 1"),
    "no subjects": (f"{HEAD}subjects: []\n", "a list of 1 to 100 subjects"),
    "too many": (f"{HEAD}subjects: [{', '.join(f'java:{n}' for n in range(101))}]\n", "a list of 1 to 100 subjects"),
    "twice": (f"{HEAD}subjects: [java:4.7.1, 'java:4.7.1 ']\n", "each subject once at subjects[1]"),
    "unknown field": (f"{HEAD}subjects: [java:4.7.1]\nsuite: quick\n", "suites"),
    "unknown suite": (f"{HEAD}subjects: [java:4.7.1]\nsuites: [quik]\n", "a list of quick"),
    "suite of a subject": (f"{HEAD}subjects: [{{subject: java:4.7.1, suites: [quik]}}]\n", "subjects[0].suites"),
    "a number": (f"{HEAD}subjects: [4.7]\n", "a list of 1 to 100 subjects"),
    "negative seed": (f"{HEAD}subjects: [java:4.7.1]\nseeds: [-1]\n", "whole numbers from 0 on"),
    "tag": (f"{HEAD}subjects: !!python/object:os.system [java:4.7.1]\n", "the tag"),
    "bomb": (f"{HEAD}a: &a [{'x, ' * 200}]\nb: &b [{'*a, ' * 200}]\nsubjects: [{'*b, ' * 200}]\n", "values"),
    "control character": (f'{HEAD}subjects: ["java:4.7.1\\x07"]\n', "control characters"),
    "not YAML": (f"{HEAD}subjects: [java:4.7.1\n", "YAML"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_file_gets_one_message(name: str, tmp_path: Path) -> None:
    """A hostile file is a usage error in one line."""
    text, expected = REFUSED[name]
    with pytest.raises(UsageError) as raised:
        read(write(tmp_path / "m.yaml", text))
    message = str(raised.value)
    assert raised.value.exit_code is ExitCode.USAGE
    assert expected in message
    assert "m.yaml" in message
    assert "\n" not in message
