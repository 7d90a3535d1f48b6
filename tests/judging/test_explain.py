"""`explain` shows besides the rules the previous send, and what brokers store of this one in both arms."""

from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.judging.explain import explain
from tests.analysis.synthetic import ArmRecords, Story, write_run


def _otherwise(arm: ArmRecords) -> None:
    """Send 1 is stored compressed and with a key, send 2 is lost."""
    changed = replace(arm.stored[1], sys_flag=769, properties='{"KEYS":"k","rocketdiff.id":"r/t/1"}')
    arm.stored[1:3] = [changed]


def test_the_stored_send_stands_beside_its_rules(tmp_path: Path) -> None:
    """`explain` shows what is stored of a send in both arms, without our id."""
    run = write_run(tmp_path, [Story(sends=4)], change=_otherwise)
    lines = list(explain(run.path, "candidate", "1", None))
    stored = lines.index("stored of it by python:5.3.3:")
    assert lines[stored + 1].endswith(", KEYS=k, system flag 769 (compressed, ZLIB)")
    assert lines[stored + 2] == "stored of it by java:5.3.3:"
    assert lines[stored + 3].endswith(", system flag 0")
    assert "no message of it is stored by python:5.3.3" in list(explain(run.path, "candidate", "2", None))


def test_the_send_before_it_is_shown(tmp_path: Path) -> None:
    """`explain` shows how the previous send ended, which decides the next queue."""
    run = write_run(tmp_path, [Story(sends=4)])
    lines = list(explain(run.path, "candidate", "3", None))
    before = lines.index("before it in thread 0, send 2:")
    assert lines[before + 1].startswith("  attempt 1 to queue ")
    assert lines[before + 2].startswith("  returned SEND_OK after ")
    assert not any("before it" in line for line in explain(run.path, "candidate", "0", None))


def test_a_place_that_is_no_number_is_refused(tmp_path: Path) -> None:
    """A send is named by its number."""
    run = write_run(tmp_path, [Story(sends=4)])
    with pytest.raises(UsageError, match="the number of a send"):
        list(explain(run.path, "candidate", "queue:broker-b/3", None))
