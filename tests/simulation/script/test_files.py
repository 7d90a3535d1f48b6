"""Script files by path."""

from pathlib import Path

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.simulation.script.files import load_scripts

STANDARD = "fixtures/simulation/scripts/retry-walk.json"


def test_a_standard_script_is_found_by_the_path_that_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A standard script is found by its printed path without a checkout; a local file has priority."""
    monkeypatch.chdir(tmp_path)
    (found,) = load_scripts([STANDARD])
    assert found.name == "retry-walk"
    own = tmp_path / STANDARD
    own.parent.mkdir(parents=True)
    own.write_text("{}")
    with pytest.raises(UsageError, match="format"):
        load_scripts([STANDARD])


def test_a_path_below_the_folder_of_standard_scripts_leads_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unknown standard script is refused like any missing file."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="a readable script file"):
        load_scripts(["fixtures/simulation/scripts/no-such.json"])
