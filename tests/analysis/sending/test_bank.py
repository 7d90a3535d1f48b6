"""Every defective client of the bank is judged to its exit code."""

import pytest

from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.errors import ExitCode
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.sending.bank import BANK


def _both(release: str) -> dict[str, str]:
    return {"baseline": f"java:{release}", "candidate": f"python:{release}"}


def test_the_bank_is_large_and_of_many_kinds() -> None:
    """The bank has at least 60 defects of at least nine kinds."""
    kinds = [defect.kind.value for defect in BANK.values()]
    assert len(BANK) >= 60
    assert len(set(kinds)) >= 9


@pytest.mark.parametrize("name", BANK)
def test_a_defective_client_diverges(name: str, new_run: object, ending_of: object) -> None:
    """A check named in the bank diverges, with exit code 1."""
    assert callable(new_run)
    assert callable(ending_of)
    defect = BANK[name]
    ended: Ended = ending_of(
        new_run([defect.story], change=lambda reported: defect.spoil(reported, defect.story), **_both(defect.release))
    )
    diverging = {result.check for result in ended.judgement.results if result.verdict is Verdict.DIVERGES}
    assert ended.judgement.exit_code is ExitCode.DIVERGES
    assert diverging & set(defect.checks), diverging


@pytest.mark.parametrize(
    ("story", "release"),
    {(id(defect.story), defect.release): (defect.story, defect.release) for defect in BANK.values()}.values(),
    ids=lambda one: getattr(one, "name", one),
)
def test_faithful_clients_conform_in_every_story_of_the_bank(
    story: object, release: str, new_run: object, ending_of: object
) -> None:
    """Two faithful clients conform in every scenario of the bank."""
    assert callable(new_run)
    assert callable(ending_of)
    assert ending_of(new_run([story], **_both(release))).judgement.exit_code is ExitCode.CONFORMS
