"""Our reference implementation as a subject, in the dialect of any known release."""

import sys
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.demand import GroupDemand
from rocketdiff.core.errors import UsageError
from rocketdiff.core.records.consuming import CONSUMING_CLAIMS
from rocketdiff.core.resources import import_path
from rocketdiff.core.subject import REFERENCE, SubjectId
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.text.nearest import nearest_releases
from rocketdiff.subjects.kind import Kind, LabHost, every_security
from rocketdiff.subjects.kinds import java
from rocketdiff.subjects.program import Launch, clean_environment

CLIENT = REFERENCE


def python_program(subject: SubjectId) -> "ReferenceProgram":
    """Return the program of ``python:<release>``; raises UsageError for a release without a dialect."""
    known = known_releases()
    if subject.release not in known:
        raise UsageError(
            "a release whose dialect the reference speaks",
            seen=str(subject),
            hint=nearest_releases(subject.release, known, f"{CLIENT}:"),
        )
    return ReferenceProgram(subject)


def known_releases() -> tuple[str, ...]:
    """Return the releases in release-line order."""
    # Imported here because only the subject's own process needs the rest of the reference.
    from rocketmq_reference.dialects import RELEASES  # noqa: PLC0415

    return RELEASES


def module_launch(module: str, folder: Path, *arguments: str) -> Launch:
    """Return how to start one of our modules with this interpreter and import path."""
    environment = clean_environment()
    packages = import_path()
    inherited = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = f"{packages}:{inherited}" if inherited else packages
    environment["TMPDIR"] = str(folder)
    return Launch((sys.executable, "-m", module, *arguments), environment)


@dataclass(frozen=True, slots=True)
class ReferenceProgram:
    """The reference with the dialect of one release."""

    subject: SubjectId

    def launch(self, folder: Path) -> Launch:
        return module_launch("rocketdiff.drivers.python.reference", folder, "--release", self.subject.release)


CONSUMER_SINCE = "4.2.0"
"""First release whose consumers the reference imitates."""


def consumes(release: str) -> bool:
    """Return True for the releases whose consumers the reference imitates."""
    known = known_releases()
    return release in known[known.index(CONSUMER_SINCE) :]


def has_group(release: str, demand: GroupDemand) -> bool:
    """True from CONSUMER_SINCE on: a member of the reference can do all that there is, once there is a lite pull consumer."""
    is_there = java.has_group(release, demand)
    return is_there and consumes(release) and set(demand.capabilities) <= CONSUMING_CLAIMS


KIND = Kind(
    CLIENT,
    known_releases,
    python_program,
    offers={ClientRole.PRODUCER: java.has_send, ClientRole.CONSUMER: has_group},
    lab_host=LabHost.RULES,
    security=every_security,
)
"""It has the sends of the Java release whose rules it follows."""
