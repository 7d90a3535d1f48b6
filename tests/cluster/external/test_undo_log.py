"""The undo log is on disk before each action; the next process executes it."""

import os
import signal
import time
from pathlib import Path

import pytest

from rocketdiff.cluster.external import undo_log
from rocketdiff.cluster.external.cleanup import Guardian, clean
from rocketdiff.cluster.external.undo_log import (
    DeleteGroup,
    DeleteTopic,
    UndoLog,
    abandoned_logs,
    active_runs,
    take_over,
)
from rocketdiff.core.errors import ClusterError
from tests.cluster.external.killed_runs import RUN_OF_LOG, await_undone, died, leave_log, resume, run_of
from tests.cluster.external.owned import PREFIX, Owned, retry_at_once


def topic(owned: Owned, name: str) -> DeleteTopic:
    brokers = tuple(broker.address for broker in owned.brokers.values())
    return DeleteTopic(name, brokers, (owned.name_server.address,))


def group(owned: Owned, name: str) -> DeleteGroup:
    brokers = tuple(broker.address for broker in owned.brokers.values())
    return DeleteGroup(name, brokers, (owned.name_server.address,))


def test_pending_entries_are_found_by_others_when_their_run_is_gone(home: Path) -> None:
    """Entries are abandoned only after their run's end; undone ones are not pending. Only the user can read commands."""
    log = UndoLog.create(RUN_OF_LOG)
    assert log.path.stat().st_mode & 0o777 == 0o600
    first, second = (DeleteTopic(name, ("127.0.0.1:2",), ("127.0.0.1:1",)) for name in ("x-1", "x-2"))
    for entry in (first, second):
        log.record(entry)
    log.done(first)
    assert list(abandoned_logs()) == []
    assert list(active_runs()) == [RUN_OF_LOG]
    died(log)
    assert [(left.run, left.pending) for left in abandoned_logs()] == [(RUN_OF_LOG, (second,))]
    assert list(active_runs()) == []


def test_an_entry_after_an_incomplete_line_is_read(home: Path) -> None:
    """An incomplete line, whose action had not started, is ignored; an entry after it is read, so none stays pending."""
    first, second = DeleteTopic("x-1", (), ()), DeleteTopic("x-2", (), ())
    with leave_log(first, second).path.open("ab") as file:
        file.write(b'{"type":"topic","na')
    (left,) = abandoned_logs()
    assert left.pending == (first, second)
    again = take_over(left.path, wait=False)
    assert again is not None
    again.done(first)
    died(again)
    assert [left.pending for left in abandoned_logs()] == [(second,)]


@pytest.mark.parametrize("damage", [b"\0\0\0\0", b"", b'{"type":"owner"}\n', b"\xff\n", b"x\n" * 3])
def test_an_unreadable_undo_log_is_an_error(home: Path, damage: bytes) -> None:
    """An unreadable undo log is an error with exit code 69 and stays."""
    home.mkdir()
    (home / "b.ndjson").write_bytes(damage)
    output: list[object] = []
    with pytest.raises(ClusterError, match=r"a readable undo log .*b\.ndjson") as raised:
        clean(output.append)
    assert raised.value.exit_code == 69
    assert output == []
    assert (home / "b.ndjson").read_bytes() == damage


def test_zeros_after_an_entry_leave_it_pending(home: Path) -> None:
    """Zero bytes after an entry are an error: a lost line may have marked it as done."""
    log = leave_log(DeleteTopic("x-1", (), ()))
    with log.path.open("ab") as file:
        file.write(bytes(64))
    with pytest.raises(ClusterError, match="line 3 cannot be read"):
        clean(lambda _: None)
    assert log.path.exists()


def test_a_folder_in_the_place_of_a_log_does_not_hide_the_others(home: Path) -> None:
    """A folder named like a log does not prevent the cleaning of others."""
    (home / "a.ndjson").mkdir(parents=True)
    leave_log()
    with pytest.raises(ClusterError, match="Is a directory"):
        clean(lambda _: None)
    assert [path.name for path in home.iterdir()] == ["a.ndjson"]


def test_a_log_without_pending_entries_is_removed(home: Path) -> None:
    """A log without pending entries is removed, also after a kill."""
    UndoLog.create(RUN_OF_LOG).close()
    assert not list(home.iterdir())
    leave_log()
    assert [left.pending for left in abandoned_logs()] == [()]
    assert not list(home.iterdir())


def test_clean_undoes_and_reports_each_entry(owned: Owned, home: Path) -> None:
    """``clean`` resumes brokers before it deletes topics, reports each entry and keeps foreign topics."""
    for broker in owned.brokers.values():
        broker.topics |= {f"{PREFIX}-left": 4, f"{PREFIX}-of-another-run": 4}
    flag = owned.brokers["mq-blue"].flag
    flag.touch()
    leave_log(topic(owned, f"{PREFIX}-left"), resume(owned, f"rm {flag}"))
    output: list[str] = []
    clean(output.append)
    assert output == ["cluster unit: resume mq-blue: done", f"cluster unit: topic {PREFIX}-left: done"]
    assert owned.topics == {f"{PREFIX}-of-another-run"}
    output.clear()
    clean(output.append)
    assert output == ["no undo action is pending"]


