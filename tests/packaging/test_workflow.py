"""The project's own workflow runs `.ci/run`, with the history that the check of commit subjects reads."""

from pathlib import Path
from typing import Any

import pytest
import yaml

FORGE = Path(__file__).parents[2] / ".github"
WORKFLOWS = sorted((FORGE / "workflows").glob("*.yml"))
TEMPLATES = sorted((FORGE / "ISSUE_TEMPLATE").glob("*.md"))


@pytest.fixture(scope="module")
def steps() -> list[dict[str, Any]]:
    (job,) = yaml.safe_load((FORGE / "workflows" / "ci.yml").read_text())["jobs"].values()
    return list(job["steps"])


def test_the_workflow_runs_what_ci_runs(steps: list[dict[str, Any]]) -> None:
    """The last step calls `.ci/run`, which is executable."""
    assert steps[-1]["run"] == ".ci/run"
    assert (FORGE.parent / ".ci" / "run").stat().st_mode & 0o100


def test_the_workflow_fetches_the_history(steps: list[dict[str, Any]]) -> None:
    """The checkout has all commits of a change, and git may read them."""
    (checkout,) = (step["with"] for step in steps if "checkout" in step.get("uses", ""))
    assert checkout == {"fetch-depth": 0}
    assert any("safe.directory" in step.get("run", "") for step in steps)


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_a_workflow_may_only_read(file: Path) -> None:
    """No workflow can write to the repository."""
    assert yaml.safe_load(file.read_text())["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name)
def test_an_issue_template_has_name_and_purpose(file: Path) -> None:
    """A forge lists only templates whose head has `name` and `about`."""
    _, head, body = file.read_text().split("---\n", 2)
    assert set(yaml.safe_load(head)) == {"name", "about", "labels"}
    assert body.strip()


def test_files_for_the_forge_name_no_address() -> None:
    """Workflows and templates name no address; a forge adds its own."""
    texts = [file.read_text() for file in FORGE.rglob("*") if file.is_file()]
    assert len(texts) >= 6
    assert not [text for text in texts if "://" in text]
