"""Sends compared with stored messages, on literal rows."""

from typing import Any

import pytest

from rocketdiff.analysis.sending.send_view import Copy, Fate
from rocketdiff.analysis.sending.steps.reconciled import StoredCopies, Stray, fate_of
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.sealed_file import sorted_table

ROWS: dict[str, list[object]] = {
    "case": [1, 1, 1, 1],
    "arm": [0, 0, 0, 0],
    "broker": ["broker-b", "broker-a", "broker-a", "broker-a"],
    "queue_id": [0, 3, 0, 0],
    "queue_offset": [9, 0, 1, 0],
    "send": [5, None, 7, 5],
    "store_timestamp_ms": [30, 20, 20, 10],
    "born_timestamp_ms": [1, 1, 1, 1],
    "body_ok": [False, True, True, True],
    "flag": [0, None, 2, 0],
    "sys_flag": [0, 0, 0, 0],
    "properties": ["{}", None, '{"KEYS": "k"}', "{}"],
    "body_digest": ["d5", None, "d7", "d5"],
}


CARRIED: Any = {"flag": 0, "properties": "{}", "body_digest": "d5", "sys_flag": 0, "born_timestamp_ms": 1}


def test_copies_of_a_send_are_found_in_queue_order() -> None:
    """Copies are found in queue order; a row without a send number is a stray."""
    stored = StoredCopies(sorted_table(TableName.STORED, ROWS))
    assert stored.of(5) == (
        Copy("broker-a", 0, 0, 10, body_ok=True, **CARRIED),
        Copy("broker-b", 0, 9, 30, body_ok=False, **CARRIED),
    )
    assert stored.of(7) == (Copy("broker-a", 0, 1, 20, True, 2, '{"KEYS": "k"}', "d7", 0, 1),)
    assert stored.of(6) == ()
    assert (stored.rows, stored.foreign) == (4, 1)
    assert list(stored.strays()) == [Stray("broker-a", 3, 0, 20)]


def test_an_unplanned_send_is_a_stray() -> None:
    """A message of an unplanned send is a stray."""
    stored = StoredCopies(sorted_table(TableName.STORED, ROWS), planned=7)
    assert (stored.of(7), stored.foreign) == ((), 2)
    assert list(stored.strays()) == [Stray("broker-a", 0, 1, 20), Stray("broker-a", 3, 0, 20)]


def test_empty_queues_hold_no_copies() -> None:
    """Empty queues that were read back hold no copies."""
    stored = StoredCopies(sorted_table(TableName.STORED, {name: [] for name in ROWS}))
    assert (stored.of(0), stored.rows, stored.foreign) == ((), 0, 0)


@pytest.mark.parametrize(
    ("succeeded", "is_stored", "fate"),
    [
        (True, True, Fate.STORED),
        (True, False, Fate.LOST),
        (False, True, Fate.GHOST),
        (False, False, Fate.ABSENT),
    ],
)
def test_fate_follows_from_two_facts(succeeded: bool, is_stored: bool, fate: Fate) -> None:
    """Only an acknowledged message can be lost."""
    assert fate_of(succeeded, is_stored) is fate
