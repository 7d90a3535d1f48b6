"""Each defective group of the bank is found, to the exit code, and its faithful twin conforms."""

import pytest

from rocketdiff.core.errors import ExitCode
from tests.analysis.consuming.bank import BANK, Defect
from tests.analysis.consuming.simulated_group import Script, simulated


@pytest.mark.parametrize("defect", BANK, ids=str)
def test_a_defect_of_the_bank_is_found(defect: Defect) -> None:
    """The verdict is 1, and the signature is among the divergences."""
    ended = simulated(defect.script, defect.group).judge()
    assert defect.signature in {cluster.signature for cluster in ended.document.clusters}
    assert ended.judgement.exit_code is ExitCode.DIVERGES


@pytest.mark.parametrize("script", dict.fromkeys(defect.script for defect in BANK), ids=repr)
def test_the_twin_of_a_defect_conforms(script: Script) -> None:
    """The faithful group of each script of the bank conforms."""
    ended = simulated(script).judge()
    assert ended.document.clusters == ()
    assert ended.judgement.exit_code is ExitCode.CONFORMS
