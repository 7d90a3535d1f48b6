"""Clients of other languages: each driver is built into the cache and supports what its hello claims."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.demand import SendDemand
from rocketdiff.core.errors import UsageError
from rocketdiff.core.security import ACL, TLS
from rocketdiff.core.subject import ClientProtocol, SubjectId
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.releases.programs.driver_builds import (
    OTHER_CLIENTS,
    OtherClient,
    at_release,
    attempt_timeout_ms_of,
    built_driver,
    capabilities_of,
    releases_of,
)
from rocketdiff.releases.progress import ProgressListener
from rocketdiff.subjects.kind import Kind
from rocketdiff.subjects.program import Launch, clean_environment
from rocketdiff.subjects.sending.claims import unclaimed_of_send


@dataclass(frozen=True, slots=True)
class BuiltProgram:
    """The driver of one client; built on launch if missing."""

    subject: SubjectId
    client: OtherClient

    def launch(self, folder: Path) -> Launch:
        """Set HOME and TMPDIR to ``folder``, because many clients write logs to both."""
        own = {"HOME": str(folder.resolve()), "TMPDIR": str(folder.resolve())}
        command = self.client.command(built_driver(self.client))
        return Launch(command, {**clean_environment(), **self.client.environment, **own})


def _kind(client: OtherClient) -> Kind:
    def program(subject: SubjectId) -> BuiltProgram:
        known = releases_of(client)
        if subject.release not in known:
            hint = ", ".join(f"{client.name}:{release}" for release in known)
            raise UsageError(
                f"a release of the {client.title} that rocketdiff has a driver for", seen=str(subject), hint=hint
            )
        return BuiltProgram(subject, at_release(client, subject.release))

    def fetch(release: str, progress: ProgressListener | None) -> None:
        built_driver(at_release(client, release), progress)

    def has_send(_release: str, demand: SendDemand) -> bool:
        return not unclaimed_of_send(capabilities_of(client), demand)

    def security(_release: str) -> Collection[str]:
        return [claim for claim in capabilities_of(client) if claim in (ACL, TLS)]

    protocol = ClientProtocol.GRPC if ClientProtocol.GRPC in capabilities_of(client) else ClientProtocol.REMOTING
    own_ms = attempt_timeout_ms_of(client)
    return Kind(
        client.name,
        lambda: releases_of(client),
        program,
        fetch,
        {ClientRole.PRODUCER: has_send},
        security=security,
        attempt_timeout_ms=own_ms,
        protocol=protocol,
    )


KINDS = tuple(map(_kind, OTHER_CLIENTS.values()))
