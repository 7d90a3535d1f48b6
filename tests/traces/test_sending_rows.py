"""Each record becomes one row, and contradictions are reported."""

from typing import TypeVar

import msgspec
import pytest

from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Attempt, RouteSeen, Send
from rocketdiff.core.sends.outcome import Outcome
from rocketdiff.traces.journal import ArmJournal
from rocketdiff.traces.sending.rows import arm_rows
from tests.traces import conftest as sample

OK, FAILED, UNKNOWN = Outcome.OK, Outcome.FAILED, Outcome.UNKNOWN

Told = TypeVar("Told")


def ended(line: bytes, kind: type[Told]) -> Told:
    return msgspec.convert(msgspec.json.decode(line), kind)


def journal_of(attempts: list[bytes], sends: list[bytes]) -> ArmJournal:
    return ArmJournal(attempts=[ended(line, Attempt) for line in attempts], sends=[ended(line, Send) for line in sends])


def test_rows_join_plan_and_answer() -> None:
    """A send's row joins its plan and answer, with the due time on the host's clock."""
    rows = arm_rows(3, Arm.CANDIDATE, sample.PLAN.sends, sample.ORIGIN_NS, journal_of([], [sample.send(2)]))
    row = {name: values[0] for name, values in rows.sends.items()}
    assert (row["case"], row["arm"], row["thread"], row["send"]) == (3, 1, 0, 2)
    assert row["due_ns"] == sample.ORIGIN_NS + 2_000_000
    assert (row["kind"], row["argument"], row["body_bytes"]) == ("plain", 2, 128)
    assert (row["outcome"], row["reason"]) == ("ok", "none")
    assert rows.unanswered == 3


@pytest.mark.parametrize(
    ("sends", "message"),
    [
        ([0, 0], "the answer to send 0 in thread 0: reported before"),
        ([0, 9], "the answer to send 9 in thread 1: no such send was planned"),
    ],
)
def test_a_second_or_unplanned_answer_is_a_trouble(sends: list[int], message: str) -> None:
    """A second or unplanned answer is a trouble and not a row."""
    lines = [sample.send(number) for number in sends]
    rows = arm_rows(1, Arm.BASELINE, sample.PLAN.sends, 0, journal_of([], lines))
    assert rows.sends["send"] == [0]
    assert rows.troubles == (message,)


def test_an_attempt_from_the_wrong_thread_is_a_trouble() -> None:
    """An attempt from another thread than planned is a trouble and not a row."""
    rows = arm_rows(1, Arm.BASELINE, sample.PLAN.sends, 0, journal_of([sample.attempt(0, thread=1)], []))
    assert rows.attempts["send"] == []
    assert rows.troubles == ("attempt 0 of send 0 in thread 1: planned for thread 0",)


def test_a_route_reported_twice_keeps_its_first_queues() -> None:
    """A route reported twice keeps its first queue list."""
    journal = ArmJournal(routes=[RouteSeen(1, 5, (("broker-a", 0),)), RouteSeen(1, 6, ())])
    rows = arm_rows(1, Arm.BASELINE, sample.PLAN.sends, 0, journal)
    assert rows.routes["queues"] == [[{"broker": "broker-a", "queue_id": 0}]]
    assert rows.troubles == ("route 1: reported before",)


def test_all_troubles_are_counted_and_twenty_listed() -> None:
    """Of 100 troubles all are counted and 20 are listed."""
    rows = arm_rows(1, Arm.BASELINE, sample.PLAN.sends, 0, journal_of([], [sample.send(0)] * 101))
    assert rows.trouble_count == 100
    assert len(rows.troubles) == 20
