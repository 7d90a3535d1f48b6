"""Spark's JVM as a child process: start under a supervisor, liveness, end together with its descendants."""

import fcntl
import os
import shlex
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from pyspark.serializers import UTF8Deserializer, read_int

from rocketdiff.analysis.spark.class_archive import ClassArchive
from rocketdiff.analysis.spark.home import local_home, whole_home
from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.spark_master import is_local
from rocketdiff.process.child import Child
from rocketdiff.process.open_files import require_open_files

PREFIX = "rocketdiff-spark-"

_YOUNG_S = 3_600.0
"""A younger folder without a lock file may just be being made; an older one is a leftover of an earlier version."""

_LOOK_S = 0.05
_DUMP_S = 60.0
"""Timeout for writing the class archive, which takes 10 s of CPU time; on a busy machine far longer."""

_LAST_WORDS = 500


class SparkProcess:
    """One JVM with its supervisor (see rocketdiff.process) and a private folder, which is locked until this process dies."""

    def __init__(self, settings: Sequence[tuple[str, str]], folder: Path, archive: ClassArchive | None = None) -> None:
        """Start the JVM without waiting. folder: from ``take_folder``."""
        require_open_files()
        self.folder = folder
        self._archive = archive
        self._log = folder / "jvm.log"
        self._connection = folder / "connection"
        home = local_home() if is_local(dict(settings).get("spark.master", "")) else whole_home()
        command, environment = _command(home, settings), _environment(home, folder, self._connection, archive)
        log = self._log.open("w+b")
        self._process = Child(command, stderr=log, environment=environment, scratch=folder, is_heard=False)

    def connection(self) -> tuple[int, str]:
        """Wait for its gateway; return its port and secret. Raises EnvironmentMissing if the JVM ends instead."""
        while not self._connection.is_file():
            if self._process.await_end(0):
                raise EnvironmentMissing(
                    "a Java that Spark can start with (17 or later, with its incubator modules)",
                    seen=self.last_words() or self.how_it_ended(),
                    hint="rocketdiff doctor says which Java is used; --master none analyses without Spark",
                )
            time.sleep(_LOOK_S)
        with self._connection.open("rb") as file:
            return read_int(file), UTF8Deserializer().loads(file)  # type: ignore[no-untyped-call]  # pyspark's own

    def has_ended(self, timeout_s: float = 0.0) -> bool:
        return self._process.await_end(timeout_s)

    def how_it_ended(self) -> str:
        return self._process.how_it_ended() if self._process.await_end(0) else "it runs"

    def last_words(self) -> str:
        try:
            return self._log.read_text(encoding="utf-8", errors="replace")[-_LAST_WORDS:].strip()
        except OSError:
            return ""

    def pause(self) -> None:
        """Suspend it and its descendants until ``go_on``; ``end`` works on a suspended JVM too."""
        self._process.stop()

    def go_on(self) -> None:
        self._process.go_on()

    def write_archive(self) -> None:
        """Let it exit by itself if it must write the class archive."""
        if self._archive is None or self._archive.written is None:
            return
        self._process.close_input()
        if self._process.await_end(_DUMP_S):
            self._archive.keep()

    def end(self) -> None:
        """End the JVM with its descendants and remove the folder; waits for both. Idempotent."""
        self._process.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def take_folder() -> Path:
    """Make a folder and lock it until this process dies; removes folders of dead processes first."""
    parent = Path(tempfile.gettempdir())
    for left in parent.glob(f"{PREFIX}*"):
        if _is_left(left):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    descriptor = os.open(folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)  # never closed: the kernel releases the lock when this process dies
    return folder


def _is_left(folder: Path) -> bool:
    """True if this user owns the folder and the process that made it is dead."""
    try:
        status = folder.lstat()
        if folder.is_symlink() or status.st_uid != os.getuid():
            return False
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return folder.is_dir() and time.time() - status.st_mtime > _YOUNG_S
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def _environment(home: Path, folder: Path, connection: Path, archive: ClassArchive | None) -> dict[str, str]:
    """Return our environment, plus what makes the driver keep its files in ``folder``: a killed driver removes none of them."""
    own = os.environ.get("SPARK_SUBMIT_OPTS", "") if archive is None else archive.options()
    return os.environ | {
        "SPARK_CONNECT_MODE": "0",  # as launch_gateway does
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(connection),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_DIRS": str(folder),
        "SPARK_SUBMIT_OPTS": f"{own} {shlex.quote(f'-Djava.io.tmpdir={folder}')} -XX:-UsePerfData".strip(),
    }


def _command(home: Path, settings: Sequence[tuple[str, str]]) -> list[str]:
    """Return the command that pyspark's launch_gateway would run."""
    options = [word for name, value in settings for word in ("--conf", f"{name}={value}")]
    own = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    return [str(home / "bin" / "spark-submit"), *options, *own]
