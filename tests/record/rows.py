"""Rows of a record, to compare."""

import shutil
from pathlib import Path

from deltalake import DeltaTable, write_deltalake

from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import ADDED, look
from rocketdiff.record.storage.tables import COLUMNS, Kept


def all_rows(place: RecordPlace) -> dict[Kept, list[str]]:
    """Visible rows of every table but ``batches``, without the name of their part."""
    snapshot = look(place)
    return {
        table: sorted(
            map(str, snapshot.rows(table, [name for name in COLUMNS[table].names if name != "part"]).to_pylist())
        )
        for table in Kept
        if table is not Kept.BATCHES
    }


def forget_digests(place: RecordPlace) -> None:
    """Make a record as older releases wrote it: without the files of a batch and the digest of its row."""
    folder = place.folder(Kept.BATCHES)
    rows = DeltaTable(folder).to_pyarrow_table().drop_columns(list(ADDED))
    shutil.rmtree(folder)
    write_deltalake(folder, rows, name="rocketdiff record", description="rocketdiff record 1")


def flipped(path: Path, at: int = 100, bit: int = 2) -> bytes:
    """Change a bit of a file; return what it was."""
    before = path.read_bytes()
    changed = bytearray(before)
    changed[at] ^= 1 << bit
    path.write_bytes(bytes(changed))
    return before
