"""Runs in an object store are found, judged and added as runs in folders are."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.fs as pafs
import pytest
from moto.server import ThreadedMotoServer

from rocketdiff.analysis.run_analysis import analyze
from rocketdiff.core.errors import EnvironmentMissing, TraceError, UsageError
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.record.commands import add, status
from rocketdiff.record.ingest import folders_of, places_of
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.work import Here, RecordWork
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.traces.remote import local_runs, require_local, run_at, shown
from rocketdiff.traces.run_directory import RunDirectory
from tests.record.conftest import NewRun, spoil
from tests.record.rows import all_rows

SECRET = "not-to-be-shown"  # noqa: S105 - of nothing
Store = Callable[[str], str]


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    """A function that makes the URL of a path in a store on loopback."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    options = f"endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1&allow_bucket_creation=true"
    yield lambda path: f"s3://user:{SECRET}@{path}?{options}"
    server.stop()


def upload(folder: Path, url: str) -> None:
    system, path = pafs.FileSystem.from_uri(url)
    system.create_dir(path.partition("/")[0])
    pafs.copy_files(str(folder), path, destination_filesystem=system)


@pytest.fixture(params=["here", pytest.param("spark", marks=pytest.mark.spark)])
def work(request: pytest.FixtureRequest) -> RecordWork:
    """In this process, and on Spark."""
    if request.param == "here":
        return Here()
    from rocketdiff.record.spark.work import OnSpark  # noqa: PLC0415 - needs a JVM

    return OnSpark(request.getfixturevalue("spark"))


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_runs_at_a_url_are_added_as_those_in_folders(
    store: Store, work: RecordWork, tmp_path: Path, new_run: NewRun
) -> None:
    """The rows are those of the folders; damaged and incomplete runs go to quarantine for the same reason; a record is no run."""
    good, cut, half = new_run("good", change=spoil), new_run("cut"), new_run("half")
    (cut / "sends" / "01-baseline.parquet").write_bytes(b"PAR1")
    (half / "run.json").unlink()
    (good.parent / "record" / "batches").mkdir(parents=True)
    (good.parent / "record" / "batches" / "a.json").write_text("{}")
    (good.parent / "record" / "sends").mkdir()
    bucket = f"added-{type(work).__name__}".lower()
    upload(good.parent, store(f"{bucket}/nightly/2026"))
    from_folders, from_store = RecordPlace.named(str(tmp_path / "a")), RecordPlace.named(str(tmp_path / "b"))
    expected = add(from_folders, folders_of([good.parent]), Here())
    places = places_of([store(bucket)])
    assert [shown(place) for place in places] == [
        f"s3://{bucket}/nightly/2026/{name}" for name in ("cut", "good", "half")
    ]
    for known in (0, 1):
        if known:  # what is there already is known by its manifest
            (good / "sends" / "01-baseline.parquet").write_bytes(b"PAR1")
            upload(good, store(f"{bucket}/nightly/2026/good"))
        added = add(from_store, places, work)
        assert (len(added.new), len(added.known), len(added.damaged)) == (1 - known, known, len(expected.damaged))
    assert all_rows(from_store) == all_rows(from_folders)
    assert status(from_store).quarantine == status(from_folders).quarantine
    assert SECRET not in str(status(from_store))


def test_a_run_at_a_url_is_judged_from_a_copy(store: Store, new_run: NewRun) -> None:
    """What judging does not read is not copied, and nothing stays."""
    run = new_run(change=spoil)
    (run / "logs").mkdir(exist_ok=True)
    (run / "logs" / "client.log").write_text("words")
    upload(run, store("judged/run-1"))
    with local_runs([store("judged/run-1"), str(run)]) as (copy, same):
        assert (copy.name, same) == ("run-1", run)
        assert analyze([copy], master=WITHOUT_SPARK) == analyze([run], master=WITHOUT_SPARK)
        assert not (copy / "logs").exists()
    assert not copy.exists()


def test_a_run_that_has_not_ended_is_refused(store: Store, new_run: NewRun) -> None:
    """What was not copied cannot be sealed, so the run is neither judged nor added."""
    run = RunDirectory.open(new_run())
    run.change(1, lambda entry: replace(entry, status=CaseStatus.PLANNED))
    upload(run.path, store("going-on/run-1"))
    with pytest.raises(TraceError, match="a case that is still going on, or broke off"):
        open_run(store("going-on/run-1"))


def open_run(url: str) -> None:
    with run_at(url):
        pass


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            lambda url: url.replace("missing/run", "missing/nothing"),
            TraceError,
            "a run directory at s3://missing/nothing",
        ),
        (lambda url: url.replace("127.0.0.1:", "127.0.0.1:1&x="), UsageError, "x"),
        (lambda url: url.replace("s3:", "s4:"), UsageError, "file system that Arrow can reach"),
    ],
)
def test_a_place_without_a_run_is_one_sentence(
    store: Store, change: Callable[[str], str], error: Any, message: str
) -> None:
    """It names the URL and no secret."""
    with pytest.raises(error, match=message) as raised:
        open_run(change(store("missing/run")))
    assert SECRET not in str(raised.value)


def test_a_store_that_fails_quarantines_nothing(store: Store, place: RecordPlace, new_run: NewRun) -> None:
    """The command ends with the reason, and no secret in it; the record does not blame the runs."""
    upload(new_run(), store("failing/run-1"))
    (found,) = places_of([store("failing/run-1")])
    broken = found.replace("scheme=http", "scheme=https")
    with pytest.raises(EnvironmentMissing, match="to read s3://failing/run-1") as raised:
        add(place, [broken], Here())
    assert SECRET not in str(raised.value)
    add(place, [found], Here())
    assert (status(place).runs, len(status(place).quarantine)) == (1, 0)


@pytest.mark.parametrize(
    ("places", "out", "master", "seen"),
    [
        (["/a/run"], None, "yarn", ""),
        (["s3://a/run"], None, None, "none"),
        (["s3://a/run"], Path(), None, ""),
        (["s3://a/run"], Path(), "none", ""),
        (["s3://a/run"], Path(), "spark://localhost:7077", ""),
        (["/a/run", "s3://a/run"], Path(), "yarn", "--master yarn"),
    ],
)
def test_runs_at_a_url_are_judged_on_this_machine(
    places: list[str], out: Path | None, master: str | None, seen: str
) -> None:
    """The report has no folder of its own, and workers elsewhere see no copy."""
    if not seen:
        require_local(places, out, master)
        return
    with pytest.raises(UsageError) as raised:
        require_local(places, out, master)
    assert raised.value.seen == seen
