"""Every combination of choices is run once."""

from rocketdiff.oracle.choices import INDEX_BASE, ChoiceExplorer, ChoiceTape


def test_a_question_in_between_leaves_the_run_alone() -> None:
    """all_outcomes finds every outcome and does not change the current run."""
    explorer = ChoiceExplorer()
    explorer.restart()
    seen = []
    while True:
        before = explorer.choose(2)
        between = explorer.all_outcomes(lambda: explorer.choose(3))
        seen.append((before, sorted(between), explorer.choose(2)))
        if not explorer.advance():
            break
    assert seen == [(before, [0, 1, 2], after) for before in (0, 1) for after in (0, 1)]


def test_a_tape_draws_one_number_of_each_residue() -> None:
    """A tape draws one number per residue, far from zero and overflow."""
    explorer = ChoiceExplorer()
    tape = ChoiceTape(explorer, modulus=3)
    explorer.restart()
    drawn = [tape.int32()]
    while explorer.advance():
        drawn.append(tape.int32())
    assert drawn == [INDEX_BASE * 3, INDEX_BASE * 3 + 1, INDEX_BASE * 3 + 2]


def test_runs_are_counted() -> None:
    """All runs are counted: three of one choice, then two of all_outcomes."""
    explorer = ChoiceExplorer()
    assert explorer.runs == 0
    explorer.restart()
    while True:
        explorer.choose(3)
        if not explorer.advance():
            break
    assert explorer.runs == 3
    explorer.restart()
    explorer.all_outcomes(lambda: explorer.choose(2))
    assert explorer.runs == 5


def test_nothing_is_learned_from_a_question_in_the_midst_of_a_run() -> None:
    """Learning is off within all_outcomes and restored afterwards."""
    explorer = ChoiceExplorer()
    seen = []

    def question() -> int:
        seen.append(explorer.learning)
        return explorer.choose(2)

    for learning in (True, False):
        explorer.learning = learning
        explorer.restart()
        explorer.all_outcomes(question)
        assert explorer.learning is learning
    assert seen == [False] * 4


def test_a_run_repeats_its_earlier_choices() -> None:
    """Each run repeats the choices before the one that changes; the last changes first, and 0 comes first."""
    explorer = ChoiceExplorer()
    explorer.restart()
    runs = []
    while True:
        runs.append([explorer.choose(2), explorer.choose(1), explorer.choose(2)])
        if not explorer.advance():
            break
    assert runs == [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]


def test_a_restart_forgets_a_run_that_was_not_ended() -> None:
    """A restart discards an unfinished run."""
    explorer = ChoiceExplorer()
    explorer.restart()
    explorer.choose(3)
    explorer.advance()
    assert explorer.choose(3) == 1
    explorer.restart()
    assert [explorer.choose(2), explorer.advance(), explorer.choose(2), explorer.advance()] == [0, True, 1, False]


def test_a_tape_whose_numbers_do_not_count_asks_nothing() -> None:
    """A tape of modulus 1, the default, makes no choice."""
    explorer = ChoiceExplorer()
    explorer.restart()
    assert [ChoiceTape(explorer).int32(), ChoiceTape(explorer, 1).int32()] == [INDEX_BASE, INDEX_BASE]
    assert not explorer.advance()


def test_a_number_below_a_bound_is_one_of_all() -> None:
    """Numbers below three drawn modulo six take each value twice."""
    explorer = ChoiceExplorer()
    tape = ChoiceTape(explorer, modulus=6)
    explorer.restart()
    drawn = [tape.below(3)]
    while explorer.advance():
        drawn.append(tape.below(3))
    assert sorted(drawn) == [0, 0, 1, 1, 2, 2]


def test_a_tape_shuffles_nothing() -> None:
    """A tape does not shuffle; the fault table handles its order."""
    explorer = ChoiceExplorer()
    items = [3, 1, 2]
    explorer.restart()
    ChoiceTape(explorer, 6).shuffle(items)
    assert (items, explorer.advance()) == ([3, 1, 2], False)
