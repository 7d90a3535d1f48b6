"""File names inside a run directory, relative to it, so that it can be moved."""

import re
from pathlib import Path, PurePosixPath

from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.errors import TraceError
from rocketdiff.traces.schema import TableName

MANIFEST = "run.json"
JOURNAL = "journal"
LOGS = "logs"

GROUP_JOURNAL, COMMITTED_JOURNAL, LISTED_JOURNAL, EXCHANGES_JOURNAL = "group", "committed", "listed", "exchanges"
"""Journals of a case about consumers: orders to members, what brokers answered about their groups, what relays saw of members."""

_PARQUET_NAME = re.compile(r"(?P<case>\d{2,})(-(?P<arm>baseline|candidate))?\.parquet")


def journal_file(case: int, member: Member) -> PurePosixPath:
    """Return the file with the raw lines of one subject, in the order of arrival."""
    return PurePosixPath(JOURNAL, f"{case:02d}-{member}.ndjson")


def wire_file(case: int, member: Member) -> PurePosixPath:
    """Return the journal of a member's recording relay."""
    return PurePosixPath(JOURNAL, f"{case:02d}-{member}-wire.ndjson")


def witnessed_file(case: int, member: Member) -> PurePosixPath:
    """
    Return the file with records of the line protocol made from the wire.

    All attempts and routes if the client reports none; else attempts with another status, or unreported.
    """
    return PurePosixPath(JOURNAL, f"{case:02d}-{member}-witnessed.ndjson")


def plan_file(case: int) -> PurePosixPath:
    """Return the file with the plan that both arms received, one send per line."""
    return PurePosixPath(JOURNAL, f"{case:02d}-plan.ndjson")


def watched_file(case: int, name: str) -> PurePosixPath:
    """Return the file of a journal that the runner itself writes, by its name."""
    return PurePosixPath(JOURNAL, f"{case:02d}-{name}.ndjson")


def fault_journal_file(case: int) -> PurePosixPath:
    """Return the file of fault records; the last line of an episode and node counts."""
    return PurePosixPath(JOURNAL, f"{case:02d}-faults.ndjson")


def table_file(table: TableName, case: int, arm: Arm | None) -> PurePosixPath:
    """Return the file of a sealed table; arm is None for a table of the whole case (faults)."""
    return PurePosixPath(table, f"{case:02d}.parquet" if arm is None else f"{case:02d}-{arm}.parquet")


def logs_folder(case: int) -> PurePosixPath:
    """Return the folder for the logs of a case's subjects and cluster."""
    return PurePosixPath(LOGS, f"{case:02d}")


def case_and_arm(path: Path) -> tuple[int, Arm | None]:
    """Return case number and arm from a sealed file's name; raises TraceError for another name."""
    match = _PARQUET_NAME.fullmatch(path.name)
    if match is None:
        raise TraceError(
            "a file named NN.parquet or NN-<arm>.parquet",
            seen=path.name,
            hint="remove the file, or judge the run as it was sealed",
        )
    return int(match["case"]), Arm(match["arm"]) if match["arm"] else None
