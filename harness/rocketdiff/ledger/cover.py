"""What an entry speaks about: runs, checks of cases, subjects. Nothing here looks at how a check was answered."""

from collections.abc import Mapping

from rocketdiff.core.checks import VALIDITY
from rocketdiff.core.glob import path_glob
from rocketdiff.core.run_info import CaseInfo, RunInfo
from rocketdiff.core.verdict import Divergence
from rocketdiff.ledger.model import RULES, Conditions, Entry


def check_path(case: str, check: str, run: RunInfo) -> str:
    """``fault-latency/pause-one-of-two/avoidance``: a check's name without the pair of subjects, which ``when`` is for."""
    return f"{case.removesuffix(f'/{run.baseline.subject}~{run.candidate.subject}')}/{check}"


def subjects_of(entry: Entry, run: RunInfo) -> frozenset[str]:
    """
    Subjects of the run whose differences the entry declares; none when it says nothing about this run.

    With ``against`` that is the candidate, held against a baseline as named; without it, either arm.
    """
    when = entry.when
    if when.server is not None and not when.server.holds(run.server_release):
        return frozenset()
    candidate, baseline = run.candidate.subject, run.baseline.subject
    found = set()
    if when.subject.matches(candidate) and (when.against is None or when.against.matches(baseline)):
        found.add(candidate)
    if when.against is None and when.subject.matches(baseline):
        found.add(baseline)
    return frozenset(found)


def is_expected(entry: Entry, run: RunInfo) -> bool:
    """
    Whether the divergence should show in the run, so that its absence means something.

    Differences are those of the candidate, except for signatures of the baseline against its own rules.
    """
    subjects = subjects_of(entry, run)
    of_rules = [signature.startswith(RULES) for signature in entry.signatures]
    return (run.candidate.subject in subjects and not all(of_rules)) or (
        run.baseline.subject in subjects and any(of_rules)
    )


def covers(entry: Entry, path: str, case: CaseInfo | None) -> bool:
    """
    Whether the entry speaks about a check; ``case`` is None for a pooled one.

    A pool gathers cases of many settings and faults, so conditions on those are not met there.
    """
    if path.rpartition("/")[2] == VALIDITY or not path_glob(entry.check).fullmatch(path):
        return False
    if case is None:
        return not entry.when.faults and not entry.when.settings
    return meets(entry.when, settings=case.settings, fault_counts=case.fault_counts)


def meets(when: Conditions, *, settings: Mapping[str, object], fault_counts: Mapping[str, int]) -> bool:
    """Whether a case has the faults and settings that are asked for; what it does not state is not met."""
    faulty = all(name in fault_counts and wanted.holds(str(fault_counts[name])) for name, wanted in when.faults)
    return faulty and all(name in settings and settings[name] == value for name, value in when.settings)


def declares(entry: Entry, divergence: Divergence, subjects: frozenset[str]) -> bool:
    """Whether a divergence is the declared one, word by word; ``subjects`` as ``subjects_of`` says."""
    return divergence.signature in entry.signatures and divergence.subject in subjects
