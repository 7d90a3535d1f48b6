"""Defects of the bank, and functions that make a faithful client defective."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.message import properties_text
from rocketdiff.subjects.reported_defects import DefectKind, strikes
from tests.analysis.synthetic import ArmRecords, Stored
from tests.analysis.synthetic_modes import ModeStory

Spoil = Callable[[ArmRecords, ModeStory], None]
"""Changes a faithful client's records into a defective client's."""


@dataclass(frozen=True)
class Defect:
    """
    One defective client in a scenario that triggers its defect.

    checks: one of them must find it. release: of both arms.
    """

    kind: DefectKind
    sentence: str
    checks: tuple[str, ...]
    story: ModeStory
    spoil: Spoil
    release: str = "5.3.3"


SEED = 77
"""Start of the counters of clients that behave differently."""


def altered(one: Stored, **others: str | None) -> Stored:
    """Set these properties of a message, or remove them (None)."""
    carried = json.loads(one.properties or "{}") | others
    return replace(
        one, properties=properties_text({name: value for name, value in carried.items() if value is not None})
    )


def of_stored(change: Callable[[Stored], Stored | None]) -> Spoil:
    """Change or remove the stored messages of every tenth send."""

    def spoil(records: ArmRecords, _: ModeStory) -> None:
        changed = [change(one) if one.send is not None and strikes(one.send) else one for one in records.stored]
        records.stored = [one for one in changed if one is not None]

    return spoil


def of_sends(change: Callable[[Send], Send], every: int = 10) -> Spoil:
    """Change the results of every tenth send."""

    def spoil(records: ArmRecords, _: ModeStory) -> None:
        records.sends = [change(send) if send.send % every == every - 1 else send for send in records.sends]

    return spoil
