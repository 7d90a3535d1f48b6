"""The reference against golden data."""

from functools import cache

import pytest

from rocketdiff.releases.catalogue import client_releases
from rocketdiff.simulation.comparison import first_difference
from rocketdiff.simulation.golden.files import load_golden
from rocketdiff.simulation.golden.standard import StandardScript, load_standard
from rocketdiff.simulation.golden.wording import difference_words
from rocketdiff.simulation.virtual import dialect_for, run_reference


@pytest.mark.parametrize("one", load_standard(), ids=lambda one: one.name)
def test_the_reference_answers_as_the_classes_do(one: StandardScript) -> None:
    """Every dialect answers every standard script exactly as its releases' real classes do."""
    golden = load_golden()[one.name]
    answer = cache(lambda dialect: run_reference(dialect, one.name, one.script))
    differences = []
    for release in client_releases():
        group = golden.of(release)
        assert group is not None
        difference = first_difference(one.name, group.lines, answer(dialect_for(one.script, release)))
        if difference is not None:
            differences.append(f"{release}: {difference_words(difference)}")
    assert differences == []
