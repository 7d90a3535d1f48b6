"""
Three questions about one entry: does it apply to this check of this run, is it too old, was it seen as often as it says?

Nothing here looks at what a check found. Expired or ownerless entries are first a warning, then they excuse nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from math import floor, log

from rocketdiff.core.answers.verdict import Divergence
from rocketdiff.core.run_info import CaseInfo, RunInfo
from rocketdiff.core.tables.checks import VALIDITY
from rocketdiff.core.text.glob import path_glob
from rocketdiff.ledger.model import RULES, Conditions, Entry, EntryState, Rate
from rocketdiff.statistics.significance import clopper_pearson


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


GRACE_DAYS = 30
"""From warning to failing: time for whoever looks at the gate once a month to renew the entry or to fix the client."""


class Age(StrEnum):
    """CURRENT: nothing to say. WARNED: in its days of grace. LAPSED: it declares nothing any more."""

    CURRENT = "current"
    WARNED = "warned"
    LAPSED = "lapsed"


def age_of(entry: Entry, day: date) -> tuple[Age, str]:
    """
    How an entry stands on a day, with the sentence that says why and until when; empty when it is current.

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
    said = "; ".join(sentence for _, sentence in troubles)
    if day > ends:
        return Age.LAPSED, f"{said}; since {ends} it declares nothing"
    return Age.WARNED, f"{said}; after {ends} it declares nothing"


CONFIDENCE = 0.95
"""
Of the exact interval that a declared rate is tested with; outside only when the whole interval is.

The usual level: an entry is edited by a person afterwards, and the divergence itself was certain.
"""


@dataclass(frozen=True, slots=True)
class Frequency:
    """State of an entry as far as counting goes, with the interval in words where a rate was tested."""

    state: EntryState
    said: str = ""


def frequency_of(rate: Rate | None, *, seen: int, decisive: int) -> Frequency:
    """Without a rate a divergence shows in every decisive check; the unit of a rate is the check of a case, not the message."""
    if not decisive:
        return Frequency(EntryState.UNTESTED)
    if rate is None:
        return Frequency(EntryState.DECLARED if seen == decisive else EntryState.STALE)
    low, high = clopper_pearson(seen, decisive, CONFIDENCE)
    said = f" ({CONFIDENCE:.0%} interval {low:.0%} to {high:.0%})"
    if high < rate.low:
        return Frequency(EntryState.STALE, said)
    return Frequency(EntryState.EXCEEDED if low > rate.high else EntryState.DECLARED, said)


def checks_until_stale(rate: Rate) -> int | None:
    """
    How many decisive checks without the divergence it takes to find its entry stale; None when no number is enough.

    The exact interval of 0 in n ends at 1 - t^(1/n), t being what lies beyond it on one side.
    """
    beyond = (1 - CONFIDENCE) / 2
    if rate.low <= 0:
        return None
    return 1 if rate.low >= 1 else floor(log(beyond) / log(1 - rate.low)) + 1
