"""The tables of a case about consumers, made from journals by hand."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from rocketdiff.core.arm import FEEDER, Arm, Member
from rocketdiff.core.consuming.plan import ConsumerCall
from rocketdiff.core.consuming.watched import (
    CommittedOffset,
    ListedMembers,
    OrderedMember,
    TopicKind,
    WireEvent,
    WireExchange,
)
from rocketdiff.core.errors import TraceError
from rocketdiff.core.records.consuming import (
    Allocated,
    Applied,
    CallResult,
    Consumed,
    DeliveredMessage,
    Joined,
    Left,
    OffsetEvent,
    OffsetSeen,
    Owned,
    Received,
)
from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import Send
from rocketdiff.core.records.session import Done
from rocketdiff.core.sends.plan import PlannedSend, SendKind
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.traces.consuming.sealing import sealed_consumption
from rocketdiff.traces.journal import ArmJournal
from rocketdiff.traces.layout import COMMITTED_JOURNAL, EXCHANGES_JOURNAL, GROUP_JOURNAL, LISTED_JOURNAL
from rocketdiff.traces.manifest import CaseEntry, GroupEntry
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.sealed_case import CaseJournals, SealedCase
from rocketdiff.traces.sealed_file import read_sealed, sorted_table, write_sealed
from rocketdiff.traces.tables import tables_of

MS = 1_000_000
JOIN = OrderedMember(Arm.BASELINE, 0, 1, "join", 0, 5)
MESSAGE = DeliveredMessage(17, 1, 99, True, send=0, topic="T", key="7F", origin="0A")
CALL = Received(0, 1, 3, 20 * MS, "%RETRY%b", "broker-a", 0, (MESSAGE,))
RIGHT: tuple[Record, ...] = (
    Joined(1, 6, 7, "1@m0"),
    Allocated(1, 1, 8, "T", "AVG", ("1@m0",), (("broker-a", 0),), (("broker-a", 0),)),
    Owned(1, 1, 9, (("T", "broker-a", 0), ("%RETRY%b", "broker-a", 0))),
    OffsetSeen(1, 1, 9, OffsetEvent.QUERY, "T", "broker-a", 0, -1),
    CALL,
    Consumed(0, 21 * MS, CallResult.LATER, delay_level=1),
    Left(1, 30 * MS, 31 * MS),
    Done(calls=1),
)

EXCHANGES = [
    WireExchange(Arm.BASELINE, 0, 4, 2, "broker-a-slave-1", WireEvent.PULL, 7, 8, 9, 0, "%RETRY%b", "broker-a", 0, 5, count=0),
    WireExchange(Arm.CANDIDATE, 0, 0, 1, "broker-a", WireEvent.END, 7),
]  # fmt: skip


def journal_of(records: Iterable[Record]) -> ArmJournal:
    journal = ArmJournal()
    for record in records:
        journal.keep(record)
    return journal


def sealed(
    records: Iterable[Record] = RIGHT,
    watched: dict[str, list[Any]] | None = None,
    lost: tuple[str, ...] = (),
    groups: dict[Arm, GroupEntry] | None = None,
    subjects: dict[Arm, str] | None = None,
) -> SealedCase:
    """A case with one fed message; the baseline's only member has these records."""
    lines = {name: [msgspec.json.encode(each) for each in values] for name, values in (watched or {}).items()}
    journals = {
        FEEDER: journal_of([Send(0, 0, 10, 11, status="SEND_OK")]),
        Member(Arm.BASELINE, 0): journal_of(records),
    }
    return sealed_consumption(
        CaseJournals(
            number=1,
            plan=(PlannedSend(0, 0, 0, SendKind.QUEUE, 0, 64),),
            origin_ns=10,
            of=lambda member: journals.get(member, ArmJournal()),
            lines=lambda name: lines.get(name, [msgspec.json.encode(JOIN)] if name == GROUP_JOURNAL else []),
            subjects=subjects or dict.fromkeys(Arm, "java:5.3.3"),
            topics=dict.fromkeys(Arm, "T"),
            groups=groups or {Arm.BASELINE: GroupEntry("b", 1), Arm.CANDIDATE: GroupEntry("c", 1)},
            lost=lost,
        )
    )


def row_of(case: SealedCase, table: TableName) -> dict[str, Any]:
    """The only row of a table of the baseline, without case and arm."""
    columns = case.tables[table, None if table is TableName.FED else Arm.BASELINE]
    assert {len(values) for values in columns.values()} == {1}
    return {
        name: values[0] for name, values in columns.items() if name not in ("case", "arm") and values[0] is not None
    }


