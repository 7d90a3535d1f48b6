"""Every combination of choices is run once."""

from rocketdiff.oracle.choices import INDEX_BASE, ChoiceExplorer, ChoiceTape


def runs(explorer: ChoiceExplorer) -> list[tuple[int, ...]]:
    """Choose one of two, and after a 1 one of three."""
    seen: list[tuple[int, ...]] = []
    explorer.restart()
    while True:
        first = explorer.choose(2)
        seen.append((first, explorer.choose(3)) if first else (first,))
        if not explorer.advance():
            return seen


def test_every_combination_is_seen_once() -> None:
    """Every combination is run once, although choices depend on each other."""
    assert runs(ChoiceExplorer()) == [(0,), (1, 0), (1, 1), (1, 2)]


def test_an_explorer_can_be_used_again() -> None:
    """A restart leaves nothing of earlier runs."""
    explorer = ChoiceExplorer()
    assert runs(explorer) == runs(explorer)


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
