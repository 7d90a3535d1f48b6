"""Each defective orderly group is found, to the exit code, and its faithful twin conforms."""

import pytest

from rocketdiff.core.errors import ExitCode
from tests.analysis.consuming.orderly_bank import BANK, FAITHFUL, Defect
from tests.analysis.consuming.orderly_group import in_order
from tests.analysis.consuming.simulated_group import Script, drawn_script

DRAWN = 6
"""Stories a run of the tests; any other seed draws another one."""


@pytest.mark.parametrize("defect", BANK, ids=str)
def test_a_defect_of_the_bank_is_found(defect: Defect) -> None:
    """The verdict is 1, and the signature is among the divergences."""
    ended = in_order(defect.script, defect.group).judge()
    assert defect.signature in {cluster.signature for cluster in ended.document.clusters}
    assert ended.judgement.exit_code is ExitCode.DIVERGES


@pytest.mark.parametrize("script", FAITHFUL, ids=repr)
def test_the_twin_of_a_defect_conforms(script: Script) -> None:
    """The faithful orderly group of each script conforms."""
    ended = in_order(script).judge()
    assert ended.document.clusters == ()
    assert ended.judgement.exit_code is ExitCode.CONFORMS


@pytest.mark.parametrize("seed", range(DRAWN))
def test_a_drawn_orderly_group_conforms(seed: int) -> None:
    """Members come, go and die, brokers are paused and killed, listeners fail and are slow: no check finds a difference."""
    assert in_order(drawn_script(seed)).judge().document.clusters == ()
