"""The C++ client through rocketmq-client-python, in an interpreter and an environment of its own."""

from dataclasses import dataclass
from pathlib import Path

import harness
from harness.core.errors import UsageError
from harness.core.plan import SendKind, SendMode
from harness.core.subject import SubjectId
from harness.releases.cpp_client import RELEASES, cpp_client
from harness.subjects.program import Launch, clean_environment

CLIENT = "cpp"

KINDS = frozenset({SendKind.PLAIN})
"""Its interface has neither explicit queues, selectors nor batches."""

MODES = frozenset({SendMode.SYNC, SendMode.ONEWAY})
"""The library can send asynchronously, its Python interface cannot."""


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
            "PYTHONPATH": str(Path(harness.__file__).parents[1]),
            "PYTHONFAULTHANDLER": "1",  # a crash in native code names the call it happened in
            "ROCKETMQ_CLIENT_LOG_DIR": f"{folder.resolve()}/",
            "HOME": str(folder.resolve()),
            "TMPDIR": str(folder.resolve()),
        }
        module = "harness.subjects.programs.cpp"
        return Launch((str(client.python), "-m", module, "--library", str(client.library)), environment)
