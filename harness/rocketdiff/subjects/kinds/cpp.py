"""The C++ client through rocketmq-client-python, in an interpreter and an environment of its own."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.errors import UsageError
from rocketdiff.core.plan import SendKind, SendMode
from rocketdiff.core.resources import import_path
from rocketdiff.core.subject import SubjectId
from rocketdiff.releases.cpp_client import RELEASES, cpp_client
from rocketdiff.releases.progress import ProgressListener
from rocketdiff.subjects.kind import Kind
from rocketdiff.subjects.program import Launch, clean_environment
from rocketdiff.subjects.sharding_keys import MODULUS

CLIENT = "cpp"

CALLS = frozenset(
    {(SendKind.PLAIN, SendMode.SYNC), (SendKind.PLAIN, SendMode.ONEWAY), (SendKind.SELECTOR, SendMode.SYNC)}
)
"""
What its Python interface has: neither explicit queues nor batches, and its only selector, the hash of a sharding key, in
synchronous sends only. Its library can send asynchronously; the interface to it cannot.
"""


def can_select(queue_count: int) -> bool:
    """Whether its sharding keys can be made to name every one of so many queues."""
    return MODULUS % queue_count == 0


def cpp_program(subject: SubjectId) -> "CppProgram":
    """The program of ``cpp:<release>``; UsageError for one whose native library no registry has."""
    if subject.release not in RELEASES:
        raise UsageError("a release of the C++ client that can be had", seen=str(subject), hint=", ".join(RELEASES))
    return CppProgram(subject)


@dataclass(frozen=True, slots=True)
class CppProgram:
    """One release of the C++ client."""

    subject: SubjectId

    def launch(self, folder: Path) -> Launch:
        """
        Our program under the environment's interpreter, which finds our packages and nothing else of the runner's.

        Its log, which the library would write to the top of the file system, goes to ``folder`` as well. Builds the
        environment if this machine has not got it yet.
        """
        client = cpp_client()
        environment = clean_environment() | {
            "PYTHONPATH": import_path(),
            "PYTHONFAULTHANDLER": "1",  # a crash in native code names the call it happened in
            "ROCKETMQ_CLIENT_LOG_DIR": f"{folder.resolve()}/",
            "HOME": str(folder.resolve()),
            "TMPDIR": str(folder.resolve()),
        }
        module = "rocketdiff.drivers.python.cpp"
        return Launch((str(client.python), "-m", module, "--library", str(client.library)), environment)


def fetch(_release: str, progress: ProgressListener | None) -> None:
    """Builds the environment with the native library."""
    cpp_client(progress)


def has_call(_release: str, kind: SendKind, mode: SendMode, queue_counts: Collection[int]) -> bool:
    """Only CALLS; selectors only if the sharding keys can name every queue."""
    return (kind, mode) in CALLS and (kind is not SendKind.SELECTOR or all(map(can_select, queue_counts)))


KIND = Kind(CLIENT, lambda: RELEASES, cpp_program, fetch, has_call)
