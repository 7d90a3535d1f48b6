"""Streaming the sends of a sealed case."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.analysis.case_trace import read_case
from rocketdiff.analysis.sending.sends import sends_of
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import TraceError
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.synthetic import ORIGIN_NS, ArmRecords, Story

NewRun = Callable[..., RunDirectory]


@pytest.mark.parametrize("batch_rows", [1, 7, 1_000])
def test_batches_do_not_show_in_the_stream(new_run: NewRun, batch_rows: int) -> None:
    """The stream does not depend on the batch size."""
    trace = read_case(new_run([Story(threads=2)]), 1)
    whole = list(sends_of(trace, Arm.BASELINE, 1_000_000))
    assert list(sends_of(trace, Arm.BASELINE, batch_rows)) == whole
    assert [send.order for send in whole] == [(n % 2, n) for n in sorted(range(200), key=lambda n: (n % 2, n))]


def test_a_send_that_never_returned_keeps_its_attempts(new_run: NewRun) -> None:
    """A send without a row, because the subject died, keeps its attempt."""

    def die(reported: ArmRecords) -> None:
        reported.sends = [send for send in reported.sends if send.send != 3]

    trace = read_case(new_run(change=die), 1)
    unfinished = [send for send in sends_of(trace, Arm.CANDIDATE) if send.row is None]
    assert [(send.send, len(send.attempts)) for send in unfinished] == [(3, 1)]


def test_faults_and_routes_are_read(new_run: NewRun) -> None:
    """One pause and one publish list of eight queues are read."""
    trace = read_case(new_run(), 1)
    assert [(fault.kind, fault.node, fault.injected_ns) for fault in trace.faults] == [
        (FaultKind.PAUSE, "broker-b", ORIGIN_NS + 1_000_000_000)
    ]
    assert trace.routes(Arm.CANDIDATE) == {1: Story().queues}


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
