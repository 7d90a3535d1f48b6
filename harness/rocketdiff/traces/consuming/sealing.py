"""Seals the journals of a case about consumers: the feeder's sends, the tables of members and polls, and the summary of each arm."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import msgspec

from rocketdiff.core.arm import FEEDER, Arm, Member
from rocketdiff.core.consuming.plan import MemberChange
from rocketdiff.core.consuming.watched import CommittedOffset, GroupTopics, ListedMembers, OrderedMember, WireExchange
from rocketdiff.core.errors import TraceError
from rocketdiff.traces.consuming.rows import SCHEMAS, MemberRows, Row, columns_of, member_rows
from rocketdiff.traces.consuming.tables import COMMITTED, FED, LISTED, WIRE
from rocketdiff.traces.journal import ArmJournal
from rocketdiff.traces.layout import COMMITTED_JOURNAL, EXCHANGES_JOURNAL, GROUP_JOURNAL, LISTED_JOURNAL
from rocketdiff.traces.manifest import ArmSummary
from rocketdiff.traces.schema import ARM_CODES, Columns, TableName
from rocketdiff.traces.sealed_case import CaseJournals, SealedCase
from rocketdiff.traces.sending.rows import MAX_TROUBLES, arm_rows

Watched = TypeVar("Watched", OrderedMember, CommittedOffset, ListedMembers, WireExchange)


def sealed_consumption(journals: CaseJournals) -> SealedCase:
    """Return the tables of the case and of both arms, and their summaries."""
    orders = _lines(journals, GROUP_JOURNAL, OrderedMember)
    tables: dict[tuple[TableName, Arm | None], Columns] = {(TableName.FED, None): _fed(journals)}
    arms: dict[Arm, ArmSummary] = {}
    for arm in Arm:
        own, arms[arm] = _sealed_arm(journals, arm, [order for order in orders if order.arm is arm])
        tables |= {(name, arm): columns for name, columns in own.items()}
    return SealedCase(tables, arms)


def _fed(journals: CaseJournals) -> Columns:
    rows = arm_rows(journals.number, Arm.BASELINE, journals.plan, journals.origin_ns, journals.of(FEEDER))
    return {name: rows.sends[name] for name in FED.names}


def _sealed_arm(
    journals: CaseJournals, arm: Arm, orders: Sequence[OrderedMember]
) -> tuple[dict[TableName, Columns], ArmSummary]:
    group = journals.groups[arm]
    topics = GroupTopics(group.name, journals.topics[arm])
    read = [journals.of(Member(arm, number)) for number in range(group.members)]
    members = [
        member_rows(
            {"case": journals.number, "arm": ARM_CODES[arm], "member": number},
            journals.subjects[group.subject_arm(arm, number)],
            topics,
            [order for order in orders if order.member == number],
            journal,
            is_lost=str(Member(arm, number)) in journals.lost,
        )
        for number, journal in enumerate(read)
    ]
    tables = {
        name: columns_of(schema, [row for member in members for row in member.tables[name]])
        for name, schema in SCHEMAS.items()
    }
    head: Row = {"case": journals.number, "arm": ARM_CODES[arm]}
    committed = [
        head | _plain(each) for each in _lines(journals, COMMITTED_JOURNAL, CommittedOffset) if each.arm is arm
    ]
    listed = [head | _plain(each) for each in _lines(journals, LISTED_JOURNAL, ListedMembers) if each.arm is arm]
    tables |= {TableName.COMMITTED: columns_of(COMMITTED, committed), TableName.LISTED: columns_of(LISTED, listed)}
    wire = [
        head | _plain(each) | {"kind": None if each.topic is None else topics.kind(each.topic).value}
        for each in _lines(journals, EXCHANGES_JOURNAL, WireExchange)
        if each.arm is arm
    ]
    if wire:  # no relay stood before the members otherwise
        tables[TableName.WIRE] = columns_of(WIRE, wire)
    killed = {order.member for order in orders if order.what == MemberChange.KILL}
    return tables, _summary(read, members, tables, killed)


def _summary(
    read: Sequence[ArmJournal],
    members: Sequence[MemberRows],
    tables: dict[TableName, Columns],
    killed: Collection[int],
) -> ArmSummary:
    """killed: members that the runner has killed, which cannot end on their own."""
    troubles = [trouble for member in members for trouble in member.troubles]
    summary = ArmSummary(
        sends=0,
        attempts=0,
        unanswered=0,
        done=all(journal.done is not None for number, journal in enumerate(read) if number not in killed),
        failure=next((journal.failure for journal in read if journal.failure is not None), None),
        trouble_count=len(troubles),
        troubles=tuple(troubles[:MAX_TROUBLES]),
        calls=len(tables[TableName.CALLS]["call"]),
        deliveries=len(tables[TableName.DELIVERIES]["call"]),
    )
    hello = next((journal.hello for journal in read if journal.hello is not None), None)
    if hello is None:
        return summary
    return replace(summary, client=hello.client, version=hello.version, capabilities=hello.capabilities)


def _plain(each: CommittedOffset | ListedMembers | WireExchange) -> Row:
    named: Row = msgspec.to_builtins(each)
    return {name: value for name, value in named.items() if name != "arm"}


def _lines(journals: CaseJournals, name: str, kind: type[Watched]) -> list[Watched]:
    return list(_decoded(journals.lines(name), name, kind))


def _decoded(lines: Iterable[bytes], name: str, kind: type[Watched]) -> Iterable[Watched]:
    for number, line in enumerate(lines, start=1):
        try:
            yield msgspec.json.decode(line, type=kind)
        except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
            expected = f"a {kind.__name__} in the journal {name}, line {number}"
            raise TraceError(expected, seen=str(problem), hint="the journal was damaged") from problem
