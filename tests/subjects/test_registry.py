"""Which subjects there are, and what is said of one there is not."""

import pytest

from harness.core.errors import UsageError
from harness.core.subject import SubjectId
from harness.subjects.registry import known_subjects, program_of, tells_attempts


@pytest.mark.parametrize("name", ["java:4.0.0-incubating", "java:5.5.0", "python:5.3.3", "cpp:2.1.0", "toy:drops"])
def test_a_known_subject_has_a_program(name: str) -> None:
    """Its name is its own."""
    subject = SubjectId.parse(name)
    assert program_of(subject).subject == subject


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("java:5.3.9", "5.3.3"),
        ("python:1.0", "5.3.3"),
        ("toy:sings", "drops"),
        ("cpp:1.0", "2.1.0"),
        ("rust:1", "java:"),
    ],
)
def test_an_unknown_subject_is_a_usage_error_that_names_the_known(name: str, hint: str) -> None:
    """The message helps."""
    with pytest.raises(UsageError) as raised:
        program_of(SubjectId.parse(name))
    assert hint in raised.value.hint


def test_every_known_subject_can_be_had() -> None:
    """The list and the look-up agree."""
    for client, releases in known_subjects().items():
        for release in releases:
            program_of(SubjectId(client, release))


def test_only_the_cpp_client_needs_another_witness() -> None:
    """It has no hook; every other subject tells its attempts itself."""
    assert [client for client in known_subjects() if not tells_attempts(SubjectId(client, "1"))] == ["cpp"]
