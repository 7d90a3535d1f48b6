"""Every combination of answers, each once."""

from rocketdiff.oracle.choices import INDEX_BASE, ChoiceExplorer, ChoiceTape


def runs(explorer: ChoiceExplorer) -> list[tuple[int, ...]]:
    """A run asks for one of two, then, if that was 1, for one of three."""
    seen: list[tuple[int, ...]] = []
    explorer.restart()
    while True:
        first = explorer.choose(2)
        seen.append((first, explorer.choose(3)) if first else (first,))
        if not explorer.advance():
            return seen


def test_every_combination_is_seen_once() -> None:
    """Questions may depend on answers."""
    assert runs(ChoiceExplorer()) == [(0,), (1, 0), (1, 1), (1, 2)]


def test_an_explorer_can_be_used_again() -> None:
    """Nothing is left of the runs before."""
    explorer = ChoiceExplorer()
    assert runs(explorer) == runs(explorer)


def test_a_question_in_between_leaves_the_run_alone() -> None:
    """All its answers are found, and the run goes on with its own."""
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
    """Far from zero and from the overflow."""
    explorer = ChoiceExplorer()
    tape = ChoiceTape(explorer, modulus=3)
    explorer.restart()
    drawn = [tape.int32()]
    while explorer.advance():
        drawn.append(tape.int32())
    assert drawn == [INDEX_BASE * 3, INDEX_BASE * 3 + 1, INDEX_BASE * 3 + 2]
