"""Words for answers."""

from rocketdiff.simulation.comparison import first_difference
from rocketdiff.simulation.golden.files import grouped
from rocketdiff.simulation.golden.wording import change_sentence, difference_words, meaning
from tests.lab.history.toys import select_line, toy_standard

OLD, NEW = (select_line("walk", 0),), (select_line("walk", 1),)
WALK = toy_standard("walk", {"4.7.1": "one tick", "4.8.0": "a tick a queue"})
GOLDEN = grouped("walk", {"4.7.0": OLD, "4.7.1": OLD, "4.8.0": NEW})


def test_an_answer_means_what_its_golden_group_means() -> None:
    """Whichever release of the group the words hang on, and whoever gave the answer."""
    assert meaning(WALK, GOLDEN, OLD) == "one tick"
    assert meaning(WALK, GOLDEN, NEW) == "a tick a queue"


def test_an_unknown_answer_has_no_meaning() -> None:
    """Nor has any without golden data."""
    assert meaning(WALK, GOLDEN, ()) is None
    assert meaning(WALK, None, OLD) is None


def test_a_change_has_a_sentence_in_both_directions() -> None:
    """An upgrade and the way back."""
    assert change_sentence(WALK, {"walk": GOLDEN}, OLD, NEW) == "now a tick a queue; before, one tick"
    assert change_sentence(WALK, {"walk": GOLDEN}, NEW, OLD) == "now one tick; before, a tick a queue"


def test_without_words_the_difference_itself_is_told() -> None:
    """What the script shows stands beside it."""
    sentence = change_sentence(WALK, {}, OLD, NEW)
    assert sentence.startswith("the answer changed in a way that has no words yet: step 0, queue: queue 0 of a →")
    assert "(What walk does)" in sentence


def test_values_that_are_no_text_are_told_as_json() -> None:
    """And what is not there as none."""
    line = '{{"script": "s", "step": 2, "dump": {{"index": {}}}}}'
    difference = first_difference("s", [line.format(5)], [line.format("null")])
    assert difference is not None
    assert difference_words(difference) == "step 2, index: 5 → none"
