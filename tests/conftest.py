"""For all tests: none may fail because the machine is busy or a generator draws other values."""

import gc
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from rocketdiff.simulation.java_host import JavaHost

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest_plugins = [
    "pytester",  # tests of the plugin run pytest in temporary projects; pytest allows this only here
    "tests.side_by_side",
    "tests.live",  # after the plugin that it imports
]

# Every worker imports all tests and starts many programs: without bytecode files each of them compiles everything again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No test simulates a power failure: other processes see what was written without the ten thousand calls of fsync.
pytest.MonkeyPatch().setattr(os, "fsync", lambda _: None)

settings.register_profile(
    "rocketdiff",
    deadline=None,  # wall-clock time depends on the load
    derandomize=True,  # a failure in CI must be reproducible here
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rocketdiff")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--damages``."""
    parser.addoption(
        "--damages", type=int, default=30, help="how often a stored run is damaged (tests/judging/test_damage.py)"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """
    Let each worker import its own part of the tests first, then the rest, which others have compiled by then.

    In a fresh clone each of three workers compiled everything: half of the 32 s of processor time that collecting took.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None:
        return
    gc.disable()  # until all is collected
    root, names = session.config.rootpath, list[str]()
    for argument in session.config.args:
        path = root / argument
        files = path.rglob("test_*.py") if path.is_dir() else [path] if path.suffix == ".py" and path.exists() else []
        names += [".".join(file.relative_to(root).with_suffix("").parts) for file in files]
    first = int(worker["workerid"].removeprefix("gw")) * len(names) // worker["workercount"]
    names.sort()
    for name in names[first:] + names[:first]:
        with suppress(Exception, pytest.skip.Exception):  # pytest reports it when it collects the module
            import_module(name)


def pytest_collection_finish() -> None:
    """
    Exclude thousands of collected tests from garbage collection, which took a fourteenth of the processor time.

    What tests make is collected every 20,000 objects instead of 700: a tenth less for those of the checks, and 16 MB more.
    """
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


@pytest.fixture(scope="session", autouse=True)
def drawn_once() -> Iterator[None]:
    """Draw equal charts once in a process: tests of reports render the same documents over and over, 0.15 s a chart."""
    import vl_convert  # noqa: PLC0415 - not while the tests are collected

    draw, drawn = vl_convert.vegalite_to_svg, dict[str, str]()

    def once(specification: dict[str, Any], **named: Any) -> str:
        key = json.dumps((specification, named))
        if key not in drawn:
            drawn[key] = draw(specification, **named)
        return drawn[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vl_convert, "vegalite_to_svg", once)
        yield


@pytest.fixture(scope="session")
def java_host() -> Iterator[JavaHost]:
    """One host for all tests of this process: it takes ten seconds to load the classes of all releases."""
    with JavaHost() as host:
        yield host


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """One session for all tests of this process: two cores, otherwise as in production."""
    from rocketdiff.analysis.spark.session import prepare, session  # noqa: PLC0415 - most processes never need it

    with pytest.MonkeyPatch.context() as patch:
        # An existing archive is used, but this is not counted as a use: in a fresh clone the second use, a whole run, would write
        # an archive on exit, which takes half a minute and helps nobody afterwards.
        patch.setattr("rocketdiff.analysis.spark.class_archive.is_to_be_trained", lambda _: False)
        prepare("local[2]")  # as a run does: the session finds a JVM that is already started
    with session("local[2]") as started:
        yield started
