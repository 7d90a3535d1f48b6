"""Which program a subject is: every kind of client the harness can start, by the first part of its name."""

from collections.abc import Callable

from harness.core.errors import UsageError
from harness.core.subject import SubjectId
from harness.releases.catalogue import client_releases
from harness.subjects import java, python, toy
from harness.subjects.program import SubjectProgram

_KINDS: dict[str, Callable[[SubjectId], SubjectProgram]] = {
    java.CLIENT: java.java_program,
    python.CLIENT: python.python_program,
    toy.CLIENT: toy.toy_program,
}


def program_of(subject: SubjectId) -> SubjectProgram:
    """
    The program of a subject, without starting or fetching anything.

    Raises UsageError for a client or release that is not known, naming those that are.
    """
    make = _KINDS.get(subject.client)
    if make is None:
        raise UsageError(
            "a client the harness knows", seen=str(subject), hint=", ".join(f"{kind}:…" for kind in _KINDS)
        )
    return make(subject)


def known_subjects() -> dict[str, tuple[str, ...]]:
    """Every subject that can be named: releases (for toys: defects) by client."""
    return {
        java.CLIENT: client_releases(),
        python.CLIENT: python.known_releases(),
        toy.CLIENT: tuple(toy.DEFECTS),
    }
