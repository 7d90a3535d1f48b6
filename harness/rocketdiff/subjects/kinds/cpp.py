"""The C++ client, through rocketmq-client-python in a separate virtual environment."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.demand import GroupDemand, SendDemand
from rocketdiff.core.errors import UsageError
from rocketdiff.core.resources import import_path
from rocketdiff.core.security import ACL
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.releases.programs.cpp_client import RELEASES, cpp_client
from rocketdiff.releases.progress import ProgressListener
from rocketdiff.subjects.cpp_members import MEMBER_CLAIMS, unsettable
from rocketdiff.subjects.kind import Kind
from rocketdiff.subjects.program import Launch, clean_environment
from rocketdiff.subjects.sharding_keys import MODULUS

CLIENT = "cpp"

CALLS = frozenset(
    {(SendKind.PLAIN, SendMode.SYNC), (SendKind.PLAIN, SendMode.ONEWAY), (SendKind.SELECTOR, SendMode.SYNC)}
)
"""Calls of its Python interface; the only selector is the hash of a sharding key."""


def can_select(queue_count: int) -> bool:
    """True if sharding keys can select each of that many queues."""
    return MODULUS % queue_count == 0


def cpp_program(subject: SubjectId) -> "CppProgram":
    """Return the program of ``cpp:<release>``; raises UsageError if no registry has its native library."""
    if subject.release not in RELEASES:
        raise UsageError("a release of the C++ client that can be had", seen=str(subject), hint=", ".join(RELEASES))
    return CppProgram(subject)


@dataclass(frozen=True, slots=True)
class CppProgram:
    """One release of the C++ client."""

    subject: SubjectId

    def launch(self, folder: Path) -> Launch:
        """
        Build the environment if needed; its interpreter sees our packages but no others of the runner.

        The log goes to ``folder``, not to the root of the file system, the library's default.
        """
        client = cpp_client()
        environment = clean_environment() | {
            "PYTHONPATH": import_path(),
            "PYTHONFAULTHANDLER": "1",  # a native crash prints the Python call
            "ROCKETMQ_CLIENT_LOG_DIR": f"{folder.resolve()}/",
            "HOME": str(folder.resolve()),
            "TMPDIR": str(folder.resolve()),
        }
        module = "rocketdiff.drivers.python.cpp"
        return Launch((str(client.python), "-m", module, "--library", str(client.library)), environment)


def fetch(_release: str, progress: ProgressListener | None) -> None:
    """Build the environment with the native library."""
    cpp_client(progress)


def has_send(_release: str, demand: SendDemand) -> bool:
    """True for CALLS; for selectors only if sharding keys can select every queue."""
    is_selectable = demand.kind is not SendKind.SELECTOR or all(map(can_select, demand.queue_counts))
    return (demand.kind, demand.mode) in CALLS and is_selectable


def has_group(_release: str, demand: GroupDemand) -> bool:
    """True for what a member claims, with settings that its interface has or that change nothing but the pace."""
    return set(demand.capabilities) <= set(MEMBER_CLAIMS) and not unsettable(demand.settings)


def security(_release: str) -> Collection[str]:
    """Return ACL only: the Python interface can set an account, but not TLS."""
    return (ACL,)


KIND = Kind(
    CLIENT,
    lambda: RELEASES,
    cpp_program,
    fetch,
    {ClientRole.PRODUCER: has_send, ClientRole.CONSUMER: has_group},
    security=security,
)
