"""Which program a subject is: every kind of client the harness can start, by the first part of its name."""

from collections.abc import Callable, Collection

from rocketdiff.core.errors import UsageError
from rocketdiff.core.plan import SendKind, SendMode
from rocketdiff.core.subject import SubjectId
from rocketdiff.releases import cpp_client
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.subjects.kinds import cpp, java, python, toy
from rocketdiff.subjects.program import SubjectProgram

_KINDS: dict[str, Callable[[SubjectId], SubjectProgram]] = {
    java.CLIENT: java.java_program,
    python.CLIENT: python.python_program,
    cpp.CLIENT: cpp.cpp_program,
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


def offers(
    subject: SubjectId, kind: SendKind, mode: SendMode = SendMode.SYNC, queue_counts: Collection[int] = ()
) -> bool:
    """
    Whether its client's interface has this kind of send, in this mode, as far as is known before it says hello.

    queue_counts: numbers of queues that the topic may have; a selector that cannot be made to choose among so many is none.
    """
    if (
        kind is SendKind.BATCH
        and subject.release in java.WITHOUT_BATCH
        and subject.client in (java.CLIENT, python.CLIENT)
    ):
        return False
    if subject.client != cpp.CLIENT:
        return True
    return (kind, mode) in cpp.CALLS and (kind is not SendKind.SELECTOR or all(map(cpp.can_select, queue_counts)))


def known_subjects() -> dict[str, tuple[str, ...]]:
    """Every subject that can be named: releases (for toys: defects) by client."""
    return {
        java.CLIENT: client_releases(),
        python.CLIENT: python.known_releases(),
        cpp.CLIENT: cpp_client.RELEASES,
        toy.CLIENT: tuple(toy.DEFECTS),
    }
