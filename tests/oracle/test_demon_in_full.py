"""What the demon counts and what a question in the midst of a run leaves alone; tapes that need not ask."""

from rocketdiff.oracle.demon import INDEX_BASE, Demon, DemonTape


def test_runs_are_counted() -> None:
    """Every one that was prepared, of questions in the midst of a run too: three runs of two, then three, answers."""
    demon = Demon()
    assert demon.runs == 0
    demon.restart()
    while True:
        demon.choose(3)
        if not demon.advance():
            break
    assert demon.runs == 3
    demon.restart()
    demon.every_answer(lambda: demon.choose(2))
    assert demon.runs == 5


def test_nothing_is_learned_from_a_question_in_the_midst_of_a_run() -> None:
    """From the run's own answers again, as before."""
    demon = Demon()
    seen = []

    def question() -> int:
        seen.append(demon.learning)
        return demon.choose(2)

    for learning in (True, False):
        demon.learning = learning
        demon.restart()
        demon.every_answer(question)
        assert demon.learning is learning
    assert seen == [False] * 4


def test_a_run_answers_again_what_it_has_answered() -> None:
    """Answers differ from the last question on backwards, and the first is 0."""
    demon = Demon()
    demon.restart()
    runs = []
    while True:
        runs.append([demon.choose(2), demon.choose(1), demon.choose(2)])
        if not demon.advance():
            break
    assert runs == [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]


def test_a_restart_forgets_a_run_that_was_not_ended() -> None:
    """The next is the first again."""
    demon = Demon()
    demon.restart()
    demon.choose(3)
    demon.advance()
    assert demon.choose(3) == 1
    demon.restart()
    assert [demon.choose(2), demon.advance(), demon.choose(2), demon.advance()] == [0, True, 1, False]


def test_a_tape_whose_numbers_do_not_count_asks_nothing() -> None:
    """Modulo one all are alike, which is what is taken if nothing is said."""
    demon = Demon()
    demon.restart()
    assert [DemonTape(demon).int32(), DemonTape(demon, 1).int32()] == [INDEX_BASE, INDEX_BASE]
    assert not demon.advance()


def test_a_number_below_a_bound_is_one_of_all() -> None:
    """Modulo six, so that below three each comes up twice."""
    demon = Demon()
    tape = DemonTape(demon, modulus=6)
    demon.restart()
    drawn = [tape.below(3)]
    while demon.advance():
        drawn.append(tape.below(3))
    assert sorted(drawn) == [0, 0, 1, 1, 2, 2]


def test_a_tape_shuffles_nothing() -> None:
    """The order of a table is left to the table."""
    demon = Demon()
    items = [3, 1, 2]
    demon.restart()
    DemonTape(demon, 6).shuffle(items)
    assert (items, demon.advance()) == ([3, 1, 2], False)
