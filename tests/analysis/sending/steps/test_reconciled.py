"""Sends compared with stored messages, on literal rows."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketdiff.analysis.sending.send_view import Copy, Fate, FaultContext, Phase, SendView
from rocketdiff.analysis.sending.steps import reconciled as reconciled_module
from rocketdiff.analysis.sending.steps.reconciled import StoredCopies, Stray, reconciled
from rocketdiff.core.arm import Arm
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.sealed_file import sorted_table
from tests.analysis.builders import made, tried

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


@pytest.mark.parametrize("few", [2, 3])
def test_copies_of_a_send_are_found_in_queue_order(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies are found in queue order, of three at once or one by one; a row without a send number is a stray."""
    monkeypatch.setattr(reconciled_module, "FEW", few)
    stored = StoredCopies(sorted_table(TableName.STORED, ROWS))
    assert stored.of(5) == (
        Copy("broker-a", 0, 0, 10, body_ok=True, **CARRIED),
        Copy("broker-b", 0, 9, 30, body_ok=False, **CARRIED),
    )
    assert stored.of(7) == (Copy("broker-a", 0, 1, 20, True, 2, '{"KEYS": "k"}', "d7", 0, 1),)
    assert stored.of(6) == ()
    assert (stored.rows, stored.foreign) == (4, 1)
    assert list(stored.strays()) == [Stray("broker-a", 3, 0, 20)]


@pytest.mark.parametrize("number", [7, -1])
def test_an_unplanned_send_is_a_stray(number: int) -> None:
    """A message of an unplanned send is a stray."""
    rows = ROWS | {"send": [5, None, number, 5]}
    stored = StoredCopies(sorted_table(TableName.STORED, rows), planned=7)
    assert (stored.of(number), stored.foreign) == ((), 2)
    assert list(stored.strays()) == [Stray("broker-a", 0, 1, 20), Stray("broker-a", 3, 0, 20)]


def test_empty_queues_hold_no_copies() -> None:
    """Empty queues that were read back hold no copies."""
    stored = StoredCopies(sorted_table(TableName.STORED, {name: [] for name in ROWS}))
    assert (stored.of(0), stored.rows, stored.foreign) == ((), 0, 0)


def stored(**copies: list[Copy]) -> StoredCopies:
    return cast(StoredCopies, SimpleNamespace(of=lambda send: tuple(copies.get(f"send{send}", ()))))


HERE = Copy("broker-a", 0, 7, 0, True)


@pytest.mark.parametrize(
    ("side", "copies", "kept", "fate"),
    [
        (made(Arm.CANDIDATE, 0, tried(0, 1)), [HERE], [], Fate.STORED),
        (made(Arm.CANDIDATE, 0, tried(0, 1)), [], [HERE], Fate.STORED),
        (made(Arm.CANDIDATE, 0, tried(0, 1)), [], [], Fate.LOST),
        (made(Arm.CANDIDATE, 0, tried(0, 1, "RemotingTimeoutException")), [HERE], [], Fate.GHOST),
        (made(Arm.CANDIDATE, 0, tried(0, 1, "RemotingConnectException")), [], [], Fate.ABSENT),
        (made(Arm.CANDIDATE, 0, tried(0, 1, "MQBrokerException")), [], [HERE], Fate.GHOST),
    ],
)
def test_stored_copies_make_the_fate(side: SendView, copies: list[Copy], kept: list[Copy], fate: Fate) -> None:
    """Copies in the topic or held back decide the fate; without reading back there is none."""
    (one,) = reconciled([replace(side, copies=None, fate=None)], stored(send0=copies), stored(send0=kept))
    assert (one.copies, one.kept, one.fate) == (tuple(copies), tuple(kept), fate)
    (one,) = reconciled([replace(side, copies=None, fate=None)], stored(send0=copies))
    assert (one.copies, one.kept) == (tuple(copies), ())
    (one,) = reconciled([replace(side, copies=None, fate=None)], None, stored(send0=kept))
    assert (one.copies, one.kept, one.fate) == (None, (), None)


def test_a_call_that_never_returned_cannot_be_lost() -> None:
    """A send that never returned is a ghost, not lost."""
    contexts = (FaultContext(Phase.PAUSED), FaultContext(Phase.AFTER))
    attempts = (tried(5, 6), tried(7, 8, attempt=1))
    traced = SendView(Arm.CANDIDATE, 3, 4, None, attempts, contexts=contexts)
    (one,) = reconciled([traced], stored(send4=[HERE]))
    assert (one.fate, one.began_ns, one.arm, one.thread, one.send) == (Fate.GHOST, 5, Arm.CANDIDATE, 3, 4)
    assert [one.phase_of(n) for n in (None, 0, 1, 2)] == [Phase.CALM, Phase.PAUSED, Phase.AFTER, Phase.CALM]
    assert made(Arm.CANDIDATE, 0, tried(5, 6), start_ns=1).began_ns == 1
