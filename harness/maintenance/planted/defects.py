"""
Planted regressions: each changes one send consistently in one arm's tables.

The oracle must find by itself what `shows` names.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rocketdiff.traces.schema import TableName

Rows = list[dict[str, Any]]
Tables = dict[TableName, Rows]

CALM, ASYNC, PAUSED = "round-robin/calm", "async/calm", "fault-latency/pause-one-of-two"


@dataclass(frozen=True)
class Defect:
    """One change of a scenario's tables, and the check and signature that must find it."""

    scenario: str
    check: str
    signature: str
    alter: Callable[[Tables, int], None]

    @property
    def shows(self) -> tuple[str, str, str]:
        """As a record names it."""
        return self.scenario, self.check, self.signature


def unhindered_sends(tables: Tables) -> list[int]:
    """Acknowledged sends between the first tenth and the first quarter, where a pause begins."""
    sends = tables[TableName.SENDS]
    return [row["send"] for row in sends[len(sends) // 10 : len(sends) // 4] if row["outcome"] == "ok"]


def _loses(tables: Tables, struck: int) -> None:
    tables[TableName.STORED] = [row for row in tables[TableName.STORED] if row["send"] != struck]


def _stores_twice(tables: Tables, struck: int) -> None:
    (one,) = _of(tables, TableName.STORED, struck)
    tables[TableName.STORED].append(one | {"queue_offset": _end(tables, one["broker"], one["queue_id"])})


def _takes_another_queue(tables: Tables, struck: int) -> None:
    """Move the message by two queues of its broker, to the end."""
    (send,) = _of(tables, TableName.SENDS, struck)
    queue = (send["queue_id"] + 2) % 4
    end = _end(tables, send["broker"], queue)
    for table in (TableName.SENDS, TableName.ATTEMPTS, TableName.STORED):
        for row in _of(tables, table, struck):
            row |= {"queue_id": queue, **({"queue_offset": end} if "queue_offset" in row else {})}


def _fails_for_no_reason(tables: Tables, struck: int) -> None:
    """Fail a send that the broker has acknowledged."""
    (send,) = _of(tables, TableName.SENDS, struck)
    send |= {"outcome": "error", "reason": "client", "error": "MQClientException"}
    send |= dict.fromkeys(("status", "broker", "queue_id", "queue_offset"))


def _alters_the_body(tables: Tables, struck: int) -> None:
    for row in _of(tables, TableName.STORED, struck):
        row["body_digest"] = "0" * 16


def _calls_back_twice(tables: Tables, struck: int) -> None:
    for row in _of(tables, TableName.SENDS, struck):
        row["callbacks"] = 2


def _of(tables: Tables, table: TableName, send: int) -> Rows:
    return [row for row in tables[table] if row["send"] == send]


def _end(tables: Tables, broker: str, queue: int) -> int:
    """Offset of a queue's next message."""
    rows = tables[TableName.STORED]
    return 1 + max(int(row["queue_offset"]) for row in rows if (row["broker"], row["queue_id"]) == (broker, queue))


DEFECTS: tuple[Defect, ...] = (
    Defect(CALM, "loss", "loss.acknowledged-not-stored", _loses),
    Defect(CALM, "duplication", "duplication.stored-more-than-attempted", _stores_twice),
    Defect(CALM, "queue-choice", "queue.out-of-turn/first", _takes_another_queue),
    Defect(CALM, "error-kind", "error.other-class/expected=none/seen=MQClientException/first", _fails_for_no_reason),
    Defect(ASYNC, "loss", "loss.acknowledged-not-stored", _loses),
    Defect(ASYNC, "duplication", "duplication.stored-more-than-attempted", _stores_twice),
    Defect(ASYNC, "content", "content.body-changed", _alters_the_body),
    Defect(ASYNC, "callbacks", "callbacks.called-more-than-once", _calls_back_twice),
    Defect(PAUSED, "loss", "loss.acknowledged-not-stored", _loses),
    Defect(PAUSED, "duplication", "duplication.stored-more-than-attempted", _stores_twice),
)
