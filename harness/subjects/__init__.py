"""Clients under test as programs: the line protocol, child processes with deadlines, one file per kind of client."""

from typing import TYPE_CHECKING

from harness.core.subject import SubjectId

if TYPE_CHECKING:
    from harness.subjects.program import SubjectProgram


def subject_for(subject: SubjectId) -> "SubjectProgram":
    """
    The program of a subject, without starting or fetching anything.

    Raises UsageError for a client or release that is not known, naming those that are.
    """
    # Here because our Python subjects live in this package too, and should not load what only the runner needs.
    from harness.subjects.registry import program_of  # noqa: PLC0415

    return program_of(subject)