def test_clean_deletes_groups_and_keeps_foreign_ones(owned: Owned, home: Path) -> None:
    """``clean`` deletes a killed run's group, its offsets and both its topics, also where a broker has none of them."""
    for broker in owned.brokers.values():
        broker.join(f"{PREFIX}-of-another-run")
    owned.brokers["mq-red"].join(f"{PREFIX}-left")
    leave_log(group(owned, f"{PREFIX}-left"))
    output: list[str] = []
    clean(output.append)
    assert output == [f"cluster unit: group {PREFIX}-left: done"]
    assert owned.groups == {f"{PREFIX}-of-another-run"}
    assert owned.topics == {f"{prefix}{PREFIX}-of-another-run" for prefix in ("%RETRY%", "%DLQ%")}


def test_a_group_that_a_broker_keeps_stays_pending(owned: Owned, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group that one broker does not delete stays pending; it is gone from the other."""
    retry_at_once(monkeypatch)
    for broker in owned.brokers.values():
        broker.join(f"{PREFIX}-left")
    owned.brokers["mq-red"].refuse()
    leave_log(group(owned, f"{PREFIX}-left"))
    with pytest.raises(ClusterError, match=f"group {PREFIX}-left is left over: {owned.brokers['mq-red'].address}"):
        clean(lambda _: None)
    assert not owned.brokers["mq-blue"].groups
    assert not owned.brokers["mq-blue"].topics
    assert len(list(home.iterdir())) == 1


def test_a_failed_undo_is_reported_and_stays_pending(owned: Owned, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be undone is reported and stays pending; other servers are cleaned."""
    retry_at_once(monkeypatch)
    for broker in owned.brokers.values():
        broker.topics[f"{PREFIX}-left"] = 4
    owned.brokers["mq-red"].refuse()
    leave_log(topic(owned, f"{PREFIX}-left"))
    with pytest.raises(ClusterError, match=f"topic {PREFIX}-left is left over: {owned.brokers['mq-red'].address}"):
        clean(lambda _: None)
    assert not owned.brokers["mq-blue"].topics
    assert len(list(home.iterdir())) == 1


def test_clean_leaves_a_living_run_alone(home: Path) -> None:
    """``clean`` reports a living run and does not undo it."""
    log = UndoLog.create(RUN_OF_LOG)
    log.record(DeleteTopic("x", (), ()))
    output: list[str] = []
    clean(output.append)
    assert "a run is active (runs/x)" in output[0]
    assert log.pending
    died(log)


def test_kill_9_of_a_run_resumes_its_broker_and_deletes_its_topics(owned: Owned, home: Path) -> None:
    """After ``kill -9`` of a run its guardian resumes the broker and deletes topics."""
    flag = owned.brokers["mq-blue"].flag
    run = run_of(owned, home, owned.described())
    assert run.stdout is not None
    assert run.stdout.readline() == "paused\n"
    assert flag.exists()
    assert owned.topics
    run.kill()
    await_undone(run, home)
    assert not flag.exists()
    assert not owned.topics


def test_the_guardian_is_not_reached_by_signals_and_ends_when_it_is_let_go(home: Path) -> None:
    """The guardian has its own session, which Ctrl-C does not reach; close() ends it."""
    log = UndoLog.create(RUN_OF_LOG)
    guardian = Guardian(log.path)
    time.sleep(0.5)
    assert os.getsid(guardian.pid) != os.getsid(0)
    guardian.close()
    guardian.close()
    with pytest.raises(ProcessLookupError):
        os.kill(guardian.pid, signal.SIG_DFL)
    log.close()
    assert undo_log.logs_folder() == home


def test_a_log_of_an_earlier_version_is_performed(owned: Owned, home: Path) -> None:
    """A log of version 0.1.0 is executed; its completed entries are not."""
    flag = owned.brokers["mq-blue"].flag
    flag.touch()
    owned.brokers["mq-red"].topics = {f"{PREFIX}-left": 4, f"{PREFIX}-done": 4}
    red, blue = (owned.brokers[name].address for name in ("mq-red", "mq-blue"))
    name_server = owned.name_server.address
    home.mkdir()
    (home / "unit-7-0.ndjson").write_text(
        f'{{"type":"owner","cluster":"unit","name_servers":["{name_server}"],"run_folder":"runs/x"}}\n'
        f'{{"type":"topic","name":"{PREFIX}-left","brokers":["{red}","{blue}"],"name_servers":["{name_server}"]}}\n'
        f'{{"type":"topic","name":"{PREFIX}-done","brokers":["{red}"],"name_servers":["{name_server}"]}}\n'
        f'{{"type":"action","node":"mq-blue","role":"broker","address":"{blue}","probe_topic":"t","verb":"resume",'
        f'"words":["rm","{flag}"],"folder":"/","timeout_s":5.0}}\n'
        '{"type":"begun","key":"resume mq-blue","group":1,"started_ticks":1}\n'
        '{"type":"ended","key":"resume mq-blue"}\n'
        f'{{"type":"paid","key":"topic {PREFIX}-done"}}\n'
    )
    output: list[str] = []
    clean(output.append)
    assert output == ["cluster unit: resume mq-blue: done", f"cluster unit: topic {PREFIX}-left: done"]
    assert not flag.exists()
    assert owned.brokers["mq-red"].topics == {f"{PREFIX}-done": 4}
    assert not list(home.iterdir())
