"""Class archives are made once; without one the program starts anyway."""

import fcntl
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rocketdiff.releases import class_archive
from rocketdiff.releases.class_archive import (
    ARCHIVE,
    FAILED,
    JavaStart,
    archive_flags,
    archive_of,
    made_archive,
    trained,
)
from rocketdiff.releases.programs.java_programs import class_folder


@dataclass
class Training:
    """Writes an archive, or returns ``failure``, and records its runs."""

    failure: str = ""
    runs: list[Path] = field(default_factory=list)

    def __call__(self, archive: Path, folder: Path) -> str:
        self.runs.append(folder)
        if not self.failure:
            archive.write_text("classes\n")
        return self.failure


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JavaStart:
    monkeypatch.setenv("ROCKETDIFF_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache" / "classes").mkdir(parents=True)
    for file in ("jdk/bin/java", "jdk/release", "jdk/lib/server/classes.jsa", "a.jar"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    return JavaStart("toy-5.3.3", tmp_path / "jdk" / "bin" / "java", ("-Xmx9m",), (tmp_path / "a.jar",))


def test_the_second_command_makes_the_archive_and_the_third_finds_it(start: JavaStart) -> None:
    """The second command makes the archive, the third uses it; the first may start too few programs to pay."""
    training = Training()
    assert [_command(start, training), archive_of(start, training), training.runs] == [None, None, []]
    second = _command(start, training)
    assert second is not None
    assert (second.name, second.read_text()) == (ARCHIVE, "classes\n")
    assert [_command(start, training), made_archive(start), len(training.runs)] == [second, second, 1]


def test_there_is_one_try_of_which_nothing_stays_but_the_reason(start: JavaStart) -> None:
    """A failed archive is tried once; only the reason remains."""
    training = Training("it exited with status 3")
    assert [trained(start, training), trained(start, training), made_archive(start)] == [None, None, None]
    assert len(training.runs) == 1
    assert sorted(file.name for file in start.folder().iterdir()) == ["digests.txt", FAILED]
    assert (start.folder() / FAILED).read_text() == "it exited with status 3\n"


def test_a_damaged_archive_is_made_anew(start: JavaStart) -> None:
    """A damaged archive is made again, because mapping it would kill the JVM."""
    training = Training()
    archive = trained(start, training)
    assert archive is not None
    archive.write_text("class")
    assert trained(start, training) == archive
    assert [archive.read_text(), len(training.runs)] == ["classes\n", 2]


def test_a_jar_with_another_time_has_another_archive(start: JavaStart) -> None:
    """A jar with another time gets a new archive, because the JVM compares the time."""
    first = trained(start, Training())
    os.utime(start.class_path[0], (1, 1))
    assert made_archive(start) is None
    assert trained(start, Training()) not in (first, None)


def test_programs_start_while_another_process_makes_the_archive(start: JavaStart) -> None:
    """While another process makes the archive, programs start without it."""
    training = Training()
    with (class_folder() / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert [trained(start, training), training.runs] == [None, []]
    assert trained(start, training) is not None


def test_a_cache_that_cannot_be_written_or_a_java_without_its_own_archive_is_no_error(start: JavaStart) -> None:
    """With an unwritable cache or a Java without its archive the program starts without one."""
    training = Training()
    _command(start, training)
    class_folder().rename(class_folder().with_name("elsewhere"))
    class_folder().touch()
    assert _command(start, training) is None
    (start.java.parents[1] / "lib" / "server" / "classes.jsa").unlink()
    assert [_command(start, training), made_archive(start), training.runs] == [None, None, []]


def test_a_program_without_an_archive_has_no_flags_of_one() -> None:
    """The archive flags silence the JVM's messages, because a client's stderr is evidence."""
    assert archive_flags(None) == []
    assert archive_flags(Path("a.jsa")) == ["-XX:SharedArchiveFile=a.jsa", "-Xlog:cds*=off"]


def _command(start: JavaStart, training: Training) -> Path | None:
    class_archive._was_used_before.cache_clear()
    return archive_of(start, training)
