"""The engine for container tests, or a skip; a failure where CI started one."""

import os
from collections.abc import Iterator
from contextlib import closing
from typing import NoReturn

import pytest

from rocketdiff.cluster.containers.engine import Engine
from rocketdiff.cluster.containers.images import look_for_base
from rocketdiff.core.errors import EnvironmentMissing

EXPECTED = "ROCKETDIFF_EXPECT_ENGINE"
"""Set by .ci/run after .ci/engine has started an engine: a skip would hide that it is unusable."""


def engine_or_skip() -> Iterator[Engine]:
    """Yield an engine with a base image; otherwise skip or fail."""
    try:
        connected = Engine.connect()
    except EnvironmentMissing as error:
        _without(f"no container engine answers ({error.seen}); .ci/engine brings one up")
    with closing(connected):
        seen, is_there = look_for_base(connected)
        if not is_there:
            _without(f"{seen}; make image makes it")
        yield connected


def _without(reason: str) -> NoReturn:
    if os.environ.get(EXPECTED):
        pytest.fail(f"{EXPECTED} is set, and {reason}")
    pytest.skip(reason)
