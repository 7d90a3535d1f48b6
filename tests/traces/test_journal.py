"""A journal can be read whatever a subject wrote; other lines are reported."""

from pathlib import Path

import pytest

from rocketdiff.core.errors import TraceError
from rocketdiff.traces.journal import read_arm_journal, read_fault_journal, read_plan_file
from tests.traces import conftest as sample


def test_records_are_filed_by_kind(tmp_path: Path) -> None:
    """Each record is filed by kind, and unknown fields are ignored."""
    path = tmp_path / "j"
    path.write_bytes(
        b"\n".join(
            [
                sample.line(
                    "hello", protocol=1, client="c", version="1", capabilities=[], pid=2, clock_ns=3, extra=True
                ),
                sample.line("ready", clock_ns=4),
                sample.line("route", route=1, at_ns=5, queues=[["broker-a", 0]]),
                sample.attempt(0),
                sample.send(0),
                sample.line("failed", stage="send", message="gave up"),
                sample.line("done", sends=1),
                b"",
            ]
        )
    )
    journal = read_arm_journal(path)
    assert journal.hello is not None and journal.hello.client == "c"
    assert journal.routes[0].queues == (("broker-a", 0),)
    assert (len(journal.attempts), len(journal.sends)) == (1, 1)
    assert journal.done and journal.failure == "send: gave up"
    assert journal.troubles == []


def test_torn_last_line_is_left_out(tmp_path: Path) -> None:
    """A last line without its end, cut by a crash, is ignored."""
    path = tmp_path / "j"
    path.write_bytes(sample.send(0) + b"\n" + sample.send(1))
    journal = read_arm_journal(path)
    assert [record.send for record in journal.sends] == [0]
    assert journal.troubles == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"Exception in thread main", "line 1 is not a record"),
        (b"[1, 2]", "Expected `object`"),
        (b'{"type": "gossip"}', "unknown type 'gossip'"),
        (b'{"type": "done"}', "done counts neither sends nor calls"),
        (b'{"type": "done", "sends": "four"}', "Expected `int"),
        (b"\xff\xfe", "line 1 is not a record"),
        (
            b'{"type": "route", "route": 4294967296, "at_ns": 0, "queues": []}',
            "route is too large",
        ),
    ],
)
def test_line_that_is_no_record_is_a_trouble(tmp_path: Path, line: bytes, message: str) -> None:
    """A line that is not a record becomes a trouble with its line number."""
    path = tmp_path / "j"
    path.write_bytes(line + b"\n" + b'{"type": "done", "sends": 0}\n')
    journal = read_arm_journal(path)
    assert len(journal.troubles) == 1
    assert message in journal.troubles[0]
    assert journal.done


def test_last_record_of_an_episode_stands(tmp_path: Path) -> None:
    """The last record of a fault counts, because it is written again when healed."""
    path = tmp_path / "f"
    fault = '{"episode": %d, "kind": "pause", "node": "broker-b", "inject_ns": 1, "injected_ns": 2, "proven_ns": 3%s}\n'
    path.write_text(fault % (2, "") + fault % (1, "") + fault % (1, ', "heal_ns": 7, "healed_ns": 8'))
    records = read_fault_journal(path)
    assert [(record.episode, record.heal_ns) for record in records] == [(1, 7), (2, None)]


def test_damaged_plan_is_refused(tmp_path: Path) -> None:
    """An unreadable plan is refused, because the harness wrote it, not a subject."""
    path = tmp_path / "p"
    path.write_bytes(b'{"type": "plan", "send": 0}\n')
    with pytest.raises(TraceError, match="line 1"):
        read_plan_file(path)
