"""The reference and the real Java classes of all 39 releases, step by step over random scripts: not one difference."""

import pytest

from rocketdiff.lab.fuzz.differences import behaviours, differences
from rocketdiff.lab.fuzz.lockstep import name_of, script_of
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.simulation.java_host import JavaHost
from rocketdiff.simulation.script import Depth, parse_script

FIRST_SCRIPT = 10_000
"""Far from those with golden digests, which other tests run."""

SCRIPTS = {Depth.SELECTION: 5, Depth.SEND_LOOP: 5, Depth.REMOTING: 5}
"""Beside the 161 with golden digests; `rocketdiff fuzz` does millions."""


@pytest.mark.slow
@pytest.mark.parametrize("depth", list(Depth))
def test_the_reference_does_what_the_classes_do(depth: Depth, java_host: JavaHost) -> None:
    """Queue, attempts, result, exception, counters, publish list and fault table after every step of every release."""
    names = [name_of(depth, FIRST_SCRIPT + number) for number in range(SCRIPTS[depth])]
    scripts = ((name, parse_script(script_of(name), name)) for name in names)
    found = [
        f"{one.script} java:{one.release} line {one.line}"
        for one in differences(java_host, scripts, behaviours(client_releases(), depth))
    ]
    assert found == []
