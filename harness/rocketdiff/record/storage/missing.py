"""What Delta's logs lack of the batches of a record, as after a lost commit; whoever deletes files must ask this first."""

from collections.abc import Iterator
from typing import Any

import pyarrow.fs as pafs

from rocketdiff.core.errors import TraceError
from rocketdiff.record.storage.batch import Batch
from rocketdiff.record.storage.store import FileOfTable, Snapshot, read_batches
from rocketdiff.record.storage.tables import SILVER, Kept


def unlisted(snapshot: Snapshot) -> list[str]:
    """Return one sentence per table whose log lacks files of visible batches or cannot be read, and per lost batch."""
    tables = [table for table in Kept if table is not Kept.BATCHES]
    wrong = [*_lost_batches(snapshot), *(text for table in tables for text in _lost(snapshot, table))]
    older = [batch for batch in snapshot.visible if batch.files is None]
    return wrong or [text for batch in older for text in _miscounted(snapshot, batch)]


def _miscounted(snapshot: Snapshot, batch: Batch) -> Iterator[str]:
    """A batch of an older release, which states no files: each table holds what others count of it."""

    def column(table: Kept, name: str) -> list[Any]:
        return snapshot.rows(table, [name], [batch]).column(name).to_pylist()

    main = _MAIN_TABLE[batch.kind.removeprefix("compact-")]
    counts: list[tuple[str, int, int]] = [(main, len(set(column(main, "run"))), batch.runs)]
    if main is Kept.RUNS:
        counts.append((Kept.CASES, len(column(Kept.CASES, "run")), sum(column(main, "cases"))))
    if main is Kept.JUDGED:
        facts = sum(len(column(table, "run")) for table in SILVER)
        counts.append((", ".join(SILVER), facts, sum(column(main, "facts"))))
    if main is Kept.VERDICTS:
        answered = len(set(column(Kept.ANSWERS, "run")))
        counts.append((Kept.ANSWERS, answered, column(main, "trouble").count("")))
    yield from (
        f"{name} holds {has} of the {counted} rows that batch {batch.batch} ({batch.kind}) counts: a log has lost a commit"
        for name, has, counted in counts
        if has < counted
    )


_MAIN_TABLE = {"add": Kept.RUNS, "judge": Kept.JUDGED, "conclude": Kept.VERDICTS}


def _lost(snapshot: Snapshot, table: Kept) -> Iterator[str]:
    try:
        listed = {(file.path, file.size) for file in snapshot.listed(table)}
    except TraceError as error:
        yield str(error)
        return
    for batch in snapshot.visible:
        of_table = [file for file in batch.files or () if file.table == table]
        lost = sum((file.path, file.size) not in listed for file in of_table)
        if lost:
            yield (
                f"{table}/_delta_log lists {len(of_table) - lost} of the {len(of_table)} files of batch {batch.batch} ({batch.kind}):"
                " it has lost a commit, or is damaged; restore it from a copy"
            )


def _lost_batches(snapshot: Snapshot) -> Iterator[str]:
    """
    Files of table ``batches`` with a batch that its log does not know.

    A file that ``compact`` has merged is not listed any more, but its batches are known.
    """
    place, known = snapshot.place, {batch.batch for batch in snapshot.batches}
    system, root = place.file_system()
    for found in system.get_file_info(pafs.FileSelector(f"{root}/{Kept.BATCHES}")):
        if not found.base_name.endswith(".parquet"):
            continue
        try:
            rows = read_batches(place, FileOfTable(found.base_name, found.size, 0, None))
        except TraceError as error:
            yield str(error)
            continue
        if lost := sorted({batch.batch for batch in rows} - known):
            yield (
                f"{Kept.BATCHES}/_delta_log does not list batch {', '.join(lost)} of file {Kept.BATCHES}/{found.base_name}: it"
                " has lost a commit and must be restored from a copy, or the command was killed at its last step; then remove"
                " the file"
            )
