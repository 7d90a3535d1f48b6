"""Names of the files inside a run directory, all relative to it, so that the directory can be moved."""

import re
from pathlib import Path, PurePosixPath

from rocketdiff.core.errors import TraceError
from rocketdiff.core.events import Arm
from rocketdiff.traces.schema import TableName

MANIFEST = "run.json"
JOURNAL = "journal"
LOGS = "logs"

_PARQUET_NAME = re.compile(r"(?P<case>\d{2,})(-(?P<arm>baseline|candidate))?\.parquet")


def journal_file(case: int, arm: Arm) -> PurePosixPath:
    """Raw lines of one subject, in the order they came."""
    return PurePosixPath(JOURNAL, f"{case:02d}-{arm}.ndjson")


def wire_file(case: int, arm: Arm) -> PurePosixPath:
    """What the recording relay of an arm saw, if it had one."""
    return PurePosixPath(JOURNAL, f"{case:02d}-{arm}-wire.ndjson")


def witnessed_file(case: int, arm: Arm) -> PurePosixPath:
    """Attempts and routes of a client that tells of none, or attempts with another status than told or not told at all, as records of the line protocol, made from the wire's."""
    return PurePosixPath(JOURNAL, f"{case:02d}-{arm}-witnessed.ndjson")


def plan_file(case: int) -> PurePosixPath:
    """The plan both arms were given, one send a line."""
    return PurePosixPath(JOURNAL, f"{case:02d}-plan.ndjson")


def fault_journal_file(case: int) -> PurePosixPath:
    """Fault records as they became known; the last line of an episode and node stands."""
    return PurePosixPath(JOURNAL, f"{case:02d}-faults.ndjson")


def table_file(table: TableName, case: int, arm: Arm | None) -> PurePosixPath:
    """One sealed table of one case, of one arm unless the table belongs to the whole case (faults)."""
    return PurePosixPath(table, f"{case:02d}.parquet" if arm is None else f"{case:02d}-{arm}.parquet")


def logs_folder(case: int) -> PurePosixPath:
    """Where the logs of a case's subjects and cluster are collected."""
    return PurePosixPath(LOGS, f"{case:02d}")


def case_and_arm(path: Path) -> tuple[int, Arm | None]:
    """Read case number and arm from a sealed file's name; TraceError when it is not such a name."""
    match = _PARQUET_NAME.fullmatch(path.name)
    if match is None:
        raise TraceError(
            "a file named NN.parquet or NN-<arm>.parquet",
            seen=path.name,
            hint="remove the file, or judge the run as it was sealed",
        )
    return int(match["case"]), Arm(match["arm"]) if match["arm"] else None
