"""All kinds of clients, by name."""

from collections.abc import Collection

from rocketdiff.core.errors import UsageError
from rocketdiff.core.plan import SendKind, SendMode
from rocketdiff.core.subject import SubjectId
from rocketdiff.subjects.kind import Kind, LabHost
from rocketdiff.subjects.kinds import cpp, java, python, toy
from rocketdiff.subjects.program import SubjectProgram

KINDS = {kind.name: kind for kind in (java.KIND, python.KIND, cpp.KIND, toy.KIND)}
"""A new client is one file in ``kinds`` and one name in this tuple."""


def kind_of(subject: SubjectId) -> Kind:
    """The kind of a subject's client; UsageError, with the known names, for an unknown one."""
    kind = KINDS.get(subject.client)
    if kind is None:
        hint = ", ".join(f"{name}:…" for name in KINDS)
        raise UsageError("a client the harness knows", seen=str(subject), hint=hint)
    return kind


def program_of(subject: SubjectId) -> SubjectProgram:
    """
    The program of a subject, without starting or fetching anything.

    Raises UsageError for a client or release that is not known, naming those that are.
    """
    return kind_of(subject).program(subject)


def offers(
    subject: SubjectId, kind: SendKind, mode: SendMode = SendMode.SYNC, queue_counts: Collection[int] = ()
) -> bool:
    """Whether the subject's client has this kind of send in this mode; True for an unknown client, whose hello will tell."""
    known = KINDS.get(subject.client)
    return known is None or known.has_call(subject.release, kind, mode, queue_counts)


def lab_host_of(subject: SubjectId) -> LabHost | None:
    """What executes a subject in virtual time; None if nothing does."""
    known = KINDS.get(subject.client)
    return None if known is None else known.lab_host


def known_subjects() -> dict[str, tuple[str, ...]]:
    """Every subject that can be named: releases (for toys: defects) by client."""
    return {name: kind.releases() for name, kind in KINDS.items()}
