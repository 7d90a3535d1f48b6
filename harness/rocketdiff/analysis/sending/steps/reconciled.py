"""Add what the brokers hold of each send, read after all faults are healed: the ground truth for "ok" and "unknown"."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rocketdiff.analysis.case_trace import rows_at, values_of
from rocketdiff.analysis.sending.send_view import Copy, Fate, SendView
from rocketdiff.core.sends.outcome import Outcome
from rocketdiff.traces.sealed_file import integers


@dataclass(frozen=True, slots=True)
class Stray:
    """Place and store time of a message that belongs to no planned send."""

    broker: str
    queue_id: int
    queue_offset: int
    store_timestamp_ms: int


FEW = 65_536
"""Up to this many messages become objects at once: about 30 MB, at a tenth of the cost of one by one."""

Ints = npt.NDArray[np.int64]

_PLACE = ("broker", "queue_id", "queue_offset", "store_timestamp_ms")
_CARRIED = ("flag", "properties", "body_digest", "sys_flag")


class StoredCopies:
    """
    The table ``stored`` of one arm, by send. ``foreign`` counts rows whose id is unknown or unreadable.

    planned: number of planned sends, numbered from 0; rows with another number are foreign. None accepts any number. chosen: only
    these rows.
    """

    def __init__(self, stored: pa.Table, planned: int | None = None, chosen: Ints | None = None) -> None:
        rows = np.arange(stored.num_rows) if chosen is None else chosen
        numbers = stored.column("send").to_numpy()[rows]  # null becomes NaN, which compares as false
        is_ours = (numbers >= 0) & (planned is None or numbers < planned)
        self._strays = rows_at(stored.select(_PLACE), rows[~is_ours])
        self.rows, self.foreign = rows.size, self._strays.num_rows
        order = np.argsort(numbers[is_ours], kind="stable")
        self._sends = numbers[is_ours][order].astype(np.int64)
        is_small = order.size <= FEW
        ours = stored
        self._row_of: Ints = rows[is_ours][order]  # of a large table, which would be copied into another order
        if is_small:
            ours, self._row_of = rows_at(stored, self._row_of), np.arange(order.size)
        brokers = ours.column("broker").unify_dictionaries().combine_chunks()
        assert isinstance(brokers, pa.DictionaryArray), "words are dictionary-coded in every sealed table"
        self._brokers = brokers.dictionary.to_pylist()
        self._broker_codes = brokers.indices.to_numpy()
        self._numbers = [integers(ours, name) for name in _PLACE[1:]]
        self._bodies_ok = ours.column("body_ok").to_numpy()
        self._carried = [ours.column(name) for name in (*_CARRIED, "born_timestamp_ms")]
        self._of_send = self._all() if is_small else None

    def strays(self) -> Iterator[Stray]:
        return (Stray(**row) for row in self._strays.to_pylist())

    def of(self, send: int) -> tuple[Copy, ...]:
        """Copies of one send, in sealed order (broker, queue, offset)."""
        if self._of_send is not None:
            return self._of_send.get(send, ())
        first = int(self._sends.searchsorted(send, side="left"))
        last = int(self._sends.searchsorted(send, side="right"))
        return tuple(map(self._copy, self._row_of[first:last].tolist()))

    def _all(self) -> dict[int, tuple[Copy, ...]]:
        numbers = [values.tolist() for values in self._numbers]
        brokers = [self._brokers[code] for code in self._broker_codes.tolist()]
        carried = [values_of(column.combine_chunks()) for column in self._carried]
        copies = map(Copy, brokers, *numbers, self._bodies_ok.tolist(), *carried)
        found: dict[int, list[Copy]] = {}
        for send, copy in zip(self._sends.tolist(), copies, strict=True):
            found.setdefault(send, []).append(copy)
        return {send: tuple(each) for send, each in found.items()}

    def _copy(self, row: int) -> Copy:
        queue_id, queue_offset, store_timestamp_ms = (int(values[row]) for values in self._numbers)
        broker = str(self._brokers[self._broker_codes[row]])
        carried = (column[row].as_py() for column in self._carried)
        return Copy(broker, queue_id, queue_offset, store_timestamp_ms, bool(self._bodies_ok[row]), *carried)


def reconciled(
    sends: Iterable[SendView], stored: StoredCopies | None, scheduled: StoredCopies | None = None
) -> Iterator[SendView]:
    """Add copies and fate to every send; a delayed message counts as stored once its broker keeps it back."""
    for send in sends:
        if stored is not None:
            send.copies = stored.of(send.send)
            send.kept = () if scheduled is None else scheduled.of(send.send)
            succeeded = send.row is not None and send.row.outcome is Outcome.OK
            send.fate = fate_of(succeeded, bool(send.copies or send.kept))
        yield send


def fate_of(succeeded: bool, is_stored: bool) -> Fate:
    """The fate of a message, from the end of its send and from what is stored."""
    if succeeded:
        return Fate.STORED if is_stored else Fate.LOST
    return Fate.GHOST if is_stored else Fate.ABSENT
