"""Traces of other minor versions lack columns or have unknown ones."""

import pyarrow as pa

from rocketdiff.traces.schema import TableName
from rocketdiff.traces.sealed_file import sorted_table
from rocketdiff.traces.tables import TABLES, completed

SENDS = TABLES[TableName.SENDS].schema
LATER = [field.name for field in SENDS if field.nullable]


def test_a_column_missing_in_an_older_trace_is_added_empty() -> None:
    """A column that an older trace lacks is added in its present position."""
    today = sorted_table(TableName.SENDS, {field.name: [] for field in SENDS})
    older = today.drop_columns([LATER[-1]])
    assert completed(older, TableName.SENDS).schema == SENDS


def test_members_of_older_traces_have_no_kills_or_pauses() -> None:
    """Both columns came with 1.11."""
    members = TABLES[TableName.MEMBERS].schema
    today = sorted_table(TableName.MEMBERS, {field.name: [] for field in members})
    assert completed(today.drop_columns(["killed_ns", "pauses"]), TableName.MEMBERS).schema == members


def test_unknown_columns_of_a_newer_version_are_left_out() -> None:
    """Unknown columns of a newer minor version are left out."""
    stored = TABLES[TableName.FAULTS].schema
    row = sorted_table(TableName.FAULTS, {field.name: [] for field in stored})
    newer = row.append_column("colour", pa.array([], type=pa.string()))
    assert completed(newer, TableName.FAULTS).schema == stored
    assert completed(row, TableName.FAULTS) is row
