"""Each defective group of the banks is found, to the exit code, and its faithful twin conforms."""

from collections.abc import Callable

import pytest

from rocketdiff.core.errors import ExitCode
from tests.analysis.consuming import orderly_bank
from tests.analysis.consuming.bank import BANK, Defect
from tests.analysis.consuming.group_story import Story
from tests.analysis.consuming.orderly_group import in_order
from tests.analysis.consuming.simulated_group import Script, simulated

Play = Callable[..., Story]


@pytest.mark.parametrize(
    ("play", "defect"),
    [
        pytest.param(play, defect, id=str(defect))
        for play, bank in ((simulated, BANK), (in_order, orderly_bank.BANK))
        for defect in bank
    ],
)
def test_a_defect_of_the_bank_is_found(play: Play, defect: Defect) -> None:
    """The verdict is 1, and the signature is among the divergences."""
    ended = play(defect.script, defect.group).judge()
    assert defect.signature in {cluster.signature for cluster in ended.document.clusters}
    assert ended.judgement.exit_code is ExitCode.DIVERGES


@pytest.mark.parametrize(
    ("play", "script"),
    [
        pytest.param(play, script, id=f"{play.__name__} {script!r}")
        for play, scripts in (
            (simulated, dict.fromkeys(defect.script for defect in BANK)),
            (in_order, orderly_bank.FAITHFUL),
        )
        for script in scripts
    ],
)
def test_the_twin_of_a_defect_conforms(play: Play, script: Script) -> None:
    """The faithful group of each script conforms."""
    ended = play(script).judge()
    assert ended.document.clusters == ()
    assert ended.judgement.exit_code is ExitCode.CONFORMS
