"""`--last-failed` chooses what did not conform in the newest judged run."""

import shutil
from pathlib import Path

import msgspec
import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.core.resources import resource
from rocketdiff.report.document import load
from rocketdiff.run.last_failed import failed_scenarios, last_failed

SAMPLE = resource("reports/sample/report.json")
FAILED = (
    "fault-latency/kill-one-of-two",
    "fault-latency/pause-both-of-two",
    "fault-latency/pause-one-of-two",
    "round-robin/repeated-pauses",
)
"""Those of the sample, in order of the run; its calm cases conform."""


def test_the_newest_run_counts(tmp_path: Path) -> None:
    """Folders are named by their time."""
    for name in ("20261101-000000-1", "20261102-000000-1"):
        (tmp_path / name).mkdir()
        shutil.copy(SAMPLE, tmp_path / name)
    assert last_failed(tmp_path) == FAILED
    newest = tmp_path / "20261102-000000-1" / "report.json"
    conforming = msgspec.structs.replace(load(newest), results=(), clusters=())
    newest.write_bytes(msgspec.json.encode(conforming))
    assert failed_scenarios(load(newest)) == ()
    with pytest.raises(UsageError, match="a scenario that did not conform"):
        last_failed(tmp_path)


def test_no_judged_run(tmp_path: Path) -> None:
    """A typing error in --out must not run everything."""
    (tmp_path / "20261101-000000-1").mkdir()
    with pytest.raises(UsageError, match="a judged run below"):
        last_failed(tmp_path)
