"""How broken guards, an incomplete case or a breach change all evidence."""

from dataclasses import replace

import pytest

from rocketdiff.analysis.checks.case_facts import standing_with
from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.arm import Arm
from rocketdiff.core.run_info import Guard
from rocketdiff.traces.manifest import Breach, CaseStatus
from tests.analysis.builders import ENTRY
from tests.analysis.sending.checks.builders import DECISIVE, FOUND, INDECISIVE, INVALID, NOT_APPLICABLE, case_of

GUARDS: list[tuple[str, dict[str, Standing]]] = [
    *(
        (name, {"loss": INVALID, "attempts": INVALID, "protocol": DECISIVE, "validity": DECISIVE})
        for name in ("cluster", "fault-2", "read-back", "clock-steady", "started-together", "control")
    ),
    ("awake-machine", {"loss": INVALID, "attempts": INVALID, "protocol": INVALID, "validity": DECISIVE}),
    ("witness-candidate", {"loss": DECISIVE, "attempts": INVALID, "outcomes": INVALID, "protocol": DECISIVE}),
    ("on-schedule-candidate", {"loss": DECISIVE, "attempts": DECISIVE, "protocol": DECISIVE}),
]


@pytest.mark.parametrize(("guard", "standings"), GUARDS)
def test_a_broken_guard_invalidates_the_checks_that_rest_on_it(guard: str, standings: dict[str, Standing]) -> None:
    """Checks that depend on a broken guard are invalid, with every broken one named."""
    for check, wanted in standings.items():
        for held in (True, False):
            guards = tuple(Guard(name, held, "a", "b") for name in (guard, f"{guard}-2"))
            facts = replace(case_of(), entry=replace(ENTRY, guards=guards))
            evidence = facts.evidence(check, DECISIVE, "so", decisions=3, legal_share=0.5)
            assert evidence.standing is (DECISIVE if held else wanted)
            reported = f"{guard}: expected a, saw b; {guard}-2: expected a, saw b"
            assert evidence.reason == (reported if evidence.standing is INVALID else "so")
            assert (evidence.decisions, evidence.legal_share, evidence.runs) == (3, 0.5, ("r1",))


@pytest.mark.parametrize(
    ("seen", "standing", "reason"),
    [
        ((3, 1), DECISIVE, ""),
        ((0, 1), INDECISIVE, "java:5.3.3 sent nothing"),
        ((3, 0), INDECISIVE, "python:5.3.3 sent nothing"),
        ((0, 0), INDECISIVE, "java:5.3.3 sent nothing"),
    ],
)
def test_both_arms_need_something_to_judge(seen: tuple[int, int], standing: Standing, reason: str) -> None:
    """The first client that lacks it is named."""
    by_arm = dict(zip(Arm, seen, strict=True))
    assert standing_with(case_of(), by_arm, "{} sent nothing") == (standing, reason)


@pytest.mark.parametrize("status", [CaseStatus.ABORTED, CaseStatus.PLANNED])
def test_a_case_that_did_not_end_is_invalid_throughout(status: CaseStatus) -> None:
    """An incomplete case is invalid, with its recorded reason; divergences stay."""
    for reason, reported in (("no disk", "no disk"), ("", "no reason was recorded")):
        facts = replace(case_of(check="loss"), entry=replace(ENTRY, status=status, reason=reason))
        for check in ("loss", "protocol", "validity"):
            evidence = facts.evidence(check, DECISIVE)
            assert (evidence.standing, evidence.reason) == (INVALID, f"the case did not complete: {reported}")
        assert facts.evidence("loss", DECISIVE).divergences == FOUND
        assert facts.evidence("order", DECISIVE).divergences == ()


def test_half_a_case_is_never_decisive() -> None:
    """After a breach no other check than ``protocol`` and ``validity`` decides; NOT_APPLICABLE stays."""
    breaches = {str(arm): Breach("protocol.died", "life", "none") for arm in Arm}
    facts = replace(case_of(), entry=replace(ENTRY, breaches=breaches))
    reported = facts.evidence("loss", DECISIVE)
    assert (reported.standing, reported.reason) == (INDECISIVE, "java:5.3.3, python:5.3.3 broke off")
    assert facts.evidence("loss", INDECISIVE, "so").reason == "java:5.3.3, python:5.3.3 broke off"
    assert facts.evidence("loss", NOT_APPLICABLE, "so").reason == "so"
    for check in ("protocol", "validity"):
        assert facts.evidence(check, DECISIVE).standing is DECISIVE
