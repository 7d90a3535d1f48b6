"""
Class data sharing archive for the JVM of a local session: start and first query take 4 s of CPU time instead of 11 s.

The JVM of the second command writes it on exit, after all output. That costs once as much as three sessions save.
"""

import contextlib
import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.analysis.spark.home import CONFIGURED_BY, local_home
from rocketdiff.releases.class_archive import JavaStart, archive_flags, is_to_be_trained, made_archive, trained

LOCAL_JAVA = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""
JVM flags for a session of seconds on few cores. Without the C2 compiler and parallel collectors, start and first query took 16 s
instead of 25 s on a busy machine with two cores. Not set for other masters, where queries are long.
"""


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The archive that a JVM maps, or the path to which it writes one."""

    start: JavaStart
    mapped: Path | None
    written: Path | None

    def options(self) -> str:
        if self.written is not None:
            return f"{shlex.quote(f'-XX:ArchiveClassesAtExit={self.written}')} -Xlog:cds*=off"
        return shlex.join(archive_flags(self.mapped))

    def keep(self) -> None:
        """Copy the archive of an exited JVM into the cache."""
        if self.written is not None:
            trained(self.start, self._moved)

    def _moved(self, archive: Path, _draft: Path) -> str:
        assert self.written is not None
        with contextlib.suppress(FileNotFoundError):
            # Copied, because the cache may lie on another file system.
            archive.write_bytes(self.written.read_bytes())
        return "Spark's JVM ended without having written one"


def class_archive(folder: Path) -> ClassArchive | None:
    """Return the archive for a session with this private folder; None if the user configures Spark or a file is unreadable."""
    if any(name in os.environ for name in CONFIGURED_BY):
        return None  # the class path may contain folders; an archive supports only jars
    jars = tuple(sorted((local_home() / "jars").glob("*.jar")))
    with contextlib.suppress(OSError):
        start = JavaStart("spark", _java(), LOCAL_JAVA, jars)
        is_trained_now = is_to_be_trained(start)
        return ClassArchive(start, made_archive(start), folder / "classes.jsa" if is_trained_now else None)
    return None


def _java() -> Path:
    """Return the java that spark-submit would choose; raises FileNotFoundError without one."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if found is None:
        raise FileNotFoundError("java")
    return Path(found).resolve()
