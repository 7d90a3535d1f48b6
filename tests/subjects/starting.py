"""A subject that is ready for its first send."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from rocketdiff.core.arm import BASELINE
from rocketdiff.core.sends.plan import Plan
from rocketdiff.core.subject import SubjectId
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.run.subject_check.one_subject import unheard
from rocketdiff.subjects.limits import Deadlines
from rocketdiff.subjects.registry import program_of
from rocketdiff.subjects.sending.talk import SendingTalk
from rocketdiff.subjects.subject_process import SubjectProcess


def start_ready(
    stack: ExitStack,
    name: str,
    folder: Path,
    plan: Plan,
    setup: SubjectSetup,
    on_line: Callable[[bytes], None] = unheard,
    **deadlines: float,
) -> SubjectProcess:
    """Start a client with plan and setup. on_line: for every line of the client."""
    limits = Deadlines(**deadlines)
    program = program_of(SubjectId.parse(name))
    subject = stack.enter_context(SubjectProcess(program, BASELINE, folder, on_line=on_line, deadlines=limits))
    subject.await_hello()
    subject.prepare(SendingTalk(plan, setup))
    subject.await_ready()
    return subject
