"""
The file format of a ledger, version 1: what a file may hold, field by field.

This is the only description of the format; ``python -m rocketdiff.ledger.file_format > fixtures/schema/ledger-1.json``
writes the published JSON Schema, and a test refuses a stale one. Rules that need two fields are in ``parsing``.
"""

import sys
from datetime import date
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field

from rocketdiff.core.fault import FAULT_COUNTS
from rocketdiff.core.verdict import Severity
from rocketdiff.documents.part import Part, published_schema
from rocketdiff.documents.refusal import Words

VERSION = "1.0"
TODO = "TODO"
"""What a proposal leaves to a person; an active entry must not hold it."""

if TYPE_CHECKING:
    FaultCount = str
else:  # a closed set out of the table of faults
    FaultCount = Literal[FAULT_COUNTS]
RangeText = Annotated[str, Field(min_length=1, description="Such as '>=4.0.0,<4.9.8 || >=5.0.0,<5.1.4'.")]
Share = Annotated[float, Field(ge=0, le=1)]
ClientName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
Signature = Annotated[str, Field(min_length=1)]


def _day(value: object) -> object:
    """YAML has days of its own; in quotes it is text, and JSON knows no other."""
    return date.fromisoformat(value) if isinstance(value, str) else value


class AgainstPart(Part):
    """The baseline that the client is held against."""

    client: ClientName
    version: RangeText | None = None


class WhenPart(Part):
    """All must hold: the client that shows the difference, and whatever else it takes."""

    client: ClientName
    version: RangeText | None = None
    against: AgainstPart | None = None
    server: RangeText | None = None
    fault: dict[FaultCount, RangeText] = {}
    settings: dict[str, bool | int] = {}


class RatePart(Part):
    """Lowest and highest share of decisive checks that show it, tested with an exact interval."""

    rate: Annotated[list[Share], Field(min_length=2, max_length=2)]


class EvidencePart(Part):
    """The run that confirmed it; trace: digest of its tables as ``rocketdiff ledger propose`` writes it."""

    seed: Annotated[int, Field(ge=0)]
    run: str = ""
    trace: Annotated[str, Field(pattern=r"^(sha256:[0-9a-f]{64})?$")] = ""
    reproduce: str = ""


class EntryPart(Part):
    """One declared divergence."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    check: Annotated[str, Field(pattern=r"^[^\s~/]+(/[^\s~/]+)+$")]
    when: WhenPart
    arm_at_fault: Annotated[str, Field(min_length=1)]
    signature: Signature | Annotated[list[Signature], Field(min_length=1)]
    occurrence: Literal["always"] | RatePart = "always"
    severity: Annotated[Severity, Field(strict=False)] = Severity.MUST
    reason: Annotated[str, Field(min_length=20, description="A sentence, not a word.")]
    ref: Annotated[str, Field(min_length=3)]
    evidence: EvidencePart | None = None
    added: Annotated[date, BeforeValidator(_day)]
    expires_after_days: Annotated[int, Field(ge=1, le=3_650)] | None = None
    owner: str = ""
    status: Literal["active", "proposed"] = "active"


class DefaultsPart(Part):
    """For entries that say nothing else."""

    expires_after_days: Annotated[int, Field(ge=1, le=3_650)] = 180


class LedgerFile(Part):
    """One ledger file; ratchet: how many entries it may hold before ``lint`` asks."""

    schema_version: Annotated[str, Field(alias="schemaVersion", pattern=r"^1\.[0-9]+$")]
    defaults: DefaultsPart = DefaultsPart()
    ratchet: Annotated[int, Field(ge=0)] | None = None
    entries: list[EntryPart]


WORDS = Words(
    fields={
        "schemaVersion": f'the text "{VERSION}", in quotes',
        "id": "an id of letters, digits, dots and hyphens",
        "check": "a glob over <scenario>/<check>, without the pair of subjects, such as fault-latency/**/avoidance",
        "fault": f"one of {', '.join(FAULT_COUNTS)}, with a range such as '>=1'",
        "settings": "true, false or a whole number",
        "occurrence": "always, or {rate: [0.02, 0.20]}",
        "severity": "must, should or info",
        "status": "active or proposed",
        "reason": "a sentence of at least 20 characters",
        "ref": "an issue, a pull request or a page",
        "added": "a date such as 2026-11-21",
        "trace": "sha256: and 64 hexadecimal digits",
    }
)


def schema() -> bytes:
    """JSON Schema of ledger files of this major version."""
    return published_schema(LedgerFile, "ledger:1").encode()


if __name__ == "__main__":
    sys.stdout.buffer.write(schema())
