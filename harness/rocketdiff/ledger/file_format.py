"""
The file format of a ledger, version 1: what a file may hold, field by field.

This is the only description of the format; ``python -m rocketdiff.ledger.file_format > fixtures/schema/ledger-1.json``
writes the published JSON Schema, and a test refuses a stale one. Rules that need two fields are in ``ledger_parsing``.
"""

import sys
from datetime import date
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from rocketdiff.core.verdict import Severity

VERSION = "1.0"
TODO = "TODO"
"""What a proposal leaves to a person; an active entry must not hold it."""

FaultCount = Literal[
    "paused_brokers",
    "killed_brokers",
    "paused_name_servers",
    "paused_slaves",
    "killed_slaves",
    "read_only_brokers",
    "flow_controlled_brokers",
    "unflushed_brokers",
    "delayed_brokers",
    "reset_brokers",
    "swallowed_brokers",
]
RangeText = Annotated[str, Meta(min_length=1, description="Such as '>=4.0.0,<4.9.8 || >=5.0.0,<5.1.4'.")]
Share = Annotated[float, Meta(ge=0, le=1)]
ClientName = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9-]*$")]
Signature = Annotated[str, Meta(min_length=1)]


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mapping of the file; unknown fields are refused and nothing is converted silently."""


class AgainstPart(Part, frozen=True, kw_only=True):
    """The baseline that the client is held against."""

    client: ClientName
    version: RangeText | None = None


class WhenPart(Part, frozen=True, kw_only=True):
    """All must hold: the client that shows the difference, and whatever else it takes."""

    client: ClientName
    version: RangeText | None = None
    against: AgainstPart | None = None
    server: RangeText | None = None
    fault: dict[FaultCount, RangeText] = {}
    settings: dict[str, bool | int] = {}


class RatePart(Part, frozen=True, kw_only=True):
    """Lowest and highest share of decisive checks that show it, tested with an exact interval."""

    rate: tuple[Share, Share]


class EvidencePart(Part, frozen=True, kw_only=True):
    """The run that confirmed it; trace: digest of its tables as ``rocketdiff ledger propose`` writes it."""

    seed: Annotated[int, Meta(ge=0)]
    run: str = ""
    trace: Annotated[str, Meta(pattern=r"^(sha256:[0-9a-f]{64})?$")] = ""
    reproduce: str = ""


class EntryPart(Part, frozen=True, kw_only=True):
    """One declared divergence."""

    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    check: Annotated[str, Meta(pattern=r"^[^\s~/]+(/[^\s~/]+)+$")]
    when: WhenPart
    arm_at_fault: Annotated[str, Meta(min_length=1)]
    signature: Signature | Annotated[list[Signature], Meta(min_length=1)]
    occurrence: Literal["always"] | RatePart = "always"
    severity: Severity = Severity.MUST
    reason: Annotated[str, Meta(min_length=20, description="A sentence, not a word.")]
    ref: Annotated[str, Meta(min_length=3)]
    evidence: EvidencePart | None = None
    added: date
    expires_after_days: Annotated[int, Meta(ge=1, le=3_650)] | None = None
    owner: str = ""
    status: Literal["active", "proposed"] = "active"


class DefaultsPart(Part, frozen=True, kw_only=True):
    """For entries that say nothing else."""

    expires_after_days: Annotated[int, Meta(ge=1, le=3_650)] = 180


class LedgerFile(Part, frozen=True, kw_only=True, rename={"schema_version": "schemaVersion"}):
    """One ledger file; ratchet: how many entries it may hold before ``lint`` asks."""

    schema_version: Annotated[str, Meta(pattern=r"^1\.\d+$")]
    defaults: DefaultsPart = DefaultsPart()
    ratchet: Annotated[int, Meta(ge=0)] | None = None
    entries: list[EntryPart]


def schema() -> bytes:
    """JSON Schema (2020-12) of ledger files of this major version."""
    body = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:rocketdiff:ledger:1",
        **msgspec.json.schema(LedgerFile),
    }
    return msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n"


if __name__ == "__main__":
    sys.stdout.buffer.write(schema())
