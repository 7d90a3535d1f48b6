"""
What the brokers hold of every send, read after everything was healed: the truth "ok" and "unknown" are settled against.

In: a send and the table ``stored`` of its arm. Out: the copies of its message, and what that makes of the send.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa

from rocketdiff.analysis.steps.attempts_in_context import Context, Phase
from rocketdiff.analysis.steps.replayed import JudgedSend
from rocketdiff.core.events import Arm
from rocketdiff.core.outcome import Outcome
from rocketdiff.traces.rows import AttemptRow, SendRow
from rocketdiff.traces.statement import integers


class Fate(StrEnum):
    """What became of a message; GHOST is one that is there although its send did not succeed."""

    STORED = "stored"
    LOST = "lost"
    GHOST = "ghost"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Copy:
    """
    One stored message of a send, in queue order.

    properties: all of them as text, body_digest of its body, sys_flag; None in traces before schema 1.2.
    """

    broker: str
    queue_id: int
    queue_offset: int
    store_timestamp_ms: int
    body_ok: bool
    flag: int | None = None
    properties: str | None = None
    body_digest: str | None = None
    sys_flag: int | None = None
    born_timestamp_ms: int | None = None

    def carried(self) -> dict[str, str]:
        """Its properties by name; none in traces that do not tell them."""
        return dict(json.loads(self.properties or "{}"))


@dataclass(frozen=True, slots=True)
class Stray:
    """Where a message of nobody's lies, and when it was stored."""

    broker: str
    queue_id: int
    queue_offset: int
    store_timestamp_ms: int


_CARRIED = ("flag", "properties", "body_digest", "sys_flag")


@dataclass(frozen=True, slots=True)
class ReconciledSend:
    """
    A judged send with its stored copies.

    copies and fate are None when the queues of its arm were not read back: nobody knows. kept: copies of a delayed message
    that its brokers keep back, or kept until they delivered it; queue_id is the delay level less one.
    """

    judged: JudgedSend
    copies: tuple[Copy, ...] | None
    fate: Fate | None
    kept: tuple[Copy, ...] = ()

    @property
    def arm(self) -> Arm:
        """Whose send it is."""
        return self.judged.context.traced.arm

    @property
    def thread(self) -> int:
        """The sender thread."""
        return self.judged.context.traced.thread

    @property
    def send(self) -> int:
        """Number of the send in the plan."""
        return self.judged.context.traced.send

    @property
    def began_ns(self) -> int:
        """When the call began, or its first attempt if it never returned."""
        return self.attempts[0].start_ns if self.row is None else self.row.start_ns

    @property
    def row(self) -> SendRow | None:
        """The send itself; None when it never returned."""
        return self.judged.context.traced.row

    @property
    def attempts(self) -> tuple[AttemptRow, ...]:
        """What the client's own hook saw of it."""
        return self.judged.context.traced.attempts

    @property
    def contexts(self) -> tuple[Context, ...]:
        """Fault context of each attempt."""
        return self.judged.context.contexts

    @property
    def phase(self) -> Phase:
        """Phase in which it began."""
        return self.judged.context.phase

    def phase_of(self, attempt: int | None) -> Phase:
        """Phase of one attempt, of the send where there is no such attempt."""
        known = attempt is not None and attempt < len(self.contexts)
        return self.contexts[attempt].phase if known and attempt is not None else self.phase


class StoredCopies:
    """
    The table ``stored`` of one arm, by send; ``foreign`` counts rows whose id is nobody's or unreadable.

    planned: how many sends there are, numbered from 0; an id with another number is nobody's. None: any number will do.
    """

    def __init__(self, stored: pa.Table, planned: int | None = None) -> None:
        numbers = stored.column("send").to_numpy()  # null is not a number, and compares as false
        is_ours = (numbers >= 0) & (planned is None or numbers < planned)
        ours = stored.filter(pa.array(is_ours))
        self._strays = stored.filter(pa.array(~is_ours))
        self.rows = stored.num_rows
        self.foreign = stored.num_rows - ours.num_rows
        sends = integers(ours, "send")
        self._rows = np.argsort(sends, kind="stable")
        self._sends = sends[self._rows]
        brokers = ours.column("broker").unify_dictionaries().combine_chunks()
        assert isinstance(brokers, pa.DictionaryArray), "words are dictionary-coded in every sealed table"
        self._brokers = brokers.dictionary.to_pylist()
        self._broker_codes = brokers.indices.to_numpy()
        self._numbers = [integers(ours, name) for name in ("queue_id", "queue_offset", "store_timestamp_ms")]
        self._bodies_ok = ours.column("body_ok").to_numpy()
        self._carried = [ours.column(name) for name in (*_CARRIED, "born_timestamp_ms")]

    def strays(self) -> Iterator[Stray]:
        """Messages in the arm's topic that no send of the plan is behind, by broker, queue and offset."""
        columns = self._strays.select(["broker", "queue_id", "queue_offset", "store_timestamp_ms"]).to_pylist()
        return (Stray(**row) for row in columns)

    def of(self, send: int) -> tuple[Copy, ...]:
        """Copies of one send, by broker, queue and offset as they were sealed."""
        first = int(self._sends.searchsorted(send, side="left"))
        last = int(self._sends.searchsorted(send, side="right"))
        return tuple(self._copy(int(row)) for row in self._rows[first:last])

    def _copy(self, row: int) -> Copy:
        queue_id, queue_offset, store_timestamp_ms = (int(values[row]) for values in self._numbers)
        broker = str(self._brokers[self._broker_codes[row]])
        carried = (column[row].as_py() for column in self._carried)
        return Copy(broker, queue_id, queue_offset, store_timestamp_ms, bool(self._bodies_ok[row]), *carried)


def reconciled(
    sends: Iterable[JudgedSend], stored: StoredCopies | None, scheduled: StoredCopies | None = None
) -> Iterator[ReconciledSend]:
    """Every send with what is stored of it; a delayed message is stored once it is kept back."""
    for judged in sends:
        if stored is None:
            yield ReconciledSend(judged, None, None)
            continue
        traced = judged.context.traced
        copies = stored.of(traced.send)
        kept = () if scheduled is None else scheduled.of(traced.send)
        succeeded = traced.row is not None and traced.row.outcome is Outcome.OK
        yield ReconciledSend(judged, copies, fate_of(succeeded, bool(copies or kept)), kept)


def fate_of(succeeded: bool, is_stored: bool) -> Fate:
    """Four fates from two facts."""
    if succeeded:
        return Fate.STORED if is_stored else Fate.LOST
    return Fate.GHOST if is_stored else Fate.ABSENT
