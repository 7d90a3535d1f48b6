"""Rewrites the tables of a run as some other program would: part files, groups split, no statement, no order."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from harness.traces.reader import read_tables
from harness.traces.run_directory import RunDirectory
from harness.traces.schema import TableName


def rewrite(run: RunDirectory, *, rows_a_file: int) -> None:
    """Replace every sealed file; words become plain strings, as Spark would write them."""
    generator = np.random.default_rng(7)
    for table in TableName:
        if not any((run.path / table).glob("*.parquet")):
            continue  # one that the run had no use for
        content = pa.concat_tables([_plain(read_tables(run, table))]).combine_chunks()
        for old in (run.path / table).glob("*.parquet"):
            old.unlink()
        mixed = content.take(generator.permutation(content.num_rows))
        for number, start in enumerate(range(0, max(1, content.num_rows), rows_a_file)):
            pq.write_table(mixed.slice(start, rows_a_file), run.path / table / f"part-{number:05d}.snappy.parquet")


def _plain(content: pa.Table) -> pa.Table:
    for place, field in enumerate(content.schema):
        if pa.types.is_dictionary(field.type):
            words = content.column(field.name).cast(pa.string())
            content = content.set_column(place, field.name, words)
    return content
