"""Rows of a record, to compare."""

from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import look
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
