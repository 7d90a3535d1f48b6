"""The copies of a failed message that the rules ask for and allow, by hand."""

import pytest

from rocketdiff.oracle.consumer.retrying import Copy, Failure, Settled, settled

MOST = 2
A, B = "broker-a", "broker-b"
FIRST, SECOND, LAST = (Failure(times, A, 1) for times in range(3))
BESIDE = Failure(0, A, 1, is_certain=False)


@pytest.mark.parametrize(
    ("failures", "copies"),
    [
        ((FIRST,), [Copy(1, 1, A)]),
        ((Failure(0, A),), [Copy(1, 3, A)]),
        ((Failure(1, A, 0),), [Copy(2, 4, A)]),
        ((Failure(0, A, 40),), [Copy(1, 18, A)]),
        ((Failure(0, A, -1),), [Copy(1, 0, A, is_dead=True)]),
        ((FIRST, SECOND, LAST), [Copy(3, 0, A, is_dead=True), Copy(1, 1, A), Copy(2, 1, A)]),
        ((Failure(0, A, 1, may_be_lost=True),), []),
        ((Failure(0, A, 1, may_be_lost=True), FIRST), [Copy(1, 1, A)]),
        ((BESIDE,), []),
        ((BESIDE,), [Copy(1, 1, A)]),
        ((BESIDE,), [Copy(1, 3, B)]),
        ((BESIDE,), [Copy(1, 1, A), Copy(1, 3, A), Copy(0, 3, B)]),
        ((Failure(2, A, 1, is_certain=False),), [Copy(3, 0, B, is_dead=True)]),
        ((Failure(0, A, -1, is_certain=False),), [Copy(1, 3, B)]),
    ],
)
def test_copies_that_the_rules_explain(failures: tuple[Failure, ...], copies: list[Copy]) -> None:
    """Each failure has its copies, and there is no other."""
    assert settled(failures, copies, MOST) == Settled()


@pytest.mark.parametrize(
    ("failures", "copies", "missing", "further"),
    [
        ((FIRST,), [], [FIRST], []),
        ((FIRST,), [Copy(1, 3, A)], [FIRST], [Copy(1, 3, A)]),
        ((FIRST,), [Copy(1, 1, A), Copy(1, 1, A)], [], [Copy(1, 1, A)]),
        ((FIRST,), [Copy(1, 1, B)], [FIRST], [Copy(1, 1, B)]),
        ((LAST,), [Copy(3, 1, A)], [LAST], [Copy(3, 1, A)]),
        ((BESIDE,), [Copy(1, 2, B)], [], [Copy(1, 2, B)]),
        ((BESIDE,), [Copy(1, 1, A), Copy(1, 1, A)], [], [Copy(1, 1, A)]),
    ],
)
def test_copies_that_they_do_not(
    failures: tuple[Failure, ...], copies: list[Copy], missing: list[Failure], further: list[Copy]
) -> None:
    """A failure without its copy, and a copy without its failure, are left over."""
    assert settled(failures, copies, MOST) == Settled(missing, further)
