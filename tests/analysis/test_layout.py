"""Telling whole groups from split ones, and damage from both."""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.analysis.layout import Layout, foreign_cases, layout_of
from harness.analysis.local import summaries_here
from harness.core.errors import TraceError
from harness.traces.run_directory import RunDirectory
from tests.analysis.foreign import rewrite
from tests.analysis.synthetic import Story

NewRun = Callable[..., RunDirectory]


def test_a_sealed_run_is_whole(new_run: NewRun) -> None:
    """As the recorder wrote it."""
    assert layout_of(new_run()) is Layout.WHOLE


def test_part_files_are_foreign_and_give_the_same_facts(new_run: NewRun) -> None:
    """Both without Spark."""
    run = new_run([Story(threads=1), Story(name="again")])
    expected = summaries_here([run])
    rewrite(run, rows_a_file=64)
    assert layout_of(run) is Layout.FOREIGN
    assert summaries_here([run]) == expected


def test_a_group_split_under_our_own_names_is_damage(new_run: NewRun) -> None:
    """Half a file still says that it holds everything; judging it would be wrong without a sound."""
    run = new_run()
    path = run.path / "attempts" / "01-baseline.parquet"
    with pq.ParquetFile(path) as file:
        content, schema = file.read(), file.schema_arrow
    pq.write_table(content.slice(0, 100).replace_schema_metadata(schema.metadata), path)
    with pytest.raises(TraceError, match="rows as stated"):
        summaries_here([run])


def test_a_foreign_file_without_a_column_is_refused(new_run: NewRun) -> None:
    """It cannot be a table of this schema."""
    run = new_run()
    rewrite(run, rows_a_file=1_000)
    path = run.path / "sends" / "part-00000.snappy.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["kind"]), path)
    with pytest.raises(TraceError, match="columns of sends"):
        summaries_here([run])


def test_a_row_that_is_there_twice_is_refused(new_run: NewRun) -> None:
    """Nobody can say which of the two to believe."""
    run = new_run()
    rewrite(run, rows_a_file=1_000)
    path = run.path / "attempts" / "part-00000.snappy.parquet"
    content = pq.read_table(path)
    pq.write_table(pa.concat_tables([content, content.slice(0, 1)]), path)
    with pytest.raises(TraceError, match="a row twice"):
        list(foreign_cases(run))
