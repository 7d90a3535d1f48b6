"""Runs scripts on one subject for its answers, or on two for their first difference."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from rocketdiff.core.errors import UsageError
from rocketdiff.core.subject import SubjectId
from rocketdiff.simulation.comparison.answers import visible
from rocketdiff.simulation.comparison.attribution import View, rules_behind, which_departs
from rocketdiff.simulation.comparison.difference import Difference, first_difference
from rocketdiff.simulation.comparison.initial_state import with_initial_state
from rocketdiff.simulation.java_host.host import Job, require_release
from rocketdiff.simulation.script.model import NamedScript
from rocketdiff.simulation.virtual import run_reference
from rocketdiff.subjects.kind import LabHost
from rocketdiff.subjects.registry import KINDS, lab_host_of
from rocketmq_reference.dialects import dialect_of


class Host(Protocol):
    """The part of the Java host that this module uses."""

    def run_all(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, list[str]]]:
        """The answer lines of every job, in the order of the jobs."""
        ...


@dataclass(frozen=True, slots=True)
class ScriptComparison:
    """Two subjects' answers to one script: the number of the left one's answers, and the first difference if there is one."""

    script: NamedScript
    answers: int
    difference: Difference | None


def require_simulated(subject: SubjectId) -> None:
    """UsageError for a subject that cannot be simulated: only Java's classes and the reference's rules run in virtual time."""
    if lab_host_of(subject) is None:
        hint = " or ".join(f"{name}:…" for name, kind in KINDS.items() if kind.lab_host is not None)
        raise UsageError("a subject that runs in virtual time", seen=str(subject), hint=hint)
    require_release(subject.release)


def answers(
    subjects: Sequence[SubjectId], scripts: Iterable[NamedScript], host: Host, *, trace: bool
) -> Iterator[tuple[NamedScript, list[list[str]]]]:
    """
    The answers of each subject to each script; the Java host runs ahead while the reference works.

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
    subjects: tuple[SubjectId, SubjectId], scripts: Iterable[NamedScript], host: Host, *, states: bool
) -> Iterator[ScriptComparison]:
    """
    The first difference of each script, if there is one.

    states: compare the clients' inner states too, step by step, not only what an application can see.
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
        yield ScriptComparison(script, len(before), difference)


def _are_builds_of_one_dialect(left: SubjectId, right: SubjectId) -> bool:
    """Whether classes of both are executed that ought to follow the same rules: the reference has no part in their difference."""
    in_java = all(lab_host_of(subject) is LabHost.CLASSES for subject in (left, right))
    return in_java and dialect_of(left.release).name == dialect_of(right.release).name


def _by_reference(subject: SubjectId, script: NamedScript, *, trace: bool) -> list[str]:
    return run_reference(dialect_of(subject.release), script.name, script.script, trace=trace)
