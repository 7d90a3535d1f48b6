"""
Version of the trace format, names of its tables, and what their columns have in common.

Columns named ``…_ns`` are int64 nanoseconds, not timestamps, because Spark refuses nanosecond timestamps. Words are
dictionary-coded. A minor version only adds nullable columns at the end of a table, tables that a case may lack, and
fields of ``run.json``. A major version changes meanings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa

from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import TraceError
from rocketdiff.core.tables.roles import ClientRole

SCHEMA_VERSION = "1.16"

DIGESTS_SINCE = 3
"""Minor version from which ``run.json`` has a digest of itself and of every sealed table."""

BODIES_COMPARED_SINCE = 7
"""Minor version from which ``body_ok`` is certainly compared byte by byte, so body digests are not needed."""

ARM_CODES = {Arm.BASELINE: 0, Arm.CANDIDATE: 1}


class TableName(StrEnum):
    """The tables of a run, each a folder of its directory."""

    SENDS = "sends"
    ATTEMPTS = "attempts"
    ROUTES = "routes"
    FAULTS = "faults"
    STORED = "stored"
    SCHEDULED = "scheduled"
    FED = "fed"
    HELD = "held"
    MEMBERS = "members"
    CALLS = "calls"
    DELIVERIES = "deliveries"
    ALLOCATIONS = "allocations"
    OWNED = "owned"
    OFFSETS = "offsets"
    COMMITTED = "committed"
    LISTED = "listed"
    RETURNED = "returned"
    WIRE = "wire"


Columns = Mapping[str, Sequence[object]]
"""Values of a table by column, in any order of rows."""

WORD = pa.dictionary(pa.int32(), pa.string())


def column(name: str, kind: pa.DataType, *, nullable: bool = False) -> "pa.Field[pa.DataType]":
    """Return a column of a table."""
    return pa.field(name, kind, nullable=nullable)


GROUP = [column("case", pa.int32()), column("arm", pa.int8()), column("thread", pa.int32())]
"""First columns of a table whose groups are threads; a table of an arm has the first two, one of a case the first."""


@dataclass(frozen=True, slots=True)
class TableSpec:
    """
    One table of a run.

    keys: columns by which its rows rise strictly within a file, so no row can occur twice. role: of the cases that have it;
    None for every case. is_per_arm: a file an arm, else one a case. is_optional: a complete case may lack it. guard: a
    complete case may lack it if this guard is broken. group: column of the whole groups of its rows.
    """

    name: TableName
    schema: pa.Schema
    keys: tuple[str, ...]
    role: ClientRole | None
    is_per_arm: bool = True
    is_optional: bool = False
    guard: str | None = None
    group: str = "thread"

    @property
    def arms(self) -> tuple[Arm | None, ...]:
        """Of the files of a case; None for one of the whole case."""
        return tuple(Arm) if self.is_per_arm else (None,)


def minor_of(version: str) -> int:
    """Return the minor number of a version whose major number is known."""
    digits = version.partition(".")[2].partition(".")[0]
    return int(digits) if digits.isdecimal() and len(digits) < 4 else 0


def require_known_version(version: object, *, where: str) -> None:
    """Raise TraceError unless ``version`` has the major number that this program writes."""
    known, _, _ = SCHEMA_VERSION.partition(".")
    if not isinstance(version, str) or version.partition(".")[0] != known:
        raise TraceError(
            f"traces of schema version {known}.x",
            seen=f"version {version!r} in {where}",
            hint="read the run with the rocketdiff that recorded it, or a newer one",
        )
