"""Typed rows come out in whole groups, each send with its own attempts."""

from collections.abc import Callable
from types import SimpleNamespace

from harness.core.events import Arm
from harness.core.outcome import Outcome, Reason
from harness.core.plan import SendKind
from harness.traces.reader import read_table, read_tables
from harness.traces.rows import thread_groups
from harness.traces.run_directory import RunDirectory
from harness.traces.schema import TableName


def test_groups_are_whole_and_in_order(complete_run: RunDirectory) -> None:
    """Two arms with two threads give four groups; every send has its attempts in order."""
    groups = list(
        thread_groups(read_tables(complete_run, TableName.SENDS), read_tables(complete_run, TableName.ATTEMPTS))
    )
    assert [(group.case, group.arm, group.thread) for group in groups] == [
        (1, Arm.BASELINE, 0),
        (1, Arm.BASELINE, 1),
        (1, Arm.CANDIDATE, 0),
        (1, Arm.CANDIDATE, 1),
    ]
    retried = groups[3].sends[0]
    assert (retried.send, retried.kind, retried.outcome) == (1, SendKind.PLAIN, Outcome.OK)
    assert [(a.attempt, a.broker, a.outcome, a.reason) for a in retried.attempts] == [
        (0, "broker-b", Outcome.FAILED, Reason.CONNECT),
        (1, "broker-a", Outcome.OK, Reason.NONE),
    ]
    assert all(group.unfinished == () for group in groups)


def test_attempts_of_a_send_that_never_returned_are_kept(
    new_run: Callable[..., RunDirectory], sample: SimpleNamespace
) -> None:
    """A subject that died inside a send leaves its attempt, even in a thread without any answered send."""
    run = new_run()
    case = run.case(1)
    case.begin(sample.PLAN, clock=sample.clock, origin_ns=sample.ORIGIN_NS)
    with case.recorder(Arm.BASELINE) as recorder:
        for line in (sample.attempt(0), sample.send(0), sample.attempt(2), sample.attempt(1)):
            recorder.line(line)
    run.seal_case(1)
    sends, attempts = (read_table(run, table, 1, Arm.BASELINE) for table in (TableName.SENDS, TableName.ATTEMPTS))
    groups = list(thread_groups(sends, attempts))
    assert [([s.send for s in g.sends], [send for send, _ in g.unfinished]) for g in groups] == [([0], [2]), ([], [1])]
