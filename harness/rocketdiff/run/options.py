"""Parsers of option values: subjects, suite, policy."""

from typing import TYPE_CHECKING

from rocketdiff.core.answers.policy import Inconclusive, Policy
from rocketdiff.core.errors import UsageError
from rocketdiff.core.subject import REFERENCE, STANDARD, ClientProtocol, SubjectId, with_client
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE

if TYPE_CHECKING:
    from rocketdiff.subjects.subject import Subject

_FIRST_SUITE = {ClientProtocol.REMOTING: "quick", ClientProtocol.GRPC: "grpc"}


def pair_of(subjects: list[str]) -> "tuple[Subject, Subject]":
    """
    Both subjects. A single one gets the reference of its release; without any, java:5.3.3 and its reference.

    Starts programs of the user to read their hello.
    """
    from rocketdiff.subjects.registry import resolved  # noqa: PLC0415 - help needs no subjects

    if not subjects:
        subjects = [DEFAULT_RELEASE]
    if len(subjects) > 2:
        raise UsageError("two subjects", seen=f"{len(subjects)}", hint="--subject java:5.3.3 --subject python:5.3.3")
    first, *second = map(resolved, subjects)
    return first, second[0] if second else _reference_for(first)


def built(subjects: list[str]) -> None:
    """Run the build commands of the subject files among them. UsageError if there is none, EnvironmentMissing if one fails."""
    from rocketdiff.subjects.own.subject_build import build_all  # noqa: PLC0415 - nor their builds
    from rocketdiff.subjects.registry import file_of  # noqa: PLC0415 - help needs no subjects

    build_all([file for text in subjects if (file := file_of(text)) is not None])


def subject_of(text: str) -> SubjectId:
    """A client that rocketdiff knows. A bare release (`5.3.3`) or a build means the Java client."""
    from rocketdiff.releases.programs.builds import is_build, kept  # noqa: PLC0415 - help needs no releases
    from rocketdiff.subjects.registry import spelled_out  # noqa: PLC0415 - nor subjects

    named = spelled_out(text)
    release = named.removeprefix(f"{STANDARD}:")
    return SubjectId(STANDARD, kept(release)) if is_build(release) else SubjectId.parse(with_client(named))


def release_of(text: str) -> str:
    """A release of the Java client, from 5.3.3, java:5.3.3 or a wrapper; for a build (patched.jar@5.3.3, dist/lib/) its label."""
    from rocketdiff.releases.programs.builds import label_of  # noqa: PLC0415 - help needs no releases
    from rocketdiff.subjects.registry import spelled_out  # noqa: PLC0415 - nor subjects

    return label_of(spelled_out(text).removeprefix(f"{STANDARD}:"))


def _reference_for(subject: "Subject") -> "Subject":
    """Only a Java release has a reference."""
    from rocketdiff.subjects.registry import published  # noqa: PLC0415 - help needs no subjects

    if subject.rules is None:
        raise UsageError(
            "two subjects: only a Java client can be named alone, beside the reference of its release",
            seen=f"{subject} alone",
            hint=f"--subject {SubjectId(STANDARD, DEFAULT_RELEASE)} --subject {subject}",
        )
    return published(SubjectId(REFERENCE, subject.rules))


def suite_of(asked: str | None, *, is_chosen: bool, protocol: ClientProtocol = ClientProtocol.REMOTING) -> str | None:
    """The suite name, or None for every suite: for `all`, and if scenarios are chosen by name or folder."""
    if asked is None:
        return None if is_chosen else _FIRST_SUITE[protocol]
    return None if asked == "all" else asked


def policy_of(inconclusive: str, *, strict: bool) -> Policy:
    """The gating policy from the options."""
    try:
        return Policy(inconclusive=Inconclusive(inconclusive), strict=strict)
    except ValueError as error:
        raise UsageError("--inconclusive fail, warn or pass", seen=inconclusive) from error
