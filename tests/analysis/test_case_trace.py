"""Reading the tables of a sealed case."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.analysis.case_trace import read_case
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import TraceError
from rocketdiff.traces.run_directory import RunDirectory

NewRun = Callable[..., RunDirectory]


def test_queues_that_were_not_read_back_are_no_empty_table(new_run: NewRun) -> None:
    """Queues not read back give no table, not an empty one."""
    run = new_run(complete=False)
    (run.path / "stored" / "01-candidate.parquet").unlink()
    trace = read_case(run, 1)
    assert trace.stored(Arm.CANDIDATE) is None and trace.stored(Arm.BASELINE) is not None


def test_a_file_of_another_run_is_refused(new_run: NewRun) -> None:
    """A table file of another run is refused."""
    run, other = new_run(), new_run(run="run-2")
    name = "attempts/01-baseline.parquet"
    (run.path / name).write_bytes((other.path / name).read_bytes())
    stolen = {name: other.entry(1).files[name]}
    run.change(1, lambda entry: replace(entry, files=entry.files | stolen))
    with pytest.raises(TraceError, match="copied from another run"):
        read_case(run, 1)
