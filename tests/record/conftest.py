"""Small runs and records in a private folder."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.record.commands import add, judge
from rocketdiff.record.ingest import folders_of
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.work import Here
from tests.analysis.synthetic import Change, write_run
from tests.record.builders import GUARDS, SCENARIO, STORY, NewRun


@pytest.fixture
def new_run(tmp_path: Path) -> NewRun:
    """Write a run of one small case; ``change`` modifies the candidate's reports."""

    def written(
        name: str = "run-1", *, change: Change | None = None, folder: str = "runs", candidate: str = "python:5.3.3"
    ) -> Path:
        run = write_run(tmp_path / folder, [STORY], run=name, change=change, candidate=candidate)
        run.change(1, lambda entry: replace(entry, scenario_text=SCENARIO, guards=GUARDS))
        return run.path

    return written


@pytest.fixture
def place(tmp_path: Path) -> RecordPlace:
    return RecordPlace.named(str(tmp_path / "record"))


@pytest.fixture
def recorded(place: RecordPlace) -> Callable[..., RecordPlace]:
    def made(*runs: Path) -> RecordPlace:
        add(place, folders_of(runs), Here())
        judge(place, Here(), print_line=lambda _: None)
        return place

    return made
