"""Where a run is judged when nobody says: here while it is small, on Spark when that repays its start."""

import pytest

from rocketdiff.analysis.masters import ATTEMPTS_FOR_SPARK, WITHOUT_SPARK, master_for


@pytest.mark.parametrize("attempts", [0, ATTEMPTS_FOR_SPARK - 1, ATTEMPTS_FOR_SPARK])
def test_a_named_master_is_taken_whatever_there_is_to_judge(attempts: int) -> None:
    """Spark for a small run, and no Spark for a large one."""
    assert master_for("local[2]", attempts) == "local[2]"
    assert master_for(WITHOUT_SPARK, attempts) == WITHOUT_SPARK


def test_without_one_the_number_of_attempts_decides() -> None:
    """The quick suite makes some 8,000."""
    assert master_for(None, 8_000) == master_for(None, ATTEMPTS_FOR_SPARK - 1) == WITHOUT_SPARK
    assert master_for(None, ATTEMPTS_FOR_SPARK) is None
