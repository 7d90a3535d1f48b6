"""Which standing the checks about groups have, from what they judged and left open."""

from dataclasses import replace

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts, TallyKey
from rocketdiff.analysis.consuming.checks.group_check import evidence_of
from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.arm import Arm
from rocketdiff.core.run_info import Guard
from tests.analysis.consuming.group_story import Story

SUBJECTS = {Arm.BASELINE: "x:1", Arm.CANDIDATE: "y:1"}


def guard(name: str, *, held: bool = False) -> Guard:
    return Guard(name, held=held, expected="e", seen="s", case="c")


def facts(*guards: Guard, judged: tuple[int, int] = (100, 100), undecided: tuple[int, int] = (0, 0)) -> CaseFacts:
    tallies: dict[TallyKey, tuple[int, float]] = {}
    for number, arm in enumerate(Arm):
        tallies["offsets", str(arm), "", "judged"] = (judged[number], 0.0)
        tallies["offsets", str(arm), "", "undecided"] = (undecided[number], 0.0)
        tallies["retries", str(arm), "", "judged"] = (1_000, 0.0)
    return CaseFacts("r1", SUBJECTS, replace(Story().entry(), guards=guards), tallies=tallies)


@pytest.mark.parametrize(
    ("made", "standing", "reason", "decisions"),
    [
        pytest.param(facts(), Standing.DECISIVE, "", 200, id="both judged"),
        pytest.param(facts(judged=(0, 100)), Standing.INDECISIVE, "nothing of x:1", 100, id="nothing of the baseline"),
        pytest.param(facts(judged=(100, 0)), Standing.INDECISIVE, "nothing of y:1", 100, id="nothing of the candidate"),
        pytest.param(
            facts(judged=(0, 100), undecided=(9, 9)), Standing.INDECISIVE, "nothing of x:1", 100, id="nothing, and some open"
        ),
        pytest.param(facts(undecided=(5, 5)), Standing.DECISIVE, "", 200, id="one in twenty open"),
        pytest.param(facts(undecided=(0, 6)), Standing.INDECISIVE, "the rules leave 6 of 100 open for y:1", 200, id="more open"),
        pytest.param(facts(undecided=(7, 6)), Standing.INDECISIVE, "the rules leave 7 of 100 open for x:1", 200, id="the first is named"),
        pytest.param(facts(guard("settled-candidate")), Standing.INVALID, "settled-candidate: expected e, saw s", 0, id="not settled"),
        pytest.param(facts(guard("served-baseline")), Standing.INVALID, "served-baseline: expected e, saw s", 0, id="not served"),
        pytest.param(facts(guard("fed")), Standing.INVALID, "fed: expected e, saw s", 0, id="not fed"),
        pytest.param(facts(guard("together")), Standing.INVALID, "together: expected e, saw s", 0, id="not together"),
        pytest.param(
            facts(guard("member-1"), guard("fed")),
            Standing.INVALID,
            "member-1: expected e, saw s; fed: expected e, saw s",
            0,
            id="two broken",
        ),
        pytest.param(facts(guard("fed", held=True)), Standing.DECISIVE, "", 200, id="held"),
        pytest.param(facts(guard("on-schedule-candidate")), Standing.DECISIVE, "", 200, id="another guard"),
    ],
)  # fmt: skip
def test_the_standing_of_a_check(made: CaseFacts, standing: Standing, reason: str, decisions: int) -> None:
    """Decisive if something was judged in both groups, hardly any of it is open, and both groups were there."""
    found = evidence_of(made, "offsets", "nothing of {}")
    assert (found.standing, found.reason, found.decisions) == (standing, reason, decisions)
    assert (found.check, found.case, found.runs) == ("offsets", made.entry.name, ("r1",))
