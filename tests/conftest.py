"""For all tests: no test may fail because the machine was busy, or because a generator drew other numbers today."""

import gc
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from rocketdiff.simulation.java_host import JavaHost

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest_plugins = [
    "pytester",  # the plugin's tests run pytest in projects of their own; it may be asked for here only
    "tests.side_by_side",
    "tests.untested",
    "tests.live",  # after the two that it imports
]

# Every worker imports all tests, and hundreds of programs are started: without this each of them compiles everything anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No test pulls the plug: what one process has written others see without fsync, of which there are ten thousand.
pytest.MonkeyPatch().setattr(os, "fsync", lambda _: None)

settings.register_profile(
    "rocketdiff",
    deadline=None,  # a figure of the wall clock
    derandomize=True,  # a failure in CI must be one here too
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rocketdiff")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Some tests draw their cases and can draw more."""
    parser.addoption(
        "--damages", type=int, default=30, help="how often a stored run is damaged (tests/judging/test_damage.py)"
    )


def pytest_collection_finish() -> None:
    """What thousands of collected tests hold stays to the end: looking through it for garbage took a fourteenth of the processor time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def java_host() -> Iterator[JavaHost]:
    """One process of the simulation for all tests of this one: the classes of all releases take it ten seconds to load."""
    with JavaHost() as host:
        yield host


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """One small session for all tests that need one: two cores, everything else as in production."""
    from rocketdiff.analysis.spark.session import prepare, session  # noqa: PLC0415 - most processes never need it

    with pytest.MonkeyPatch.context() as patch:
        # An archive that there is serves it, but it does not count as a use: in a fresh clone the second one, a whole run's, would
        # write an archive as it ends, which takes half a minute and serves nobody after it.
        patch.setattr("rocketdiff.analysis.spark.class_archive.is_to_be_trained", lambda _: False)
        prepare("local[2]")  # as a run does, so that a session begins with a JVM that waits for it
    with session("local[2]") as started:
        yield started
