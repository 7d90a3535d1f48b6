"""The Java client, any release: its own jars behind our one driver."""

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.errors import UsageError
from rocketdiff.core.nearest import nearest_releases
from rocketdiff.core.plan import SendKind, SendMode
from rocketdiff.core.subject import STANDARD, SubjectId
from rocketdiff.releases.artifacts import client_class_path
from rocketdiff.releases.catalogue import client_releases, is_known_client
from rocketdiff.releases.java_programs import driver_class_path
from rocketdiff.releases.jdk import find_java
from rocketdiff.releases.progress import ProgressListener
from rocketdiff.subjects.kind import Kind, LabHost
from rocketdiff.subjects.program import Launch, clean_environment

CLIENT = STANDARD
MAIN_CLASS = "rocketdiff.driver.Main"
BARE_LOOP_CLASS = "rocketdiff.driver.BareLoop"

WITHOUT_BATCH = ("4.0.0-incubating",)
"""Releases that have no call for a batch."""

FLAGS = (
    # The live set of a producer is 15 MB; a fixed small heap keeps two arms, brokers and Spark on one machine.
    "-Xms64m",
    "-Xmx256m",
    # On two cores the simplest collector and the first compiler start fastest, and steal no core while we measure.
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # A shared file in /tmp that a killed JVM leaves behind.
    "-XX:-UsePerfData",
    # What the Netty of releases before 4.9 reaches into.
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
)


def java_program(subject: SubjectId) -> "JavaProgram":
    """The program of ``java:<release>``; UsageError for a release that is not in the catalogue."""
    if not is_known_client(subject.release):
        hint = nearest_releases(subject.release, client_releases(), f"{CLIENT}:")
        raise UsageError("a published release of the Java client", seen=str(subject), hint=hint)
    return JavaProgram(subject)


def java_launch(main_class: str, release: str, folder: Path, *arguments: str) -> Launch:
    """
    How to start one of the driver's main classes; logs and temporary files stay below ``folder``, an absolute path.

    Compiles the driver and fetches the jars if this machine has not got them yet.
    """
    command = (
        str(find_java().java),
        *FLAGS,
        f"-Duser.home={folder}",
        f"-Djava.io.tmpdir={folder}",
        f"-XX:ErrorFile={folder / 'hs_err.log'}",
        # The first pair of names is read by the 4 line, the second by the 5 line. What a client warns of is evidence.
        f"-Drocketmq.client.logRoot={folder}",
        "-Drocketmq.client.logLevel=WARN",
        f"-Drocketmq.log.root={folder}",
        "-Drocketmq.log.level=WARN",
        main_class,
        *arguments,
    )
    # By environment: the hundred jars of a client would bury everything else in a list of processes.
    class_path = os.pathsep.join(map(str, [driver_class_path(), *client_class_path(release)]))
    return Launch(command, clean_environment() | {"CLASSPATH": class_path})


@dataclass(frozen=True, slots=True)
class JavaProgram:
    """One release of the Java client."""

    subject: SubjectId

    def launch(self, folder: Path) -> Launch:
        """The driver's main class on the jars of the release."""
        return java_launch(MAIN_CLASS, self.subject.release, folder.resolve())


def fetch(release: str, progress: ProgressListener | None) -> None:
    """Downloads the jars of the release and compiles the driver."""
    client_class_path(release, progress)
    driver_class_path()


def has_call(release: str, kind: SendKind, _mode: SendMode, _queue_counts: Collection[int]) -> bool:
    """Every call, except batches before they existed."""
    return kind is not SendKind.BATCH or release not in WITHOUT_BATCH


KIND = Kind(CLIENT, client_releases, java_program, fetch, has_call, LabHost.CLASSES)
