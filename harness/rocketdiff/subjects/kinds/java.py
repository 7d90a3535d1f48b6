"""The Java client, any release: its jars with our driver."""

import contextlib
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rocketdiff.core.consuming.plan import ListenerKind
from rocketdiff.core.demand import GroupDemand, SendDemand
from rocketdiff.core.errors import UsageError
from rocketdiff.core.security import ACL, TLS
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.subject import STANDARD, SubjectId
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.text.nearest import nearest_releases
from rocketdiff.process.child import Child
from rocketdiff.protocol.commands import SubjectSetup, encode_setup
from rocketdiff.releases.catalogue import base_of, client_releases
from rocketdiff.releases.class_archive import JavaStart, archive_flags, archive_of, made_archive
from rocketdiff.releases.jdk import find_java
from rocketdiff.releases.programs.builds import checksums, class_path, is_there
from rocketdiff.releases.programs.java_programs import driver_class_path, jar_of
from rocketdiff.releases.progress import ProgressListener
from rocketdiff.subjects.kind import Kind, LabHost
from rocketdiff.subjects.program import Launch, clean_environment

CLIENT = STANDARD
MAIN_CLASS = "rocketdiff.driver.Main"
BARE_LOOP_CLASS = "rocketdiff.driver.sending.BareLoop"

WITHOUT_BATCH = ("4.0.0-incubating",)
"""Releases without batches."""

WITHOUT_TLS = ("4.0.0-incubating", "4.1.0-incubating")
"""Releases without TLS."""

LITE_PULL_SINCE = "4.6.1"
"""First release whose lite pull consumer can begin in a group without an offset: that of 4.6.0 pulls at −1, which fails, for ever."""

FLAGS = (
    # A producer's live set is 15 MB; a small heap lets two arms, brokers and Spark share one machine.
    "-Xms64m",
    "-Xmx256m",
    # On two cores the simplest collector and compiler start fastest and take no core during measurements.
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # A killed JVM would leave its perf data in /tmp.
    "-XX:-UsePerfData",
    # Netty of releases before 4.9 accesses these packages.
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
)


_TRAINING_S = 60.0
"""It takes 3 s of CPU time, longer on a busy machine."""


def java_program(subject: SubjectId) -> "JavaProgram":
    """Return the program of ``java:<release>``; raises UsageError for an unknown release."""
    if not is_there(subject.release):
        hint = nearest_releases(subject.release, client_releases(), f"{CLIENT}:")
        raise UsageError("a published release of the Java client", seen=str(subject), hint=hint)
    return JavaProgram(subject)


def java_launch(main_class: str, release: str, folder: Path, *arguments: str) -> Launch:
    """
    Return how to start a main class of the driver; logs and temporary files stay below ``folder``, an absolute path.

    Compiles the driver and fetches the jars if needed, and uses the class archive of the release if it exists.
    """
    start = java_start(release)
    return _launch(start, release, folder, archive_flags(made_archive(start)), main_class, *arguments)


def java_start(release: str, progress: ProgressListener | None = None) -> JavaStart:
    """Return driver and jars of the release; fetches and compiles what is missing."""
    # Resolve links: a class archive names its jars, and a linked cache folder may be deleted.
    jars = tuple(jar.resolve() for jar in (jar_of(driver_class_path()), *class_path(release, progress)))
    return JavaStart(f"client-{release}", find_java().java, FLAGS, jars)


def _launch(
    start: JavaStart, release: str, folder: Path, archive: Sequence[str], main_class: str, *arguments: str
) -> Launch:
    command = (
        str(start.java),
        *start.flags,
        *archive,
        f"-Duser.home={folder}",
        f"-Djava.io.tmpdir={folder}",
        f"-XX:ErrorFile={folder / 'hs_err.log'}",
        # Releases 4.x read the first pair of names, 5.x the second. Warnings of a client are evidence.
        f"-Drocketmq.client.logRoot={folder}",
        "-Drocketmq.client.logLevel=WARN",
        f"-Drocketmq.log.root={folder}",
        "-Drocketmq.log.level=WARN",
        *((f"-Drocketdiff.build={release}",) if base_of(release) != release else ()),
        main_class,
        *arguments,
    )
    # In the environment, because the hundred jars of a client would clutter process lists.
    return Launch(command, clean_environment() | {"CLASSPATH": os.pathsep.join(map(str, start.class_path))})


