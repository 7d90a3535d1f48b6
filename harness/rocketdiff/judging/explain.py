"""`rocketdiff explain`: why one thing happened in a stored run, by the role of its case."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from rocketdiff.analysis.case_trace import CaseTrace, read_case
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import UsageError
from rocketdiff.core.subject import STANDARD
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.judging.explain_message import explain_message
from rocketdiff.judging.explain_queue import explain_queue
from rocketdiff.judging.explain_send import explain_send
from rocketdiff.traces.run_directory import RunDirectory

EXPLAINERS: Mapping[ClientRole, Callable[[CaseTrace, RunDirectory, Arm, str], Iterator[str]]] = {
    ClientRole.PRODUCER: explain_send,
    ClientRole.CONSUMER: explain_message,
}


def explain_owners(run_dir: Path, subject: str, queue: str, at_s: float, case: str | None) -> Iterator[str]:
    """Yield lines for a terminal about who worked on a queue of consumers at an instant; raises UsageError as ``explain``."""
    run = RunDirectory.open(run_dir)
    arm, number = _arm(run, subject), _case_number(run, case)
    if run.entry(number).role is not ClientRole.CONSUMER:
        raise UsageError("--queue for a case about consumers", seen=run.entry(number).scenario, hint="name a send")
    yield from explain_queue(read_case(run, number), run, arm, queue, at_s)


def explain(run_dir: Path, subject: str, where: str, case: str | None) -> Iterator[str]:
    """
    Yield lines for a terminal.

    subject: as in the run, or ``baseline`` / ``candidate``. where: ``Where.explain_argument``. case: its number, name or
    scenario; optional if the run has one case. Raises UsageError for an unknown subject, case or place.
    """
    run = RunDirectory.open(run_dir)
    arm, number = _arm(run, subject), _case_number(run, case)
    yield from EXPLAINERS[run.entry(number).role](read_case(run, number), run, arm, where)


def _arm(run: RunDirectory, subject: str) -> Arm:
    if subject in list(Arm):
        return Arm(subject)
    arms = [arm for arm in Arm if run.subject(arm) in (subject, f"{STANDARD}:{subject}")]
    if len(arms) != 1:
        names = ", ".join(run.subject(arm) for arm in Arm)
        raise UsageError("a subject of the run, or baseline or candidate", seen=subject, hint=f"the run has {names}")
    return arms[0]


def _case_number(run: RunDirectory, case: str | None) -> int:
    entries = run.manifest.cases
    matching = [entry.number for entry in entries if case in (None, str(entry.number), entry.name, entry.scenario)]
    if len(matching) != 1:
        known = ", ".join(f"{entry.number}: {entry.scenario}" for entry in entries)
        raise UsageError("--case with one case of the run", seen=case or "none given", hint=known)
    return matching[0]
