"""A scenario as the rest of the harness sees it: checked, typed, and nothing of YAML left but its text."""

from dataclasses import dataclass

from harness.core.case import CaseId
from harness.core.fault import FaultKind, FaultSpec
from harness.core.plan import Plan, SendKind
from harness.core.settings import ClientSettings

FORMAT = 1
"""Version of the file format; another number is another format and is refused."""

CHECKS = (
    "queue-choice",
    "attempts",
    "avoidance",
    "error-kind",
    "timing",
    "loss",
    "duplication",
    "failover-time",
)
"""Questions a scenario may ask; ``protocol`` and ``validity`` are asked of every case and never written down."""

SUITES = ("quick", "full")


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
    empty: the number of the send; None: drawn from the seed. body_bytes: taken in turn.
    """

    threads: int
    rate_per_s: float
    duration_s: float
    call: SendKind
    arguments: tuple[int, ...] | None
    body_bytes: tuple[int, ...]

    @property
    def sends(self) -> int:
        """How many sends an arm is asked for."""
        return max(1, round(self.rate_per_s * self.duration_s))


@dataclass(frozen=True, slots=True)
class Scenario:
    """
    One scenario file.

    faults: repeats written out, by time; each pause is an episode of its own. suites: where it runs by default. text: the
    file as it was read; source: where from, for messages.
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
        """How many times a broker is paused."""
        return sum(fault.kind is FaultKind.PAUSE for fault in self.faults)


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario for one pair of subjects, with the exact sends both arms are given."""

    id: CaseId
    scenario: Scenario
    plan: Plan

    @property
    def faults(self) -> tuple[FaultSpec, ...]:
        """What is done to the cluster, by time."""
        return self.scenario.faults


def fault_sentence(fault: FaultSpec) -> str:
    """One fault for people: ``broker-b paused at 1.5 s for 1 s``."""
    if fault.kind is FaultKind.KILL:
        end = "for good" if fault.for_s is None else f"and restarted after {fault.for_s:g} s"
        return f"{fault.node} killed at {fault.at_s:g} s {end}"
    return f"{fault.node} paused at {fault.at_s:g} s for {fault.for_s:g} s"
