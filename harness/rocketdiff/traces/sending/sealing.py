"""Seals the journals of a case about producers: the tables and the summary of each arm."""

from dataclasses import replace

from rocketdiff.core.arm import Arm, Member
from rocketdiff.traces.manifest import ArmSummary
from rocketdiff.traces.schema import Columns, TableName
from rocketdiff.traces.sealed_case import CaseJournals, SealedCase
from rocketdiff.traces.sending.rows import arm_rows

ArmTables = dict[tuple[TableName, Arm | None], Columns]


def sealed_sends(journals: CaseJournals) -> SealedCase:
    """Return the tables and summaries of both arms."""
    tables: ArmTables = {}
    arms: dict[Arm, ArmSummary] = {}
    for arm in Arm:
        own, arms[arm] = sealed_arm(journals, arm)
        tables |= own
    return SealedCase(tables, arms)


def sealed_arm(journals: CaseJournals, arm: Arm) -> tuple[ArmTables, ArmSummary]:
    """Return the tables and the summary of one arm."""
    journal = journals.of(Member(arm))
    rows = arm_rows(journals.number, arm, journals.plan, journals.origin_ns, journal)
    tables: ArmTables = {
        (TableName.SENDS, arm): rows.sends,
        (TableName.ATTEMPTS, arm): rows.attempts,
        (TableName.ROUTES, arm): rows.routes,
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
