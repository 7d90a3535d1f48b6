"""How often a declared divergence was seen, and whether that is what its entry says."""

from dataclasses import dataclass
from math import floor, log

from rocketdiff.ledger.model import Rate
from rocketdiff.ledger.outcome import EntryState
from rocketdiff.statistics.significance import clopper_pearson

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
