"""The engine that tests start containers with, or the reason to skip them; where one was brought up for them, to fail."""

import os
from collections.abc import Iterator
from contextlib import closing
from typing import NoReturn

import pytest

from rocketdiff.cluster.containers.engine import Engine
from rocketdiff.cluster.containers.images import look_for_base
from rocketdiff.core.errors import EnvironmentMissing

EXPECTED = "ROCKETDIFF_EXPECT_ENGINE"
"""Set by .ci/run once .ci/engine has brought an engine up: then a skip would hide that it went away, or cannot be used."""


def engine_or_skip() -> Iterator[Engine]:
    """One that answers and has a base for images; otherwise a skip, or a failure, that says what is missing."""
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