@dataclass(frozen=True, slots=True)
class JavaProgram:
    """One release of the Java client."""

    subject: SubjectId

    def launch(self, folder: Path) -> Launch:
        return java_launch(MAIN_CLASS, self.subject.release, folder.resolve())


def fetch(release: str, progress: ProgressListener | None) -> None:
    """Download the jars, compile the driver; the second command that uses them creates their class archive."""
    start = java_start(release, progress)
    archive_of(start, partial(train, start, release))


def train(start: JavaStart, release: str, archive: Path, draft: Path) -> str:
    """
    Write the class archive and return how the driver ended; all other files are removed, even if this process is killed.

    The name server refuses the connection. This loads nearly all classes that sends need, without sending anything.
    """
    folder = draft / "training"
    folder.mkdir()
    log = tempfile.TemporaryFile()  # noqa: SIM115  # the child closes it
    launch = _launch(start, release, folder, [f"-XX:ArchiveClassesAtExit={archive}"], MAIN_CLASS)
    driver = Child(launch.command, stderr=log, environment=launch.environment, folder=folder, scratch=draft)
    with contextlib.closing(driver), _refusing_address() as name_server:
        setup = SubjectSetup((name_server,), "training", "training", "training", "training", ClientSettings())
        driver.queue(encode_setup(setup, threads=1).rstrip())
        has_failed = _hears(driver, b'"failed"')
        driver.close_input()
        has_ended = has_failed and driver.await_end(_TRAINING_S)
        how = driver.how_it_ended() if has_ended else f"it had not failed and ended after {_TRAINING_S:g} s"
        is_complete = has_ended and driver.status() == 0
        last_words = driver.last_words()
    shutil.rmtree(folder)
    if not is_complete:
        archive.unlink(missing_ok=True)
    return f"{how}; its last line: {last_words}"


@contextlib.contextmanager
def _refusing_address() -> Iterator[str]:
    """Yield an address that refuses connections and stays reserved."""
    with contextlib.closing(socket.socket()) as held:
        held.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{held.getsockname()[1]}"


def _hears(driver: Child, word: bytes) -> bool:
    deadline = time.monotonic() + _TRAINING_S
    with contextlib.suppress(EOFError):
        while time.monotonic() < deadline:
            if any(word in line for line in driver.hear(_TRAINING_S) or ()):
                return True
    return False


def has_send(release: str, demand: SendDemand) -> bool:
    """True for every call except message groups, and batches in releases without them."""
    kind = demand.kind
    return kind is not SendKind.GROUP and (kind is not SendKind.BATCH or base_of(release) not in WITHOUT_BATCH)


def has_group(release: str, demand: GroupDemand) -> bool:
    """True: every release has both listeners, both models and all outcomes; lite pull consumers those from LITE_PULL_SINCE on."""
    line = client_releases()
    has_lite_pull = line.index(base_of(release)) >= line.index(LITE_PULL_SINCE)
    return has_lite_pull or ListenerKind.LITE_PULL not in demand.capabilities


def security(release: str) -> Collection[str]:
    """Return ACL, because every release accepts a signing hook, and from 4.2.0 on TLS."""
    return (ACL,) if base_of(release) in WITHOUT_TLS else (ACL, TLS)


KIND = Kind(
    CLIENT,
    client_releases,
    java_program,
    fetch,
    {ClientRole.PRODUCER: has_send, ClientRole.CONSUMER: has_group},
    LabHost.CLASSES,
    security=security,
    checksums=checksums,
)
