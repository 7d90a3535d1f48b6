"""Expired or ownerless entries: first a warning, then they excuse nothing."""

from datetime import date, timedelta
from enum import StrEnum

from rocketdiff.ledger.model import Entry

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
