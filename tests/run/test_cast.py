"""Which program each member of a case runs."""

import pytest

from rocketdiff.core.arm import FEEDER, Arm, Member
from rocketdiff.run.case.cast import Pair
from tests.subjects.conftest import Scripted

BASELINE, CANDIDATE, FED = Scripted([["a"]]), Scripted([["b"]]), Scripted([["f"]])
PAIR = Pair({Arm.BASELINE: BASELINE, Arm.CANDIDATE: CANDIDATE}, feeder=FED)


@pytest.mark.parametrize(
    ("member", "program"),
    [
        (FEEDER, FED),
        (Member(Arm.BASELINE), BASELINE),
        (Member(Arm.CANDIDATE), CANDIDATE),
        (Member(Arm.BASELINE, 1), BASELINE),
        (Member(Arm.CANDIDATE, 0), CANDIDATE),
        (Member(Arm.CANDIDATE, 1), BASELINE),
    ],
    ids=str,
)
def test_a_mixed_member_runs_the_baseline(member: Member, program: Scripted) -> None:
    """Member 1 is mixed; without mixed members each runs the program of its arm."""
    assert PAIR.cast([member], mixed=(1,)) == {member: program}
    assert PAIR.cast([member])[member] is (FED if member.arm is None else PAIR.programs[member.arm])
