"""A scenario as the rest of the harness sees it: checked, typed, and nothing of YAML left but its text."""

from dataclasses import dataclass

from rocketdiff.core.case import CaseId
from rocketdiff.core.sends.plan import Plan, SendKind, SendMode
from rocketdiff.core.tables.fault import PAUSES, FaultSpec
from rocketdiff.core.tables.settings import ClientSettings


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A margin of one check: two durations are the same when their ratio is within [1/ratio, ratio]; with its reason."""

    check: str
    ratio: float
    reason: str


@dataclass(frozen=True, slots=True)
class Workload:
    """
    What the application does, the same in both arms.

    rate_per_s: sends a second over all threads together. arguments: taken in turn by the sends (QUEUE and SELECTOR only);
    empty: the number of the send; None: drawn from the seed. body_bytes, delay_levels, keys, tags: taken in turn.
    properties: user properties of every message.
    """

    threads: int
    rate_per_s: float
    duration_s: float
    call: SendKind
    arguments: tuple[int, ...] | None
    body_bytes: tuple[int, ...]
    mode: SendMode = SendMode.SYNC
    delay_levels: tuple[int, ...] = (0,)
    keys: tuple[str, ...] = ("",)
    tags: tuple[str, ...] = ("",)
    properties: tuple[tuple[str, str], ...] = ()

    @property
    def sends(self) -> int:
        """How many sends an arm is asked for."""
        return max(1, round(self.rate_per_s * self.duration_s))


@dataclass(frozen=True, slots=True)
class Scenario:
    """
    One scenario file.

    faults: repeats written out, by time; each pause is an episode of its own. suites: where it runs by default. text: the
    file as it was read; source: where from, for messages. ordered: the topic is marked as one of ordered messages.
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

    @property
    def duration_s(self) -> float:
        """Seconds from the first possible due time to the last."""
        return self.workload.duration_s

    @property
    def sends(self) -> int:
        """How many sends an arm is asked for."""
        return self.workload.sends

    @property
    def episodes(self) -> int:
        """How many times what clients send to is paused: a broker, or a proxy before them."""
        return sum(fault.kind in PAUSES for fault in self.faults)


@dataclass(frozen=True, slots=True)
class Case:
    """
    A scenario for one pair of subjects, with the exact sends both arms are given.

    brokers: names of the brokers by letter, on a cluster whose brokers have other names than ours; faults name them so too.
    attempt_timeout_ms: how long an attempt of one of the two may last, if longer than the scenario's setting; else 0.
    """

    id: CaseId
    scenario: Scenario
    plan: Plan
    brokers: tuple[str, ...] = ()
    attempt_timeout_ms: int = 0

    @property
    def faults(self) -> tuple[FaultSpec, ...]:
        """What is done to the cluster, by time."""
        return self.scenario.faults
