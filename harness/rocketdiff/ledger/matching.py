"""
Matching of one entry with a run: does it apply to a check, is it too old, does its rate fit?

Expired or ownerless entries first cause a warning; later they excuse nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from math import floor, log

from rocketdiff.core.answers.verdict import Divergence
from rocketdiff.core.run_info import CaseInfo, RunInfo
from rocketdiff.core.tables.checks import VALIDITY
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.text.glob import path_glob
from rocketdiff.ledger.model import RULES, Conditions, Entry, EntryState, ExpectedRate
from rocketdiff.statistics.significance import clopper_pearson


def check_path(case: str, check: str, run: RunInfo) -> str:
    """Return a check's name without its pair of subjects, such as ``fault-latency/pause-one-of-two/avoidance``."""
    return f"{case.removesuffix(f'/{run.baseline.subject}~{run.candidate.subject}')}/{check}"


def subjects_of(entry: Entry, run: RunInfo) -> frozenset[str]:
    """
    Return the run's subjects whose differences the entry declares; empty if it does not apply.

    With ``against``: the candidate, if the baseline matches. Without: either arm.
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
    True if the divergence should occur in the run, so that its absence is significant.

    Differences are the candidate's, except a baseline's against its own rules.
    """
    subjects = subjects_of(entry, run)
    of_rules = [signature.startswith(RULES) for signature in entry.signatures]
    return (run.candidate.subject in subjects and not all(of_rules)) or (
        run.baseline.subject in subjects and any(of_rules)
    )


def covers(entry: Entry, path: str, case: CaseInfo | None) -> bool:
    """
    True if the entry applies to a check; ``case`` is None for a pooled one.

    A pool mixes settings, faults and groups, so it never meets conditions on those.
    """
    if path.rpartition("/")[2] == VALIDITY or not path_glob(entry.check).fullmatch(path):
        return False
    if case is None:
        return not entry.when.is_of_cases
    group = case.workload if case.role is ClientRole.CONSUMER else {}
    return meets(entry.when, settings=case.settings, fault_counts=case.fault_counts, group=group)


def meets(
    when: Conditions,
    *,
    settings: Mapping[str, object],
    fault_counts: Mapping[str, int],
    group: Mapping[str, object],
) -> bool:
    """
    True if a case has the required faults, settings and group; a missing value does not match.

    group: ``listener`` and ``members`` of its consumers, empty in a case without.
    """
    faulty = all(name in fault_counts and wanted.holds(str(fault_counts[name])) for name, wanted in when.faults)
    listening = when.listener is None or group.get("listener") == when.listener
    manned = when.members is None or when.members.holds(str(group.get("members", "")))
    set_so = all(name in settings and settings[name] == value for name, value in when.settings)
    return faulty and listening and manned and set_so


def declares(entry: Entry, divergence: Divergence, subjects: frozenset[str]) -> bool:
    """True if a divergence has a declared signature, verbatim, and one of the subjects (from ``subjects_of``)."""
    return divergence.signature in entry.signatures and divergence.subject in subjects


GRACE_DAYS = 30
"""Days from warning to failing: after a monthly look at the gate there is time to renew the entry or to fix the client."""


class Age(StrEnum):
    """WARNED: in its days of grace. LAPSED: it declares nothing any more."""

    CURRENT = "current"
    WARNED = "warned"
    LAPSED = "lapsed"


def age_of(entry: Entry, day: date) -> tuple[Age, str]:
    """
    Return an entry's age on a day, with a sentence on the reason and the deadline; empty if it is current.

    A proposal has no age: it declares nothing anyway.
    """
    if entry.proposed:
        return Age.CURRENT, ""
    troubles = []
    if day > entry.expires:
        remedy = "confirm it by a run and set added anew, or remove it"
        troubles.append((entry.expires, f"expired on {entry.expires}: {remedy}"))
    if not entry.owner:
        troubles.append((entry.added, f"has had no owner since {entry.added}: name one"))
    if not troubles:
        return Age.CURRENT, ""
    since, _ = min(troubles)
    ends = since + timedelta(days=GRACE_DAYS)
    reasons = "; ".join(sentence for _, sentence in troubles)
    if day > ends:
        return Age.LAPSED, f"{reasons}; since {ends} it declares nothing"
    return Age.WARNED, f"{reasons}; after {ends} it declares nothing"


CONFIDENCE = 0.95
"""
Level of the exact interval that tests a declared rate; the whole interval must be outside.

The usual level is enough: a person edits the entry afterwards, and the divergence itself was certain.
"""


@dataclass(frozen=True, slots=True)
class Frequency:
    """An entry's state by its counts, with the interval in words if a rate was tested."""

    state: EntryState
    said: str = ""


def frequency_of(rate: ExpectedRate | None, *, seen: int, decisive: int) -> Frequency:
    """
    Return the state by counts. Without a rate every decisive check must show the divergence. A rate counts checks, not messages.
    """
    if not decisive:
        return Frequency(EntryState.UNTESTED)
    if rate is None:
        return Frequency(EntryState.DECLARED if seen == decisive else EntryState.STALE)
    low, high = clopper_pearson(seen, decisive, CONFIDENCE)
    interval = f" ({CONFIDENCE:.0%} interval {low:.0%} to {high:.0%})"
    if high < rate.low:
        return Frequency(EntryState.STALE, interval)
    return Frequency(EntryState.EXCEEDED if low > rate.high else EntryState.DECLARED, interval)


def checks_until_stale(rate: ExpectedRate) -> int | None:
    """
    Return how many decisive checks without the divergence make its entry stale; None if no number does.

    The exact interval of 0 in n ends at 1 - t^(1/n), where t is the one-sided tail.
    """
    beyond = (1 - CONFIDENCE) / 2
    if rate.low <= 0:
        return None
    return 1 if rate.low >= 1 else floor(log(beyond) / log(1 - rate.low)) + 1
