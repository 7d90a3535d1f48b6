"""A scenario as the rest of the harness sees it: validated, typed, and without YAML except its text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rocketdiff.core.case import CaseId, Tolerance
from rocketdiff.core.consuming.plan import GroupPlan, MemberChange
from rocketdiff.core.demand import Demand
from rocketdiff.core.sends.plan import Plan
from rocketdiff.core.tables.fault import PAUSES, FaultSpec
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.scenario.consuming.group import GroupWork
from rocketdiff.scenario.sending.workload import Workload


class Work(Protocol):
    """What clients of one role do in a scenario."""

    def demands(self, queue_counts: tuple[int, ...]) -> Sequence[Demand]:
        """What a client must have to take part."""

    def figures(self) -> dict[str, object]:
        """Return the work as reports state it."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """
    One scenario file.

    faults: repeats expanded, by time; each pause is its own episode.
    suites: where it runs by default.
    text: the file as read; source: its origin, for messages.
    ordered: the topic is marked as ordered.
    group: of a scenario about consumers, which the workload feeds.
    """

    name: str
    establishes: str
    covers: tuple[str, ...]
    topology: str
    queues_per_broker: int
    settings: ClientSettings
    workload: Workload
    faults: tuple[FaultSpec, ...]
    checks: tuple[str, ...]
    suites: tuple[str, ...]
    tolerances: tuple[Tolerance, ...]
    text: str
    source: str
    ordered: bool = False
    group: GroupPlan | None = None

    @property
    def role(self) -> ClientRole:
        """The role of the clients under test."""
        return tuple(self.work)[-1]

    @property
    def work(self) -> Mapping[ClientRole, Work]:
        """What each role does, the role under test last."""
        own: dict[ClientRole, Work] = {ClientRole.PRODUCER: self.workload}
        return own if self.group is None else {**own, ClientRole.CONSUMER: GroupWork(self.group)}

    def demands(self) -> tuple[Demand, ...]:
        """What a client must have to take part."""
        brokers = len(topology_named(self.topology).broker_letters)
        counts = tuple(number * self.queues_per_broker for number in range(1, brokers + 1))
        return tuple(self.work[self.role].demands(counts))

    @property
    def group_figures(self) -> Mapping[str, object]:
        """The group of consumers, for conditions on it; empty without one."""
        return {} if self.group is None else GroupWork(self.group).figures()

    @property
    def duration_s(self) -> float:
        """Seconds from the first possible due time to the last."""
        return self.workload.duration_s

    @property
    def sends(self) -> int:
        """Sends per arm."""
        return self.workload.sends

    @property
    def episodes(self) -> int:
        """Number of pauses of brokers and proxies."""
        return sum(fault.kind in PAUSES for fault in self.faults)

    def spells_of(self, check: str) -> int:
        """Number of pauses, or of members that come or go, that a statistical check compares."""
        if check != "takeover-time":
            return self.episodes
        membership = () if self.group is None else self.group.membership
        return sum(event.change is not MemberChange.PAUSE for event in membership)


@dataclass(frozen=True, slots=True)
class Case:
    """
    A scenario for one pair of subjects, with the exact sends of both arms.

    brokers: broker names by letter, on a cluster with other names than ours; faults use these names too.
    attempt_timeout_ms: longest attempt of the two subjects if longer than the scenario's setting; else 0.
    """

    id: CaseId
    scenario: Scenario
    plan: Plan
    brokers: tuple[str, ...] = ()
    attempt_timeout_ms: int = 0

    @property
    def faults(self) -> tuple[FaultSpec, ...]:
        return self.scenario.faults
