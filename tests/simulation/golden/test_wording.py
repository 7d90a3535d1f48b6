"""Words for answers."""

import pytest

from rocketdiff.simulation.comparison import first_difference
from rocketdiff.simulation.golden.files import grouped
from rocketdiff.simulation.golden.wording import before_after, change_sentence, difference_words, known_side, meaning
from tests.lab.history.toys import select_line, toy_standard

OLD, NEW = (select_line("walk", 0),), (select_line("walk", 1),)
WALK = toy_standard("walk", {"4.7.1": "one tick", "4.8.0": "a tick a queue"})
GOLDEN = grouped("walk", {"4.7.0": OLD, "4.7.1": OLD, "4.8.0": NEW})


def test_an_answer_means_what_its_golden_group_means() -> None:
    """An answer has the words of its golden group, whatever its release."""
    assert meaning(WALK, GOLDEN, OLD) == "one tick"
    assert meaning(WALK, GOLDEN, NEW) == "a tick a queue"


def test_an_unknown_answer_has_no_meaning() -> None:
    """An unknown answer has no words, nor has any without golden data."""
    assert meaning(WALK, GOLDEN, ()) is None
    assert meaning(WALK, None, OLD) is None


def test_a_change_has_a_sentence_in_both_directions() -> None:
    """A change has a sentence for upgrade and downgrade."""
    assert change_sentence(WALK, {"walk": GOLDEN}, OLD, NEW) == "now a tick a queue; before, one tick"
    assert change_sentence(WALK, {"walk": GOLDEN}, NEW, OLD) == "now one tick; before, a tick a queue"


def test_without_words_the_sentence_shows_the_difference() -> None:
    """Without words the sentence shows the difference, and the words of the side that has some."""
    other, golden = (select_line("walk", 3),), {"walk": GOLDEN}
    assert change_sentence(WALK, {}, OLD, NEW) == "What walk does: queue 0 of a → queue 1 of a"
    assert change_sentence(WALK, golden, OLD, other) == "What walk does: queue 0 of a → queue 3 of a"
    assert known_side(WALK, golden, OLD, other) == "before: one tick"
    assert known_side(WALK, golden, other, NEW) == "after: a tick a queue"
    assert known_side(WALK, golden, OLD, NEW) == known_side(WALK, {}, OLD, NEW) == ""


DUMP = '{"script": "s", "step": 2, "dump": %s}'
ITEM = '{"faults": {"a": {"latency_ms": 5, "available_at_ms": %d, "reachable": %s}}}'


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (ITEM % (10_000, "true"), ITEM % (2_000, "true"), "available_at_ms of a 10000 → 2000"),
        (ITEM % (9, "true"), ITEM % (8, "false"), "available_at_ms of a 9 → 8, reachable of a true → false"),
        (ITEM % (9, "true"), '{"faults": {}}', 'a of the fault table {"latency_ms": 5, '),
        ('{"index": 1}', '{"index": 2}', "index 1 → 2"),
        ('{"index": 1}', '{"index": null}', "index 1 → none"),
    ],
)
def test_only_differing_fields_are_shown(before: str, after: str, message: str) -> None:
    """Only different fields of a fault table's item are shown."""
    difference = first_difference("s", [DUMP % before], [DUMP % after])
    assert difference is not None
    assert before_after(difference).startswith(message)


def test_a_queue_that_is_chosen_no_more_is_named() -> None:
    """A queue missing on one side is shown."""
    none = '{"script": "walk", "step": 0, "select": {"exception": "MQClientException"}}'
    difference = first_difference("walk", OLD, [none])
    assert difference is not None
    assert before_after(difference) == "exception none → MQClientException"


def test_values_other_than_text_are_shown_as_json() -> None:
    """Values other than text are shown as JSON, missing ones as none."""
    line = '{{"script": "s", "step": 2, "dump": {{"index": {}}}}}'
    difference = first_difference("s", [line.format(5)], [line.format("null")])
    assert difference is not None
    assert difference_words(difference) == "step 2, index: 5 → none"
