"""
Cases that a guard spoilt are run once more at the end of a run, which keeps both and judges the second.

A guard says nothing of a client, and what spoils a case often comes by chance: a stall, a heartbeat that a client left out.
What a client did not answer, or reported otherwise than a relay saw it, is no chance, nor is a server that died by itself.
"""

from collections.abc import Sequence

from rocketdiff.core.errors import HarnessError
from rocketdiff.run.case_session import CaseSession
from rocketdiff.scenario import Case
from rocketdiff.traces.manifest import CaseEntry
from rocketdiff.verdict.judge import RunVerdict

MOST_SPOILT = 10
"""One case in so many is repeated, and one of fewer; where more are spoilt, the machine is the cause."""


NO_CHANCE = ("plan-done-", "witness-", "cluster")
"""Beginnings of the names of guards for which somebody should find the cause."""


def repeat_spoilt(session: CaseSession, cases: Sequence[Case]) -> None:
    """
    Run each case again of which a guard did not hold, unless it diverges all the same: what was proven stays.

    cases: in the order of the run, all of which have run. A second attempt that cannot be completed stays without an answer, and
    is the last.
    """
    entries = session.directory.manifest.cases
    spoilt = [(entry, case) for entry, case in zip(entries, cases, strict=True) if _is_spoilt(entry)]
    if len(spoilt) > max(1, len(cases) // MOST_SPOILT):
        return
    for entry, case in spoilt:
        if session.judge(entry.number, case).verdict is RunVerdict.INVALID:
            try:
                session.repeat(entry.number, case)
            except HarnessError:
                return


def _is_spoilt(entry: CaseEntry) -> bool:
    names = [guard.name for guard in entry.broken_guards]
    return bool(names) and not any(name.startswith(NO_CHANCE) for name in names)
