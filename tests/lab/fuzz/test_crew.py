"""Workers: all work is done, errors come back as what they are, and nobody is left behind."""

import multiprocessing

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.lab.fuzz.crew import Crew


class Doubler:
    """Doubles numbers; refuses one, stumbles over another."""

    def __init__(self, factor: int) -> None:
        self._factor = factor

    def __call__(self, number: int) -> int:
        if number == 13:
            raise UsageError("a lucky number", seen="13", hint="14")
        return number * self._factor if number != 17 else number // 0

    def close(self) -> None:
        """Nothing to close."""


def test_all_pieces_are_done_by_all_workers() -> None:
    """In whatever order."""
    with Crew(2, Doubler, 2) as crew:
        assert sorted(crew.map(range(10))) == [2 * number for number in range(10)]
        assert sorted(crew.map([])) == []
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    ("number", "kind", "says"), [(13, "UsageError", "14"), (17, "HarnessError", "ZeroDivisionError")]
)
def test_errors_of_a_worker_are_raised_here(number: int, kind: str, says: str) -> None:
    """With their class and words, and the crew still ends."""
    with pytest.raises(Exception, match=says) as raised, Crew(2, Doubler, 2) as crew:
        list(crew.map([number]))
    assert type(raised.value).__name__ == kind
    assert multiprocessing.active_children() == []
