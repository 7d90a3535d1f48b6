"""What the sealing of a case gets and returns, whatever its role."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.sends.plan import PlannedSend
from rocketdiff.traces.journal import ArmJournal
from rocketdiff.traces.manifest import ArmSummary, GroupEntry
from rocketdiff.traces.schema import Columns, TableName


@dataclass(frozen=True, slots=True)
class CaseJournals:
    """
    The journals of a case. origin_ns: monotonic time of the plan's offset 0.

    of: reads the journal of a member. lines: of another journal, by name. topics, groups: of a case about consumers. lost: names
    of members that broke the protocol, and were ended.
    """

    number: int
    plan: Sequence[PlannedSend]
    origin_ns: int
    of: Callable[[Member], ArmJournal]
    lines: Callable[[str], Iterable[bytes]]
    subjects: Mapping[Arm, str]
    topics: Mapping[Arm, str]
    groups: Mapping[Arm, GroupEntry]
    lost: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class SealedCase:
    """Unsorted columns by table and arm (None: of the whole case), and what each arm's journals hold."""

    tables: Mapping[tuple[TableName, Arm | None], Columns]
    arms: Mapping[Arm, ArmSummary]