def test_records_of_a_member_become_rows() -> None:
    """Each record is a row; topics are named by what they are to the group."""
    case = sealed()
    assert row_of(case, TableName.MEMBERS) == {
        "member": 0, "incarnation": 1, "subject": "java:5.3.3", "client_id": "1@m0", "join_start_ns": 6, "join_end_ns": 7,
        "leave_start_ns": 30 * MS, "leave_end_ns": 31 * MS, "ended": "left", "pauses": [],
    }  # fmt: skip
    assert row_of(case, TableName.CALLS) == {
        "member": 0, "call": 0, "incarnation": 1, "thread": 3, "kind": "retry", "broker": "broker-a", "queue_id": 0,
        "start_ns": 20 * MS, "end_ns": 21 * MS, "result": "later", "delay_level": 1, "messages": 1,
    }  # fmt: skip
    assert row_of(case, TableName.DELIVERIES) == {
        "member": 0, "call": 0, "place": 0, "send": 0, "queue_offset": 17, "times": 1, "shown_topic": "fed",
        "unique_key": "7F", "origin_id": "0A", "store_timestamp_ms": 99, "body_ok": True,
    }  # fmt: skip
    assert row_of(case, TableName.ALLOCATIONS)["result"] == [{"broker": "broker-a", "queue_id": 0}]
    assert [queue["kind"] for queue in row_of(case, TableName.OWNED)["queues"]] == ["fed", "retry"]
    assert row_of(case, TableName.OFFSETS)["value"] == -1
    assert row_of(case, TableName.FED)["status"] == "SEND_OK"
    summary = case.arms[Arm.BASELINE]
    assert (summary.calls, summary.deliveries, summary.done, summary.trouble_count) == (1, 1, True, 0)


def test_answers_of_brokers_become_rows() -> None:
    """An answer belongs to the arm whose group was asked for; silence has no time and no value."""
    answers = [
        CommittedOffset(Arm.BASELINE, 3, 7, TopicKind.RETRY, "broker-a", 0, 8, None, 2),
        CommittedOffset(Arm.CANDIDATE, 3, 7, TopicKind.FED, "broker-a", 0),
    ]
    lists = [ListedMembers(Arm.BASELINE, 3, "broker-a", 7, 8, 0, ("1@m0", "1@m0"))]
    case = sealed(watched={COMMITTED_JOURNAL: answers, LISTED_JOURNAL: lists})
    assert row_of(case, TableName.COMMITTED) == {
        "poll": 3, "asked_ns": 7, "answered_ns": 8, "kind": "retry", "broker": "broker-a", "queue_id": 0, "end": 2
    }  # fmt: skip
    assert row_of(case, TableName.LISTED)["ids"] == ("1@m0", "1@m0")


def test_exchanges_of_relays_become_rows() -> None:
    """An exchange belongs to the arm of its member; without relays there is no table."""
    case = sealed(watched={EXCHANGES_JOURNAL: EXCHANGES})
    assert row_of(case, TableName.WIRE) == {
        "member": 0, "number": 4, "connection": 2, "node": "broker-a-slave-1", "what": "pull", "in_ns": 7, "out_ns": 8,
        "answered_ns": 9, "code": 0, "kind": "retry", "broker": "broker-a", "queue_id": 0, "offset": 5, "count": 0,
    }  # fmt: skip
    assert case.tables[TableName.WIRE, Arm.CANDIDATE]["kind"] == [None]
    assert (TableName.WIRE, Arm.BASELINE) not in sealed().tables


@pytest.mark.parametrize(
    ("records", "trouble"),
    [
        pytest.param((*RIGHT, replace(CALL, thread=4)), "received 0: reported before", id="a call again"),
        pytest.param((*RIGHT, Consumed(7, 1, CallResult.SUCCESS)), "call 7: ended without having begun", id="no call"),
        pytest.param((*RIGHT, Owned(2, 2, 9, ())), "owned 2: of an incarnation that was never ordered", id="no join"),
    ],
)
def test_a_record_that_fits_no_other_is_a_trouble(records: tuple[Record, ...], trouble: str) -> None:
    """It adds no row, so that a faulty member's case can be sealed."""
    case = sealed(records)
    assert case.arms[Arm.BASELINE].troubles == (trouble,)
    assert len(case.tables[TableName.CALLS, Arm.BASELINE]["call"]) == 1


@pytest.mark.parametrize(("lost", "ended"), [((), "alive"), (("baseline-m0",), "died")], ids=["a crash", "a breach"])
def test_a_member_that_never_left_is_alive_or_has_died(lost: tuple[str, ...], ended: str) -> None:
    """A runner that was killed leaves it alive, one that saw a breach ends it; its call stays open."""
    case = sealed(RIGHT[:5], lost=lost)
    assert row_of(case, TableName.MEMBERS)["ended"] == ended
    assert "end_ns" not in row_of(case, TableName.CALLS)


