"""Parsers of option values: subjects, suite, policy."""

import re

from rocketdiff.core.errors import UsageError
from rocketdiff.core.policy import Inconclusive, Policy
from rocketdiff.core.run_options import DEFAULT_RELEASE
from rocketdiff.core.subject import REFERENCE, STANDARD, SubjectId

_RELEASE = re.compile(r"[0-9][A-Za-z0-9.+-]*")


def pair_of(subjects: list[str]) -> tuple[SubjectId, SubjectId]:
    """Both subjects; one alone is compared with the reference of its release, none at all is java:5.3.3 with its reference."""
    if not subjects:
        subjects = [DEFAULT_RELEASE]
    parsed = [subject_of(text) for text in subjects]
    if len(parsed) > 2:
        raise UsageError("two subjects", seen=f"{len(parsed)}", hint="--subject java:5.3.3 --subject python:5.3.3")
    return (parsed[0], _reference_for(parsed[0])) if len(parsed) == 1 else (parsed[0], parsed[1])


def subject_of(text: str) -> SubjectId:
    """A subject; a bare release, `5.3.3`, is the Java client's."""
    return SubjectId(STANDARD, text.strip()) if _RELEASE.fullmatch(text.strip()) else SubjectId.parse(text)


def release_of(text: str) -> str:
    """A release of the Java client, written 5.3.3 or java:5.3.3."""
    return text.strip().removeprefix(f"{STANDARD}:")


def _reference_for(subject: SubjectId) -> SubjectId:
    """The reference that a client is compared with when it is named alone; only a Java release has one."""
    from rocketdiff.subjects.registry import program_of  # noqa: PLC0415 - help needs no subjects

    program_of(subject)
    if subject.rules is None:
        raise UsageError(
            "two subjects: only a Java client can be named alone, beside the reference of its release",
            seen=f"{subject} alone",
            hint=f"--subject {SubjectId(STANDARD, DEFAULT_RELEASE)} --subject {subject}",
        )
    return SubjectId(REFERENCE, subject.rules)


def suite_of(asked: str | None, *, is_chosen: bool) -> str | None:
    """None is every suite: what `all` says, and what choosing scenarios by name or folder means."""
    if asked is None:
        return None if is_chosen else "quick"
    return None if asked == "all" else asked


def policy_of(inconclusive: str, *, strict: bool) -> Policy:
    """What gates, from the options."""
    try:
        return Policy(inconclusive=Inconclusive(inconclusive), strict=strict)
    except ValueError as error:
        raise UsageError("--inconclusive fail, warn or pass", seen=inconclusive) from error
