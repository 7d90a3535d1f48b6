"""
The class archive of the JVM of a local session: with one, start and first query take 4 s of processor time instead of 11.

The JVM of the second command with a local session writes it as it ends, when everything has been told. That costs once what
three sessions save.
"""

import contextlib
import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home

from rocketdiff.releases.class_archive import JavaStart, archive_flags, is_to_be_trained, made_archive, trained

LOCAL_JAVA = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""
A session of seconds on few cores: without the optimising compiler and parallel collectors, start and first query took 16
instead of 25 s on a busy machine of two. Not set for other masters, where queries are long.
"""

_CONFIGURED_BY = ("SPARK_HOME", "SPARK_CONF_DIR", "SPARK_SUBMIT_OPTS")
"""With these the class path or the flags are the user's, and may have folders, which no archive can serve."""


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """What a JVM is started with: an archive to map, or a place to write one to."""

    start: JavaStart
    mapped: Path | None
    written: Path | None

    def options(self) -> str:
        """As words of SPARK_SUBMIT_OPTS."""
        if self.written is not None:
            return f"{shlex.quote(f'-XX:ArchiveClassesAtExit={self.written}')} -Xlog:cds*=off"
        return shlex.join(archive_flags(self.mapped))

    def keep(self) -> None:
        """Move what a JVM that has ended wrote to where the next one looks for it."""
        if self.written is not None:
            trained(self.start, self._moved)

    def _moved(self, archive: Path, _draft: Path) -> str:
        assert self.written is not None
        with contextlib.suppress(FileNotFoundError):
            # Copied, because the cache may lie on another file system.
            archive.write_bytes(self.written.read_bytes())
        return "Spark's JVM ended without having written one"


def class_archive(folder: Path) -> ClassArchive | None:
    """For a session with this private folder; None where Spark is configured from outside, and where a file cannot be read."""
    if any(name in os.environ for name in _CONFIGURED_BY):
        return None
    jars = tuple(sorted(Path(_find_spark_home(), "jars").glob("*.jar")))
    with contextlib.suppress(OSError):
        start = JavaStart("spark", _java(), LOCAL_JAVA, jars)
        is_trained_now = is_to_be_trained(start)
        return ClassArchive(start, made_archive(start), folder / "classes.jsa" if is_trained_now else None)
    return None


def _java() -> Path:
    """As spark-submit chooses it; FileNotFoundError without one."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if found is None:
        raise FileNotFoundError("java")
    return Path(found).resolve()
