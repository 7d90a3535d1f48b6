"""All kinds of clients by name; resolves the text of ``--subject`` to a startable subject."""

import re
from dataclasses import replace
from pathlib import Path

from rocketdiff.core.demand import Demand
from rocketdiff.core.errors import UsageError
from rocketdiff.core.records.session import Hello
from rocketdiff.core.subject import STANDARD, SubjectId, with_client
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.process.attached import AttachPoint
from rocketdiff.releases.programs.builds import is_build, kept
from rocketdiff.releases.programs.wrappers import unwrapped
from rocketdiff.subjects.kind import Kind, LabHost
from rocketdiff.subjects.kinds import cpp, grpc_java, java, other_languages, python, toy
from rocketdiff.subjects.own import subject_file
from rocketdiff.subjects.own.own_program import (
    PREFIX,
    AttachedProgram,
    OwnProgram,
    ProgramCommand,
    attached_hello,
    command_of,
    found_command,
    hello_of,
    id_of,
)
from rocketdiff.subjects.program import SubjectProgram
from rocketdiff.subjects.subject import Subject

KINDS = {
    kind.name: kind for kind in (java.KIND, python.KIND, cpp.KIND, *other_languages.KINDS, toy.KIND, grpc_java.KIND)
}
"""A client of another language is a row of ``releases.programs.driver_builds``; any other is a file in ``kinds`` and a name here."""

_LABELLED = re.compile(f"(?P<label>{subject_file.LABEL})=(?P<rest>.+)", re.DOTALL)


def kind_of(subject: SubjectId) -> Kind:
    """Return the kind of a subject's client; raises UsageError, with the known names, for an unknown one."""
    kind = KINDS.get(subject.client)
    if kind is None:
        hint = ", ".join(f"{name}:…" for name in KINDS) + "; a program of yours: exec:./driver"
        if subject.client == "attach":
            hint = "a run ends, watches and times its programs itself: exec:./driver; under a debugger: rocketdiff subject attach"
        raise UsageError("a client the harness knows", seen=str(subject), hint=hint)
    return kind


def program_of(subject: SubjectId) -> SubjectProgram:
    """
    Return the program of a subject, without starting or fetching anything.

    Raises UsageError for an unknown client or release.
    """
    return kind_of(subject).program(subject)


def published(subject: SubjectId) -> Subject:
    """Return a bundled client as a subject; raises UsageError like ``program_of``."""
    kind = kind_of(subject)
    own_ms = kind.attempt_timeout_ms
    return Subject(subject, str(subject), kind.program(subject), kind, attempt_timeout_ms=own_ms)


def resolved(spec: str) -> Subject:
    """
    Return the subject that ``--subject`` names, with or without ``label=``.

    It names a published client or a wrapper of one, a build of the Java client, a program after ``exec:``, or a subject file. A
    program is started for its hello.

    Raises UsageError for anything else, and for a program that does not begin with a hello.
    """
    spec = spec.strip()
    label, named = _parted(spec)
    described = subject_file.read(Path(named)) if subject_file.is_subject_file(named) else None
    if described is not None and described.command:
        command = found_command(described.command, described.folder, described.environment)
        subject = _narrowed(_own(spec, command), described)
    elif named.startswith(PREFIX):
        subject = _own(spec, command_of(named, Path.cwd()))
    else:
        subject = _named(spelled_out(spec))
    if described is not None:
        label, ledger = label or described.label, described.ledger
        return replace(subject, spec=spec, label=label, ledger=ledger)
    return replace(subject, spec=spec if _is_needed(spec, subject) else subject.spec, label=label)


def attached(point: AttachPoint) -> Subject:
    """Return the program that connects there as a subject; raises UsageError if it does not begin with a hello."""
    hello = attached_hello(point)
    return _described(hello, f"attach:{point.address}", AttachedProgram(id_of(hello, frozenset(KINDS)), point))


def file_of(text: str) -> Path | None:
    """Return the subject file that a text names, with or without a label; None for any other subject."""
    _, named = _parted(text.strip())
    return Path(named) if subject_file.is_subject_file(named) else None


def spelled_out(text: str) -> str:
    """Drop the label; replace a wrapper by the client it ships, and a file about a Java build by ``java:`` and the build."""
    _, named = _parted(text.strip())
    if subject_file.is_subject_file(named):
        described = subject_file.read(Path(named))
        return f"{STANDARD}:{described.build}" if described.build else named
    return unwrapped(named)


def _parted(spec: str) -> tuple[str, str]:
    match = _LABELLED.fullmatch(spec)
    return (match["label"], match["rest"]) if match else ("", spec)


def _is_build(client: str, release: str) -> bool:
    return client == STANDARD and is_build(release)


def _named(text: str) -> Subject:
    client, colon, release = with_client(text).partition(":")
    if _is_build(client, release):
        return published(SubjectId(client, kept(release)))
    try:
        return published(SubjectId.parse(f"{client}{colon}{release}"))
    except UsageError as problem:
        if meant := _meant(text):
            raise UsageError(problem.expected, seen=problem.seen, hint=meant) from problem
        raise


def _meant(text: str) -> str:
    """Return a hint how to name an existing file or folder; empty if there is none."""
    path = text.removeprefix(f"{STANDARD}:")
    if Path(path).is_dir():
        return f"a folder of jars: {STANDARD}:{path}/"
    if path != text:
        return f"a file with a class path: {STANDARD}:@{path}" if Path(path).is_file() else ""
    if is_build(path):
        return f"a build of the Java client: {STANDARD}:{path}"
    return f"a program: {PREFIX}{path}" if Path(path).is_file() else ""


def _is_needed(spec: str, subject: Subject) -> bool:
    """True if the spec cannot be derived from the subject's name."""
    return with_client(spec) != str(subject)


def _own(spec: str, command: ProgramCommand) -> Subject:
    hello = hello_of(spec, command)
    subject = id_of(hello, frozenset(KINDS))
    return _described(hello, spec, OwnProgram(subject, command))


def _described(hello: Hello, spec: str, program: OwnProgram | AttachedProgram) -> Subject:
    capabilities, roles = frozenset(hello.capabilities), hello.roles or (ClientRole.PRODUCER,)
    return Subject(program.subject, spec, program, None, capabilities, roles, hello.attempt_timeout_ms)


def _narrowed(subject: Subject, described: subject_file.DescribedSubject) -> Subject:
    """Apply the subject file, which takes precedence over the program's hello."""
    own_ms = described.attempt_timeout_ms or subject.attempt_timeout_ms
    left = subject.capabilities - described.unsupported
    return replace(subject, capabilities=left, attempt_timeout_ms=own_ms, rules_given=described.rules)


def offers(subject: SubjectId, demand: Demand) -> bool:
    """True if the client has what is demanded; also for an unknown client, whose hello decides."""
    known = KINDS.get(subject.client)
    return known is None or known.has(subject.release, demand)


def lab_host_of(subject: SubjectId) -> LabHost | None:
    """Return how a subject is executed in virtual time; None if it cannot be."""
    known = KINDS.get(subject.client)
    return None if known is None else known.lab_host


def known_subjects() -> dict[str, tuple[str, ...]]:
    """Return all known subjects: releases (for toys: defects) by client."""
    return {name: kind.releases() for name, kind in KINDS.items()}
