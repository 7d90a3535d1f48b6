"""The build command of a subject file, run before the subject is started for its hello (``--build``)."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rocketdiff.core.errors import EnvironmentMissing, UsageError
from rocketdiff.core.text.quoted import printable
from rocketdiff.subjects.own import subject_file


def build_all(files: Sequence[Path]) -> None:
    """
    Run the build commands of subject files, in order, each in the folder of its file; output goes to stderr.

    Raises UsageError if no file has one, EnvironmentMissing if one fails, because then this revision cannot be judged.
    """
    described = [(file, found) for file in files if (found := subject_file.read(file)).build_command]
    if not described:
        raise UsageError("a subject file with build, for --build", seen="none", hint="build: [make, driver]")
    for file, found in described:
        _build(file, found.build_command, found.folder)


def _build(file: Path, command: tuple[str, ...], folder: Path) -> None:
    words = printable(" ".join(command), 200)
    sys.stderr.flush()
    try:
        # stdout is reserved for the verdict, which other programs read.
        process = subprocess.Popen(command, cwd=folder, stdout=sys.stderr.fileno(), start_new_session=True)
    except OSError as error:
        raise EnvironmentMissing(f"to be able to run the build of {file}, {words}", seen=str(error)) from error
    try:
        status = process.wait()
    finally:
        # Ctrl-C does not reach a separate session, and a build may leave servers running.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if status:
        hint = "see its output above"
        raise EnvironmentMissing(f"the build of {file}, {words}, to succeed", seen=f"status {status}", hint=hint)
