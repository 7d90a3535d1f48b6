"""Runs scripts on subjects, and compares two subjects."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from rocketdiff.core.errors import UsageError
from rocketdiff.core.subject import SubjectId
from rocketdiff.simulation.comparison.answers import visible
from rocketdiff.simulation.comparison.attribution import View, rules_behind, which_departs
from rocketdiff.simulation.comparison.difference import AnswerDifference, first_difference
from rocketdiff.simulation.comparison.initial_state import with_initial_state
from rocketdiff.simulation.comparison.outcomes import OutcomeDifference, outcome_of
from rocketdiff.simulation.java_host.host import Job, require_release
from rocketdiff.simulation.script.model import NamedScript
from rocketdiff.simulation.virtual import dialect_for, run_reference
from rocketdiff.subjects.kind import LabHost
from rocketdiff.subjects.registry import KINDS, lab_host_of
from rocketmq_reference.dialects import dialect_of


class ComparisonHost(Protocol):
    """The used part of the Java host."""

    def run_all(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, list[str]]]: ...


@dataclass(frozen=True, slots=True)
class ScriptComparison:
    """The number of the left subject's answers to a script, and the first difference, if any, with the outcome of a member's."""

    script: NamedScript
    answers: int
    difference: AnswerDifference | None
    outcome: OutcomeDifference | None = None


def require_simulated(subject: SubjectId) -> None:
    """Raise UsageError unless the subject is a Java client or the reference; only these run in virtual time."""
    if lab_host_of(subject) is None:
        hint = " or ".join(f"{name}:…" for name, kind in KINDS.items() if kind.lab_host is not None)
        raise UsageError("a subject that runs in virtual time", seen=str(subject), hint=hint)
    require_release(subject.release)


def answers(
    subjects: Sequence[SubjectId], scripts: Iterable[NamedScript], host: ComparisonHost, *, trace: bool
) -> Iterator[tuple[NamedScript, list[list[str]]]]:
    """
    Yield each script with the answers of every subject; the Java host runs ahead of the reference.

    Raises UsageError for a script that cannot be run.
    """
    in_java = [subject for subject in subjects if lab_host_of(subject) is LabHost.CLASSES]
    if not in_java:
        for script in scripts:
            yield script, [_by_reference(subject, script, trace=trace) for subject in subjects]
        return
    ahead: deque[NamedScript] = deque()

    def jobs() -> Iterator[Job]:
        for script in scripts:
            ahead.append(script)
            yield from (Job(subject.release, script.name, script.script, trace) for subject in in_java)

    finished = host.run_all(jobs())
    for _, first in finished:
        script = ahead.popleft()
        by_java = iter([first, *(next(finished)[1] for _ in in_java[1:])])
        yield script, [next(by_java) if s in in_java else _by_reference(s, script, trace=trace) for s in subjects]


def compared(
    subjects: tuple[SubjectId, SubjectId], scripts: Iterable[NamedScript], host: ComparisonHost, *, states: bool
) -> Iterator[ScriptComparison]:
    """
    Yield the comparison of each script.

    states: also compare the clients' inner states after every step.
    """
    left, right = subjects
    view: View = list if states else visible
    for script, sides in answers(subjects, scripts, host, trace=True):
        before, after = (view(lines) for lines in sides)
        difference = first_difference(script.name, before, after)
        if difference is not None:
            explain = which_departs if _are_builds_of_one_dialect(left, right) else rules_behind
            rules = explain(script, difference, left.release, right.release, view)
            difference = with_initial_state(script, replace(difference, rules=rules), right.release)
        yield ScriptComparison(script, len(before), difference, outcome_of(before, after) if difference else None)


def _are_builds_of_one_dialect(left: SubjectId, right: SubjectId) -> bool:
    """True if both subjects are Java classes with one dialect, so that the reference has no part in their difference."""
    in_java = all(lab_host_of(subject) is LabHost.CLASSES for subject in (left, right))
    return in_java and dialect_of(left.release) == dialect_of(right.release)


def _by_reference(subject: SubjectId, script: NamedScript, *, trace: bool) -> list[str]:
    return run_reference(dialect_for(script.script, subject.release), script.name, script.script, trace=trace)
