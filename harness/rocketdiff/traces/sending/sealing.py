"""Seals the journal of one arm of a case about producers: its tables and its summary."""

from collections.abc import Sequence
from dataclasses import replace

from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.plan import PlannedSend
from rocketdiff.traces.journal import ArmJournal
from rocketdiff.traces.manifest import ArmSummary
from rocketdiff.traces.schema import Columns, TableName
from rocketdiff.traces.sending.rows import arm_rows


def sealed_arm(
    case: int, arm: Arm, plan: Sequence[PlannedSend], origin_ns: int, journal: ArmJournal
) -> tuple[dict[TableName, Columns], ArmSummary]:
    """Return the unsorted columns of an arm's tables, and what its journal holds; ``origin_ns``: of the plan's offset 0."""
    rows = arm_rows(case, arm, plan, origin_ns, journal)
    tables: dict[TableName, Columns] = {
        TableName.SENDS: rows.sends,
        TableName.ATTEMPTS: rows.attempts,
        TableName.ROUTES: rows.routes,
    }
    summary = ArmSummary(
        sends=len(rows.sends["send"]),
        attempts=len(rows.attempts["send"]),
        unanswered=rows.unanswered,
        done=journal.done is not None,
        failure=journal.failure,
        trouble_count=rows.trouble_count,
        troubles=rows.troubles,
        witness=journal.witness,
    )
    hello = journal.hello
    if hello is None:
        return tables, summary
    return tables, replace(summary, client=hello.client, version=hello.version, capabilities=hello.capabilities)
