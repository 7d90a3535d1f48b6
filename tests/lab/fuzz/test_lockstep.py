"""The reference and the classes of all 39 releases answer random scripts alike."""

import pytest

from rocketdiff.lab.fuzz.differences import behaviours, differences
from rocketdiff.lab.fuzz.lockstep import name_of, script_of
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.simulation.java_host import JavaHost
from rocketdiff.simulation.script import Depth, parse_script

FIRST_SCRIPT = 10_000
"""Far from the scripts with golden digests, which other tests run."""

SCRIPTS = dict.fromkeys(Depth, 2)
"""In addition to the 241 with golden digests; `rocketdiff fuzz` runs millions."""


@pytest.mark.slow
@pytest.mark.parametrize("depth", list(Depth))
def test_the_reference_does_what_the_classes_do(depth: Depth, java_host: JavaHost) -> None:
    """Queue, attempts, result, exception, counters, publish list and fault table agree after every step."""
    names = [name_of(depth, FIRST_SCRIPT + number) for number in range(SCRIPTS[depth])]
    scripts = ((name, parse_script(script_of(name), name)) for name in names)
    found = [
        f"{one.script} java:{one.release} line {one.line}"
        for one in differences(java_host, scripts, behaviours(client_releases(), depth))
    ]
    assert found == []
