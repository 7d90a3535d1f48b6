"""The class archive of Spark's JVM: the second command writes it on exit, later ones map it."""

from pathlib import Path

import pytest

from rocketdiff.analysis.spark.class_archive import ClassArchive, class_archive
from rocketdiff.analysis.spark.home import local_home, whole_home
from rocketdiff.analysis.spark.process import SparkProcess, take_folder
from rocketdiff.releases import class_archive as archives
from rocketdiff.releases.class_archive import FAILED, JavaStart, made_archive

STAND_IN = """#!/bin/sh
cat > {folder}/input
test {status} = 0 && for option in $SPARK_SUBMIT_OPTS; do case $option in -XX:ArchiveClassesAtExit=*) echo classes > ${{option#*=}};; esac; done
exit {status}
"""
"""Ends with its input, like Spark's JVM, and then writes its archive."""


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKETDIFF_CACHE", str(tmp_path / "cache"))
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "SPARK_SUBMIT_OPTS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def start(tmp_path: Path) -> JavaStart:
    """A JVM that was used before."""
    for file in ("jdk/bin/java", "jdk/release", "jdk/lib/server/classes.jsa", "a.jar"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    (tmp_path / "cache" / "classes").mkdir(parents=True)
    return JavaStart("spark", tmp_path / "jdk" / "bin" / "java", (), (tmp_path / "a.jar",))


def ended(start: JavaStart, folder: Path, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    """Run a stand-in of spark-submit that should write an archive."""
    submit = folder / "bin" / "spark-submit"
    submit.parent.mkdir()
    submit.write_text(STAND_IN.format(folder=folder, status=status))
    submit.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(folder))
    private = take_folder()
    process = SparkProcess([], private, ClassArchive(start, None, private / "classes.jsa"))
    process.write_archive()
    process.end()


def test_a_jvm_that_shall_write_it_ends_by_itself_and_it_is_kept(
    start: JavaStart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A written archive is kept, and the next JVM maps it."""
    ended(start, tmp_path, monkeypatch, 0)
    made = made_archive(start)
    assert made is not None
    assert made.read_text() == "classes\n"
    assert ClassArchive(start, made, None).options() == f"-XX:SharedArchiveFile={made} '-Xlog:cds*=off'"


def test_a_jvm_that_writes_none_leaves_the_reason(
    start: JavaStart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure to write the archive is kept, so that later commands do not try again."""
    ended(start, tmp_path, monkeypatch, 3)
    assert made_archive(start) is None
    assert (start.folder() / FAILED).read_text() == "Spark's JVM ended without having written one\n"


def test_the_second_command_writes_it(tmp_path: Path) -> None:
    """The second command writes an archive, the first does not."""
    archives._was_used_before.cache_clear()
    first = class_archive(tmp_path)
    archives._was_used_before.cache_clear()
    second = class_archive(tmp_path)
    assert first is not None
    assert second is not None
    assert [(each.mapped, each.written) for each in (first, second)] == [(None, None), (None, tmp_path / "classes.jsa")]


def test_a_spark_that_is_configured_from_outside_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's own Spark has no archive: its class path may have folders, which an archive does not support."""
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert class_archive(tmp_path) is None


def test_a_local_session_starts_without_machine_learning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder has every file of pyspark but MLlib's jar; a Spark that the user configures is used as it is."""
    home, whole = local_home(), whole_home()
    jars, every = ({jar.name for jar in (folder / "jars").glob("*.jar")} for folder in (home, whole))
    assert {name.split("_")[0] for name in every - jars} == {"spark-mllib"}
    assert {entry.name for entry in home.iterdir()} == {entry.name for entry in whole.iterdir()}
    assert local_home() == home
    monkeypatch.setenv("SPARK_CONF_DIR", "conf")
    assert local_home() == whole
