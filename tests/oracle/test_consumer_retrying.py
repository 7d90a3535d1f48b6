"""The copies of a failed message that the rules ask for and allow, by hand."""

import pytest

from rocketdiff.oracle.consumer.retrying import DEFAULT_MOST, Copy, Failure, Settled, may_be_refused, settled

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
        ((Failure(1, A, 1, is_certain=False),), [Copy(2, 4, B)]),
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


@pytest.mark.parametrize(
    ("refused", "failures", "expected"),
    [(0, 0, True), (2, 0, True), (3, 59, False), (3, 60, True), (4, 79, False), (4, 80, True)],
)
def test_crowded_brokers_may_refuse_one_hand_back_in_twenty(refused: int, failures: int, expected: bool) -> None:
    """Or two of a case."""
    assert may_be_refused(refused, failures) is expected


def test_the_level_of_a_retry_is_the_highest_there_is_at_most() -> None:
    """A group without a setting retries 16 times, and the last of them has the level that the broker has last."""
    last = Failure(DEFAULT_MOST - 1, A, is_certain=False)
    assert (last.level, last.own_level, Failure(DEFAULT_MOST, A).is_dead(DEFAULT_MOST)) == (18, 18, True)
    assert settled([last], [Copy(16, 18, A), Copy(16, 18, B)], DEFAULT_MOST) == Settled()
