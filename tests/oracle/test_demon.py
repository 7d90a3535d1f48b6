"""Every combination of answers, each once."""

from rocketdiff.oracle.demon import INDEX_BASE, Demon, DemonTape


def runs(demon: Demon) -> list[tuple[int, ...]]:
    """A run asks for one of two, then, if that was 1, for one of three."""
    seen: list[tuple[int, ...]] = []
    demon.restart()
    while True:
        first = demon.choose(2)
        seen.append((first, demon.choose(3)) if first else (first,))
        if not demon.advance():
            return seen


def test_every_combination_is_seen_once() -> None:
    """Questions may depend on answers."""
    assert runs(Demon()) == [(0,), (1, 0), (1, 1), (1, 2)]


def test_a_demon_can_be_used_again() -> None:
    """Nothing is left of the runs before."""
    demon = Demon()
    assert runs(demon) == runs(demon)


def test_a_question_in_between_leaves_the_run_alone() -> None:
    """All its answers are found, and the run goes on with its own."""
    demon = Demon()
    demon.restart()
    seen = []
    while True:
        before = demon.choose(2)
        between = demon.every_answer(lambda: demon.choose(3))
        seen.append((before, sorted(between), demon.choose(2)))
        if not demon.advance():
            break
    assert seen == [(before, [0, 1, 2], after) for before in (0, 1) for after in (0, 1)]


def test_a_tape_draws_one_number_of_each_residue() -> None:
    """Far from zero and from the overflow."""
    demon = Demon()
    tape = DemonTape(demon, modulus=3)
    demon.restart()
    drawn = [tape.int32()]
    while demon.advance():
        drawn.append(tape.int32())
    assert drawn == [INDEX_BASE * 3, INDEX_BASE * 3 + 1, INDEX_BASE * 3 + 2]
