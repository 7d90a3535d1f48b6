"""Which scenarios a run is made of, and which it leaves out, with the reason: nothing is left out silently."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.analysis.masters import require_master
from rocketdiff.cluster.backend import Backend
from rocketdiff.core.errors import UsageError
from rocketdiff.core.files import require_folder, require_nameable
from rocketdiff.core.resources import resource
from rocketdiff.core.run_options import DEFAULT_RELEASE
from rocketdiff.core.subject import STANDARD, SubjectId
from rocketdiff.core.topology import topology_named
from rocketdiff.run.request import Selection
from rocketdiff.scenario import Scenario, load_all, select
from rocketdiff.subjects.registry import offers, program_of

NO_CALL = "one of the two clients has no such call"
"""Why a scenario is left out whose kind of send one of them does not have: no difference could be told there."""


@dataclass(frozen=True, slots=True)
class Choice:
    """
    What was chosen, and what of it can be run.

    without_call: scenarios that are left out for NO_CALL.
    not_here: scenarios that the backend cannot run, each with the reason.
    """

    scenarios: tuple[Scenario, ...]
    without_call: tuple[str, ...]
    not_here: tuple[tuple[str, str], ...]

    @property
    def left_out(self) -> tuple[tuple[str, str], ...]:
        """Each scenario that is not run, with the reason."""
        return (*((name, NO_CALL) for name in self.without_call), *self.not_here)

    @property
    def why_none(self) -> str:
        """What to say to somebody who is left with no scenario at all."""
        if self.not_here:
            return "; ".join(f"{name}: {reason}" for name, reason in self.not_here)
        if self.without_call:
            return f"{', '.join(self.without_call)}: {NO_CALL}"
        return "rocketdiff scenarios lists them"


def choose(wanted: Selection, subjects: Sequence[SubjectId], backend: Backend) -> Choice:
    """
    Scenarios by suite and pattern, without those that cannot be run.

    Raises UsageError for a scenario that was asked for by its very name and that the backend cannot run.
    """
    there = load_all(wanted.root or resource("fixtures/scenarios"))
    selected = select(there, suite=wanted.suite, patterns=wanted.patterns)
    possibly = ((one.name, why_not_here(one, backend)) for one in selected)
    not_here = {name: reason for name, reason in possibly if reason is not None}
    for name, reason in not_here.items():
        if name in wanted.patterns:
            raise backend.refused(name, reason)
    without_call = [one.name for one in selected if why_not_asked(one, subjects) is not None]
    possible = tuple(one for one in selected if one.name not in not_here and one.name not in without_call)
    return Choice(possible, tuple(without_call), tuple(not_here.items()))


def require_usable(out: Path, master: str | None) -> None:
    """UsageError for a folder or a Spark master that would be refused when the cases have run."""
    require_nameable(out, "--out")
    require_folder(out, "--out")
    require_master(master)


def require_pair(baseline: SubjectId, candidate: SubjectId) -> None:
    """UsageError for a client or a release that is not known, and for a baseline whose rules nobody has written down."""
    for subject in (baseline, candidate):
        program_of(subject)
    if baseline.rules is None:
        turned = f"the other way round: {candidate}, then {baseline}"
        raise UsageError(
            "a baseline whose rules are known, a Java client or the reference",
            seen=str(baseline),
            hint=turned if candidate.rules else f"{SubjectId(STANDARD, DEFAULT_RELEASE)}, then {baseline}",
        )


def require_some(choice: Choice, wanted: Selection) -> None:
    """UsageError when nothing is left: a typing error must not look like a pass."""
    if not choice.scenarios:
        raise UsageError(
            "at least one scenario",
            seen=f"none in suite {wanted.suite_name} for {', '.join(wanted.patterns) or 'every name'}",
            hint=choice.why_none,
        )


def why_not_asked(scenario: Scenario, subjects: Sequence[SubjectId]) -> str | None:
    """Why the subjects cannot be compared in a scenario, on whatever cluster; None for nothing."""
    return None if all(_can_be_asked_of(subject, scenario) for subject in subjects) else NO_CALL


def _can_be_asked_of(subject: SubjectId, scenario: Scenario) -> bool:
    brokers = len(topology_named(scenario.topology).broker_letters)
    counts = [number * scenario.queues_per_broker for number in range(1, brokers + 1)]
    return offers(subject, scenario.workload.call, scenario.workload.mode, counts)


def why_not_here(scenario: Scenario, backend: Backend) -> str | None:
    """What the backend lacks for a scenario; None if it can run it."""
    topology, delayed = topology_named(scenario.topology), any(scenario.workload.delay_levels)
    return backend.why_not(topology, scenario.faults, delayed=delayed)
