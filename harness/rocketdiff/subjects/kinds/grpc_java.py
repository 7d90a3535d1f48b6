"""The gRPC Java client: any release in the lock, with its own driver."""

import os
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.demand import SendDemand
from rocketdiff.core.errors import UsageError
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.subject import GRPC_STANDARD, ClientProtocol, SubjectId
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.releases.artifacts.class_paths import grpc_client_class_path
from rocketdiff.releases.jdk import find_java
from rocketdiff.releases.lock import locked
from rocketdiff.releases.programs.java_programs import grpc_driver_class_path
from rocketdiff.releases.progress import ProgressListener
from rocketdiff.subjects.kind import Kind
from rocketdiff.subjects.kinds.java import FLAGS
from rocketdiff.subjects.program import Launch, clean_environment

CLIENT = GRPC_STANDARD
MAIN_CLASS = "rocketdiff.grpc.Main"

CALLS = frozenset(
    {(kind, mode) for kind in (SendKind.PLAIN, SendKind.GROUP) for mode in (SendMode.SYNC, SendMode.ASYNC)}
)
"""Calls of every gRPC client: messages with or without a group, awaited or with a future."""


def releases() -> tuple[str, ...]:
    """Return the releases in the lock."""
    return tuple(locked().grpc_clients)


def program(subject: SubjectId) -> "GrpcJavaProgram":
    """Return the program of ``grpc-java:<release>``; raises UsageError for an unknown release."""
    if subject.release not in releases():
        raise UsageError("a release of the gRPC Java client in the lock", seen=str(subject), hint=", ".join(releases()))
    return GrpcJavaProgram(subject)


@dataclass(frozen=True, slots=True)
class GrpcJavaProgram:
    """One release of the client."""

    subject: SubjectId

    def launch(self, folder: Path) -> Launch:
        """Return the driver's main class with the client's jar; logs go below ``folder``."""
        home = folder.resolve()
        command = (
            str(find_java().java),
            *FLAGS,
            f"-Duser.home={home}",
            f"-Djava.io.tmpdir={home}",
            f"-XX:ErrorFile={home / 'hs_err.log'}",
            f"-Drocketmq.log.root={home}",
            "-Drocketmq.log.level=WARN",
            MAIN_CLASS,
        )
        jars = [*grpc_driver_class_path(self.subject.release), *grpc_client_class_path(self.subject.release)]
        return Launch(command, clean_environment() | {"CLASSPATH": os.pathsep.join(map(str, jars)), "HOME": str(home)})


def fetch(release: str, progress: ProgressListener | None) -> None:
    """Download the client and compile the driver."""
    grpc_client_class_path(release, progress)
    grpc_driver_class_path(release)


def has_send(_release: str, demand: SendDemand) -> bool:
    """True for the calls of every gRPC client."""
    return (demand.kind, demand.mode) in CALLS


KIND = Kind(CLIENT, releases, program, fetch, {ClientRole.PRODUCER: has_send}, protocol=ClientProtocol.GRPC)
