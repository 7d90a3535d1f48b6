"""Which scenarios a run is made of, and which it leaves out, with the reason: nothing is left out silently."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.external.description import DescribedCluster
from harness.core.errors import UsageError
from harness.core.resources import resource
from harness.core.subject import SubjectId
from harness.external import require_chosen_possible, why_not_here
from harness.scenario import Scenario, load_all, select
from harness.subjects.registry import offers


@dataclass(frozen=True, slots=True)
class Choice:
    """
    What was chosen, and what of it can be run.

    without_call: scenarios whose kind of send one of the two clients does not have: no difference could be told there.
    not_here: those that somebody's own cluster was not given the nodes or the commands for, each with the reason.
    """

    scenarios: tuple[Scenario, ...]
    without_call: tuple[str, ...]
    not_here: tuple[tuple[str, str], ...]

    @property
    def why_none(self) -> str:
        """What to say to somebody who is left with no scenario at all."""
        if self.not_here:
            return "; ".join(f"{name}: {reason}" for name, reason in self.not_here)
        if self.without_call:
            return f"{', '.join(self.without_call)}: one of the two clients has no such call"
        return "rocketdiff scenarios lists them"


def choose(
    root: Path | None,
    suite: str | None,
    patterns: Sequence[str],
    subjects: Sequence[SubjectId],
    described: DescribedCluster | None,
) -> Choice:
    """
    Scenarios by suite and pattern, without those that cannot be run.

    Raises UsageError for one that was asked for by its very name and that the described cluster cannot be given.
    """
    selected = select(load_all(root or resource("fixtures/scenarios")), suite=suite, patterns=patterns)
    require_chosen_possible(selected, patterns, described)
    without_call = [
        one.name
        for one in selected
        if not all(offers(subject, one.workload.call, one.workload.mode) for subject in subjects)
    ]
    reasons = ((one.name, why_not_here(one, described)) for one in selected)
    not_here = {name: reason for name, reason in reasons if reason is not None}
    possible = tuple(one for one in selected if one.name not in not_here and one.name not in without_call)
    return Choice(possible, tuple(without_call), tuple(not_here.items()))


def require_some(choice: Choice, suite: str | None, patterns: Sequence[str]) -> None:
    """UsageError when nothing is left: a typing error must not look like a pass."""
    if not choice.scenarios:
        raise UsageError(
            "at least one scenario",
            seen=f"none in suite {suite or 'all'} for {', '.join(patterns) or 'every name'}",
            hint=choice.why_none,
        )