@pytest.mark.parametrize(("error", "ended"), [("SIGSEGV", "died"), ("IllegalStateException", "left")])
def test_a_leave_that_fails_is_a_death_if_the_process_died(error: str, ended: str) -> None:
    """What the shutdown threw is kept beside how the life ended."""
    case = sealed([replace(each, error=error) if isinstance(each, Left) else each for each in RIGHT])
    row = row_of(case, TableName.MEMBERS)
    assert (row["ended"], row["leave_error"]) == (ended, error)
    assert "error" not in row


def test_calls_of_the_application_are_kept_with_its_life() -> None:
    """Those of a life that was never ordered are troubles."""
    seek = Applied(1, 1, ConsumerCall.SEEK, "broker-a", 0, 22, 23, 7)
    case = sealed((*RIGHT, seek, replace(seek, number=2, incarnation=2)))
    assert row_of(case, TableName.MEMBERS)["applied"] == [
        {"what": "seek", "broker": "broker-a", "queue_id": 0, "start_ns": 22, "end_ns": 23, "offset": 7, "error": None}
    ]
    assert case.arms[Arm.BASELINE].troubles == ("applied 2: of an incarnation that was never ordered",)


def test_a_killed_member_ended_by_the_runner_and_keeps_its_pauses() -> None:
    """Its call stays open, and its group is as done as the rest; a pause without its end lasted to the end of the journal."""
    orders = [
        JOIN,
        OrderedMember(Arm.BASELINE, 0, 1, "pause", 11, 12, 13),
        OrderedMember(Arm.BASELINE, 0, 1, "resume", 14, 15, 16),
        OrderedMember(Arm.BASELINE, 0, 1, "pause", 17, 18, None),
        OrderedMember(Arm.BASELINE, 0, 1, "kill", 20, 21, 22),
    ]
    case = sealed(RIGHT[:5], watched={GROUP_JOURNAL: orders})
    row = row_of(case, TableName.MEMBERS)
    assert (row["ended"], row["killed_ns"]) == ("killed", 21)
    assert row["pauses"] == [
        {"from_ns": 12, "proven_ns": 13, "until_ns": 15},
        {"from_ns": 18, "proven_ns": None, "until_ns": None},
    ]
    assert case.arms[Arm.BASELINE].done
    assert "end_ns" not in row_of(case, TableName.CALLS)


def test_a_member_of_a_mixed_group_has_its_own_subject() -> None:
    """The candidate's second member runs the baseline, and a breach of its is the baseline's."""
    orders = [replace(JOIN, arm=arm, member=member) for arm in Arm for member in (0, 1)]
    groups = {Arm.BASELINE: GroupEntry("b", 2), Arm.CANDIDATE: GroupEntry("c", 2, mixed=(1,))}
    subjects = {Arm.BASELINE: "java:5.3.3", Arm.CANDIDATE: "acme:1"}
    case = sealed(watched={GROUP_JOURNAL: orders}, groups=groups, subjects=subjects)
    found = {arm: case.tables[TableName.MEMBERS, arm]["subject"] for arm in Arm}
    assert found == {Arm.BASELINE: ["java:5.3.3"] * 2, Arm.CANDIDATE: ["acme:1", "java:5.3.3"]}


@pytest.mark.parametrize(
    ("lost", "blamed"),
    [
        ("candidate-m0", Arm.CANDIDATE),
        ("candidate-m1", Arm.BASELINE),
        ("baseline-m1", Arm.CANDIDATE),
    ],
)
def test_a_breach_in_a_mixed_group_is_charged_to_its_member(lost: str, blamed: Arm) -> None:
    """The last one is of the other arm: the candidate's own members are blamed for the rest."""
    entry = SimpleNamespace(breaches={lost: None}, groups={Arm.CANDIDATE: GroupEntry("c", 2, mixed=(1,))})
    assert CaseEntry.blamed_for(cast(Any, entry), Arm.CANDIDATE) is blamed


def test_every_table_of_the_role_can_be_sealed_and_read(tmp_path: Path) -> None:
    """Columns fit the published schemas, empty ones too, and rows are whole groups of members."""
    case = sealed(watched={EXCHANGES_JOURNAL: EXCHANGES})
    made = {name for name, _ in case.tables}
    read_back = {TableName.HELD, TableName.RETURNED, TableName.FAULTS}
    assert made == {spec.name for spec in tables_of(ClientRole.CONSUMER)} - read_back
    for (name, arm), columns in case.tables.items():
        path = tmp_path / name / f"01-{arm}.parquet"
        table = sorted_table(name, columns)
        write_sealed(path, table, run="r", name=name, case=1, arm=arm, subject=None)
        assert read_sealed(path)[0].equals(table)


def test_a_damaged_journal_of_our_own_is_refused() -> None:
    """What the runner wrote must be readable; no member is to blame."""
    with pytest.raises(TraceError, match="a ListedMembers in the journal listed, line 1"):
        sealed(watched={LISTED_JOURNAL: [{"arm": "nobody"}]})
